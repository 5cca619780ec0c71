"""Evidence of each stage as a TOML file that a person reads: written whole, strings in quotes, read back strictly."""

from __future__ import annotations

import datetime
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.formats import toml_string
from repoassay.text import printable

__all__ = ["evidence_digest", "read_toml", "toml_document", "write_toml"]

_BARE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_MOST = 16 * 2**20


def toml_document(data: Mapping[str, Any], introduction: str = "") -> str:
    """Return a TOML document; None is left out, and a list of tables becomes an array of tables.

    Args:
        data: Values by key: text, numbers, days, lists of them, tables and lists of tables.
        introduction: A comment at its head.
    """
    head = "".join(f"# {line}\n" for line in introduction.splitlines())
    lines = [] if not head else [head.rstrip()]
    lines += ["schema = 1", *_table({key: value for key, value in data.items() if key != "schema"}, ())]
    return "\n".join(lines) + "\n"


def write_toml(path: Path, data: Mapping[str, Any], introduction: str = "") -> None:
    """Write a document beside its place and rename it there, so that a reader never sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(toml_document(data, introduction), "utf-8", errors="backslashreplace")
    part.replace(path)


def read_toml(path: Path, what: str, remedy: str) -> dict[str, Any]:
    """Read a document.

    Args:
        path: The file.
        what: What it is, for the sentence that says what is wrong.
        remedy: What to do when it is missing.

    Raises:
        BadInput: When it is missing, too long, or no TOML.
    """
    shown = printable(str(path), 300)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(_MOST + 1)
    except OSError as error:
        raise BadInput(f"{what} {shown} cannot be read: {error.strerror or error}.", remedy) from error
    if len(content) > _MOST:
        raise BadInput(f"{what} {shown} is longer than {_MOST} bytes.", "Shorten it.")
    try:
        return tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{what} {shown} is not TOML: {printable(str(error), 200)}.", "Correct it there.") from error


def evidence_digest(*parts: object) -> str:
    """A short digest of what a stage rests on, by which its evidence is known to be of today."""
    import hashlib

    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _table(data: Mapping[str, Any], place: tuple[str, ...]) -> list[str]:
    lines = [
        f"{_key(key)} = {_value(value)}" for key, value in data.items() if value is not None and not _nested(value)
    ]
    for key, value in data.items():
        if isinstance(value, Mapping):
            inner = (*place, key)
            lines += ["", f"[{'.'.join(map(_key, inner))}]", *_table(value, inner)]
        elif value is not None and _nested(value):
            inner = (*place, key)
            for each in value:
                lines += ["", f"[[{'.'.join(map(_key, inner))}]]", *_table(each, inner)]
    return lines


def _nested(value: object) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, Sequence) and not isinstance(value, str) and bool(value) and isinstance(value[0], Mapping)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else toml_string(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "nan" if value != value else repr(value)  # noqa: PLR0124 - NaN alone differs from itself
    if isinstance(value, datetime.date):
        return f'"{value.isoformat()}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_value, value)) + "]"
    return toml_string(str(value).encode("utf-8", "backslashreplace").decode())
