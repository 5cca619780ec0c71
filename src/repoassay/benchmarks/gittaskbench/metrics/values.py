"""Values of spreadsheet cells, however they were written: 1 and "1.0", a date with or without midnight."""

from __future__ import annotations

import re
from typing import Any

from repoassay.grading import normal

__all__ = ["kind_of", "place_of", "plain_value"]

_KINDS = (
    ("number", ("int", "float", "number", "numeric", "double", "decimal", "n")),
    ("moment", ("date", "time", "d")),
    ("text", ("str", "string", "text", "object", "s")),
    ("flag", ("bool", "b")),
    ("nothing", ("none", "null", "nan", "empty")),
)


def plain_value(value: Any) -> str:
    """A value as text in one form: whole numbers without fraction, days as 2025-04-07, white space collapsed."""
    if value is None:
        return ""
    text = normal(str(value))
    midnight = re.fullmatch(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[ T]00:00(?::00(?:\.0+)?)?(?:Z|\+00:00)?)?", text)
    if midnight is not None:
        return f"{midnight[1]}-{int(midnight[2]):02d}-{int(midnight[3]):02d}"
    if re.fullmatch(r"-?\d{1,15}\.0+", text):
        return text.partition(".")[0]
    return text


def kind_of(text: Any) -> str:
    """The kind of value that the name of a type in any language stands for, such as `<class 'int'>` or `Timestamp`."""
    name = re.sub(r"<class '|'>|^numpy\.|^np\.", "", normal(str(text), casefold=True)).rpartition(".")[2]
    return next(
        (kind for kind, words in _KINDS if any(name == word or (len(word) > 2 and word in name) for word in words)),
        name,
    )


def place_of(coordinate: str) -> tuple[int, int] | None:
    """Row and column from nought of a coordinate such as A1, $B$12 or Sheet1!C3; None for what is none."""
    found = re.fullmatch(r"(?:.*!)?\$?([A-Za-z]{1,3})\$?([1-9]\d{0,6})", coordinate.strip()[:80])
    if found is None:
        return None
    column = 0
    for letter in found[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, column - 1
