"""A mutant of a solution: all its files, one of them changed once more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from repoassay.types import FileEdit

__all__ = ["Mutant", "MutantKind"]


class MutantKind(StrEnum):
    """What a mutation operator changes."""

    FILE = "file"
    HUNK = "hunk"
    STATEMENT = "statement"
    CONDITION = "condition"
    COMPARISON = "comparison"
    OPERATOR = "operator"
    CONSTANT = "constant"
    RETURN = "return"
    ARGUMENT = "argument"
    EXCEPTION = "exception"
    DECORATOR = "decorator"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A solution with one change that its tests should notice.

    Attributes:
        name: The same every time: kind, place and number of the operator at that place.
        kind: What was changed.
        path: File in the repository.
        line: First line concerned, in the solution's file; in the base's where the solution has no such line.
        was: The text that was there, of a line at most; a stranger's.
        now: What stands there instead; empty where it was removed.
        edits: The files of the whole solution, mutated.
    """

    name: str
    kind: MutantKind
    path: str
    line: int
    was: str
    now: str
    edits: Mapping[str, FileEdit | None]
