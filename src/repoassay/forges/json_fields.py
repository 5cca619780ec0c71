"""Fields of a JSON object that a stranger wrote: typed, bounded, and each error with the path of its field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from repoassay.forges.pull import PullProblem
from repoassay.formats import kind_of

__all__ = ["MOST_TEXT", "JsonFields"]

MOST_TEXT = 1_000_000
"""Characters of a description, a commit message or a remark."""
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")
_SHA = re.compile(r"[0-9a-f]{7,64}")
_LISTS = ("nodes", "edges", "items", "data")
"""Under what GraphQL and some exporters put the elements of a list."""


class JsonFields:
    """One object. Its keys are read as REST writes them, `created_at` for GraphQL's `createdAt`.

    Args:
        value: What should be an object.
        place: Its path in the pull request, for errors.

    Raises:
        PullProblem: When it is none.
    """

    def __init__(self, value: object, place: str = "") -> None:
        if not isinstance(value, dict):
            raise PullProblem(place, f"is {kind_of(value)}, and should be an object.")
        self._place = place
        self._given: Mapping[str, Any] = {snake_case(key): each for key, each in value.items()}

    def place(self, name: str) -> str:
        """The path of one of its fields."""
        return f"{self._place}.{name}" if self._place else name

    def __contains__(self, name: str) -> bool:
        return self._given.get(name) is not None

    def raw(self, *names: str) -> Any:
        """The first of these fields that is neither absent nor null."""
        return next((self._given[name] for name in names if name in self), None)

    def text(self, *names: str, most: int = 1000) -> str:
        """A text, empty where absent; a null character cannot be kept by PostgreSQL and is replaced."""
        name = self._first(names)
        value = self._given.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise PullProblem(self.place(name), f"is {kind_of(value)}, and should be text.")
        if len(value) > most:
            raise PullProblem(self.place(name), f"has {len(value):,} characters; at most {most:,} are taken.")
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")

    def number(self, *names: str) -> int | None:
        """A whole number from 1 to 10^12, None where absent."""
        name = self._first(names)
        value = self._given.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 10**12:
            raise PullProblem(self.place(name), f"is {kind_of(value)}, and should be a whole number above 0.")
        return value

    def flag(self, *names: str) -> bool | None:
        """True or false, None where absent."""
        name = self._first(names)
        value = self._given.get(name)
        if value is not None and not isinstance(value, bool):
            raise PullProblem(self.place(name), f"is {kind_of(value)}, and should be true or false.")
        return value

    def moment(self, *names: str) -> datetime | None:
        """A time in UTC, None where absent; one without an offset is taken as UTC."""
        text = self.text(*names, most=60)
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, OverflowError):
            raise PullProblem(
                self.place(self._first(names)),
                f"is {kind_of(text)}, and should be a time such as 2026-01-31T12:00:00Z.",
            ) from None

    def sha(self, *names: str) -> str:
        """The id of a commit, empty where absent."""
        text = self.text(*names, most=64).lower()
        if text and not _SHA.fullmatch(text):
            raise PullProblem(self.place(self._first(names)), f"is {kind_of(text)}, and should be the id of a commit.")
        return text

    def part(self, *names: str) -> JsonFields | None:
        """An object, None where absent."""
        name = self._first(names)
        return JsonFields(self._given[name], self.place(name)) if name in self else None

    def parts(self, *names: str, most: int = 10_000) -> Iterator[JsonFields]:
        """The objects of a list, none where absent. REST has counts under the same names, which are passed over."""
        name, values = next(((name, found) for name in names if (found := self._list(name)) is not None), ("", []))
        if len(values) > most:
            raise PullProblem(self.place(name), f"has {len(values):,} entries; at most {most:,} are taken.")
        for at, value in enumerate(values):
            yield JsonFields(value, f"{self.place(name)}[{at}]")

    def _list(self, name: str) -> list[Any] | None:
        value = self._given.get(name)
        if isinstance(value, dict):
            value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), value)
            if isinstance(value, list):
                value = [each["node"] if isinstance(each, dict) and set(each) >= {"node"} else each for each in value]
        if value is None or isinstance(value, int):
            return None
        if not isinstance(value, list):
            raise PullProblem(self.place(name), f"is {kind_of(value)}, and should be a list.")
        return value

    def _first(self, names: tuple[str, ...]) -> str:
        return next((name for name in names if name in self), names[0])


def snake_case(name: str) -> str:
    """Write `mergedAt` as `merged_at`."""
    return _HUMP.sub(r"_\1", name).lower()
