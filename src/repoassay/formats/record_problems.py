"""Records of somebody's file, each with its place, and row problems: every problem of the first rows with any."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from repoassay.errors import BadInput, Problem
from repoassay.text import printable, quote

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import ValidationError

__all__ = ["PlacedRecord", "Problems", "in_words"]

MOST_ROWS = 20
"""Rows whose problems are reported; reading ends there."""
_MOST_EACH = 20
_KINDS = {
    "string": "text", "int": "a whole number", "tuple": "a list", "list": "a list", "dict": "an object",
    "model": "an object",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """One record: where it stands in its file, the key it stands under (None in a list), and what it holds."""

    place: str
    key: str | None
    value: object


@dataclass(slots=True)
class Problems:
    """Collects what is wrong with a file, and refuses it with all of that at once.

    Args:
        path: The file.
        noun: What it should be, such as "data set".
        most: How many rows may have problems before it is refused.
    """

    path: Path | str
    noun: str
    most: float = MOST_ROWS
    found: list[Problem] = field(default_factory=list)
    _rows: set[str] = field(default_factory=set)

    def add(self, *problems: Problem) -> None:
        """Add problems.

        Raises:
            BadInput: When `most` rows have some.
        """
        self.found += problems[:_MOST_EACH]
        self._rows.update(problem.file for problem in problems)
        if len(self._rows) >= self.most:
            self.refuse(f"More than these first {self.most} rows may have problems.")

    def check(self) -> None:
        """Refuse when anything was found.

        Raises:
            BadInput: With every problem.
        """
        if self.found:
            self.refuse()

    def refuse(self, more: str = "") -> None:
        """Raise `BadInput` with what was found."""
        count = "1 problem" if len(self.found) == 1 else f"{len(self.found)} problems"
        lines = "\n".join(f"  {problem}" for problem in self.found)
        raise BadInput(f"The {self.noun} {printable(str(self.path), 500)} has {count}:\n{lines}", more and f"\n{more}")


def in_words(error: ValidationError, place: str) -> Iterable[Problem]:
    """Yield what pydantic found wrong with a row, one problem a key."""
    seen: set[str] = set()
    for detail in error.errors(include_url=False)[:_MOST_EACH]:
        key = ".".join(printable(str(part), 60) for part in detail["loc"])
        if key not in seen:
            seen.add(key)
            yield Problem(place, key, *_stated(detail["type"], detail["msg"], detail["input"], detail.get("ctx", {})))


def _stated(kind: str, message: str, value: object, context: dict[str, Any]) -> tuple[str, str]:
    if kind == "missing":
        return "is missing.", "Add it."
    if kind == "value_error":
        what, _, remedy = str(context.get("error", message)).partition("; ")
        return f"{printable(what, 400)}.", f"{remedy[:1].upper()}{remedy[1:]}." if remedy else ""
    if kind == "string_too_short":
        return "is empty.", "Fill it in."
    if kind == "string_too_long":
        return f"is longer than {context['max_length']} characters.", "Shorten it."
    if kind == "too_short":
        return "is an empty list.", f"It needs at least {context['min_length']}."
    wanted = _KINDS.get(kind.split("_", maxsplit=1)[0])
    if wanted is not None:
        return f"is {kind_of(value)}.", f"It must be {wanted}."
    return f"is {kind_of(value)}.", printable(f"{message}.", 200)


def kind_of(value: object) -> str:
    """A value as JSON calls it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quote(value)
        case int() | float():
            return f"the number {value}" if not isinstance(value, int) or abs(value) < 10**30 else "a very large number"
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return f"a {type(value).__name__}"
