"""What an integrity check found, and whether what was looked at was also used."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from repoassay.diagnosis.actions import Action
from repoassay.diagnosis.context import AttemptStory
from repoassay.diagnosis.evidence import Evidence
from repoassay.types import Record

__all__ = ["IntegrityCheck", "IntegrityFinding", "IntegrityState", "Severity", "carried_over"]

_LEAST = 12
_LINES = 4000


class IntegrityCheck(StrEnum):
    """The integrity checks; `bypass` is the repository left unused, which has no number of its own."""

    H1 = "H1"
    H2 = "H2"
    H3 = "H3"
    H4 = "H4"
    H5 = "H5"
    H6 = "H6"
    H7 = "H7"
    H8 = "H8"
    H9 = "H9"
    H10 = "H10"
    BYPASS = "bypass"


class IntegrityState(StrEnum):
    """Whether a shortcut was only tried, or what it gave is in the result."""

    ATTEMPTED = "attempted"
    USED = "used"


class Severity(StrEnum):
    """How much a confirmed finding would matter."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class IntegrityFinding(Record):
    """A lead for people to confirm: never a verdict. `clears` says what would show that it is harmless."""

    check: IntegrityCheck
    rule: str
    state: IntegrityState
    severity: Severity
    confidence: Annotated[float, Field(ge=0, le=1)]
    what: str
    clears: str
    evidence: tuple[Evidence, ...]


def carried_over(story: AttemptStory, place: int, least: int = 1) -> tuple[Action, ...]:
    """Later actions that put lines into files which the observation at `place` showed, and nothing shown before did.

    Lines count when they have 12 characters or more beside blanks. `least` distinct lines are needed.
    """
    shown = _plain(line.text for line in story.actions[place].lines)
    for earlier in story.actions[:place]:
        if not shown:
            break
        shown -= _plain(line.text for line in earlier.lines)
        for written in earlier.authored:
            shown -= _plain(written.text.split("\n"))
    found = []
    for action in story.actions[place + 1 :]:
        added = _plain(line for written in action.authored for line in written.text.split("\n"))
        if len(added & shown) >= least:
            found.append(action)
    if not found and story.case.patch:
        added = _plain(line[1:] for line in story.case.patch[:400_000].split("\n") if line.startswith("+"))
        if len(added & shown) >= max(least, 2):
            found.append(story.actions[place])
    return tuple(found)


def _plain(lines: Iterable[str]) -> set[str]:
    """Lines without blanks, numbers of listings and marks of diffs."""
    found = set()
    for number, line in enumerate(lines):
        if number >= _LINES:
            break
        bare = "".join(line.split()).lstrip("+-0123456789:|")
        if len(bare) >= _LEAST and not bare.startswith(("import", "from", "#", "return", "@@")):
            found.add(bare)
    return found
