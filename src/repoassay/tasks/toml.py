"""Untrusted TOML: parsed within bounds, and each error with line and column."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from repoassay.errors import Problem
from repoassay.records import many_dots
from repoassay.text import printable

__all__ = ["MAX_TOML", "parse_toml"]

MAX_TOML = 2 * 2**20
"""Bytes a TOML file may hold: some twenty thousand tests by name."""
_PLACE = re.compile(r"^(?P<what>.*?) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$", re.DOTALL)


def parse_toml(content: bytes, file: str) -> dict[str, Any] | Problem:
    """Parse a TOML document; return its one problem when it is none.

    Args:
        content: What the file holds, at most `MAX_TOML` bytes.
        file: What to call it.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return Problem(file, "", f"is not UTF-8 (line {line}, byte {error.start + 1}).", "Save it as UTF-8.")
    if why := many_dots(text):
        return Problem(file, "", f"{why}.", "Break the line.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Problem(file, "", f"is not TOML: {_described(str(error), text)}.", "Correct it there.")
    except RecursionError:
        return Problem(file, "", "is nested too deeply.", "Write it flatter.")
    except ValueError as error:  # an integer of thousands of digits
        return Problem(file, "", f"is not TOML: {printable(str(error))}.", "Correct it.")


def _described(message: str, text: str) -> str:
    found = _PLACE.match(message)
    if found is None:
        return printable(message)
    place = f"line {found['line']}, column {found['column']}" if found["line"] else f"line {text.count(chr(10)) + 1}"
    what = found["what"]
    return f"{place}: {printable(what[:1].lower() + what[1:])}"
