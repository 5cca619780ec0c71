"""The version of every record on disk: the key `schema_version`, written in front and taken off before validation.

`1` is version 1.0, `"1.2"` has a minor part; a record without the key is of version 1.0, which RepoAssay 0.1 wrote. A
minor version adds keys: an older installation leaves them out and logs one warning. A major version changes what keys
mean: an older installation refuses it. Keys that are unknown in a version this installation knows are errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import (
    InitErrorDetails,
    PydanticCustomError,
    PydanticSerializationError,
    from_json,
)

from repoassay.errors import BadInput

__all__ = [
    "CURRENT",
    "KEY",
    "EncodedJson",
    "NewerRecord",
    "Version",
    "check_version",
    "parse",
    "parse_object",
    "to_json",
    "validation_reason",
    "with_version",
]

KEY = "schema_version"
_QUOTED = b'"schema_version"'
_FRONT = re.compile(rb'\s*\{\s*"schema_version"\s*:\s*(?:(\d{1,6})|"(\d{1,6})\.(\d{1,6})")\s*([,}])')
_TEXT = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?")

_Model = TypeVar("_Model", bound=BaseModel)


class Version(NamedTuple):
    """Version of a record."""

    major: int
    minor: int = 0


CURRENT = Version(1)
"""What this installation writes, for every kind of record."""

_warned: set[tuple[type, Version]] = set()


class NewerRecord(BadInput):
    """A record has a major version that this installation does not know."""

    def __init__(self, where: str, version: Version) -> None:
        super().__init__(
            f"{where} was written by a newer RepoAssay: its records have version {version.major}, and version"
            f" {CURRENT.major} is the last one known here.",
            "Upgrade RepoAssay.",
        )
        self.version = version


class EncodedJson(str):
    """JSON of one item of a list, of ASCII alone and on one line, so that it can be printed as it is."""

    __slots__ = ()


def to_json(record: BaseModel, *, indent: int | None = None, exclude_defaults: bool = False) -> bytes:
    """Serialise a record to a JSON object that begins with its version.

    Halves of surrogate pairs, which JSON that an agent wrote may hold and no UTF-8 can, become question marks.
    """
    try:
        content = record.model_dump_json(indent=indent, exclude_defaults=exclude_defaults).encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        whole: BaseModel = _without_halves(record)  # at once: no key may hold one either
        content = whole.model_dump_json(indent=indent, exclude_defaults=exclude_defaults).encode()
    if _FRONT.match(content):  # the class has the key itself
        return content
    front = b"{" if indent is None else b"{\n" + b" " * indent
    colon = b":" if indent is None else b": "
    comma = b"" if content == b"{}" else b","
    return front + _QUOTED + colon + str(CURRENT.major).encode() + comma + content[1:]


def _without_halves(value: Any) -> Any:
    if isinstance(value, str):
        return value if (kept := value.encode("utf-8", "replace").decode()) == value else kept  # of its own class
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: _without_halves(each) for name, each in value})
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(each) for key, each in value.items()}
    return type(value)(map(_without_halves, value)) if isinstance(value, list | tuple) else value


def with_version(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with its version in front."""
    return {KEY: CURRENT.major, **document}


def parse(kind: type[_Model], data: bytes, where: str = "The record") -> _Model:
    """Validate the JSON of a record.

    Args:
        kind: Class of the record.
        data: The JSON object, with its version or without.
        where: What the record is called in an error: its file, as a rule.

    Raises:
        NewerRecord: When its major version is not known here.
        ValidationError: When it is no such record.
    """
    version = Version(1)
    if front := _FRONT.match(data):
        version = Version(int(front[1] or front[2]), int(front[3] or 0))
        _check(version, where)
        data = b"{" + data[front.end(4) :] if front[4] == b"," else b"{}"
    elif _QUOTED in data:  # not in front: somebody else's writer
        return _parse_document(kind, data, where)
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        if version <= CURRENT:
            raise
        return _without_unknown(kind, data, error, version)


def _parse_document(kind: type[_Model], data: bytes, where: str) -> _Model:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return kind.model_validate_json(data)  # says what is wrong with it
    if not isinstance(document, dict) or KEY not in document:
        return kind.model_validate_json(data)
    version = _take_version(document, where)
    if version is None:
        problem = PydanticCustomError("schema_version", "Input should be a version, such as 1 or '1.2'")
        place: InitErrorDetails = {"type": problem, "loc": (KEY,), "input": document[KEY]}
        raise ValidationError.from_exception_data(kind.__name__, [place])
    content = json.dumps(document).encode()
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        if version <= CURRENT:
            raise
        return _without_unknown(kind, content, error, version)


def parse_object(data: bytes, where: str = "The record") -> dict[str, Any]:
    """Read a JSON object without a class of its own; its version is checked and taken off.

    Raises:
        NewerRecord: When its major version is not known here.
        ValueError: When it is no JSON object.
    """
    try:
        document = from_json(data)  # in a fifth of the time; what it refuses, as half a surrogate, the other may read
    except ValueError:
        try:
            document = json.loads(data)
        except RecursionError as error:
            raise ValueError("is nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("is no JSON object")  # noqa: TRY004 - a file's content, not a wrong argument
    version = document.pop(KEY, CURRENT.major)
    if version is not CURRENT.major and _take_version({KEY: version}, where) is None:  # small integers are one object
        raise ValueError(f"has a {KEY} that is none")
    return document


def check_version(value: object, where: str = "The record") -> None:
    """Check a version that stands in a document of another form, such as TOML; what is none is left to validation.

    Raises:
        NewerRecord: When its major version is not known here.
    """
    _take_version({KEY: value}, where)


def _take_version(document: dict[str, Any], where: str) -> Version | None:
    """Take the version off a document; None where it is absent or no version."""
    value = document.get(KEY)
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    del document[KEY]
    version = Version(int(found[1]), int(found[2] or 0))
    _check(version, where)
    return version


def _check(version: Version, where: str) -> None:
    if version.major > CURRENT.major:
        raise NewerRecord(where, version)


def _without_unknown(kind: type[_Model], data: bytes, error: ValidationError, version: Version) -> _Model:
    """Validate a record of a newer minor version without the keys that are unknown here."""
    problems = error.errors()
    if any(problem["type"] != "extra_forbidden" for problem in problems):
        raise error
    document = json.loads(data)
    for problem in problems:
        _remove(document, problem["loc"])
    record = kind.model_validate_json(json.dumps(document))
    _warn(kind, version)
    return record


def _remove(document: Any, place: tuple[int | str, ...]) -> None:
    """Remove a key; a place that is none in the document, such as a member of a union, stays and is refused again."""
    *path, name = place
    with suppress(KeyError, IndexError, TypeError):
        for part in path:
            document = document[part]
        del document[name]


def _warn(kind: type, version: Version) -> None:
    """Log once for each kind and version that keys were left out."""
    if (kind, version) not in _warned:
        _warned.add((kind, version))
        import logging  # not wanted at start-up

        logging.getLogger("repoassay").warning(
            "A record (%s) has version %d.%d, newer than %d.%d known here: its unknown keys are left out.",
            kind.__name__, *version, *CURRENT,
        )  # fmt: skip


def validation_reason(error: Exception) -> str:
    """What is wrong with a record, as half a sentence: the first key and its problem."""
    if isinstance(error, ValidationError):
        detail = error.errors()[0]
        place = ".".join(map(str, detail["loc"]))
        return f"{place}: {detail['msg']}" if place else str(detail["msg"])
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8"
    return str(error).partition("\n")[0].rstrip(".")
