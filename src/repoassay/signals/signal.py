"""What a signal says: a state on one axis of the rubric, and the lines that show it. Never an answer."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import Field

from repoassay.text import printable
from repoassay.types import Record

__all__ = [
    "Signal",
    "SignalAxis",
    "SignalEvidence",
    "SignalState",
    "at_line",
    "at_path",
    "finding",
    "judged",
    "silent",
    "unknown_signal",
]

_MOST_EVIDENCE, _MOST_NOTES = 50, 20


class SignalAxis(StrEnum):
    """Axes of the bundled rubric `mergeable`, by key."""

    CORE = "core"
    TESTING = "testing"
    DOCUMENTATION = "documentation"
    LINT = "lint"
    QUALITY = "quality"


class SignalState(StrEnum):
    """Found something worth a look; looked and found nothing; could not look."""

    FINDING = "finding"
    SILENT = "silent"
    UNKNOWN = "unknown_signal"


class SignalEvidence(Record):
    """A place in the change, and what is to be seen there.

    Attributes:
        path: File, relative to the repository.
        side: Whether `line` counts in the base (`old`) or in the head (`new`).
        line: From 1; None where the file as a whole is meant.
        quote: That line as it stands there, at most 200 characters, made printable.
        text: What is to be seen, one sentence.
        anchor: A relative link to the place, `PATH#L12` (head) or `PATH#O12` (base), percent-encoded.
    """

    path: Annotated[str, Field(min_length=1, max_length=1024)]
    side: Literal["old", "new"] = "new"
    line: Annotated[int, Field(ge=1, le=10**8)] | None = None
    quote: Annotated[str, Field(max_length=200)] = ""
    text: Annotated[str, Field(max_length=500)] = ""
    anchor: Annotated[str, Field(max_length=16_384)] = ""


class Signal(Record):
    """One kind of evidence on one axis.

    Attributes:
        id: Stable name, `ruff.elsewhere`.
        axis: Key of the axis of the rubric it may help to answer.
        state: `finding`, `silent` or `unknown_signal`.
        title: What was looked for, or found, in a few words.
        evidence: At most 50 places; `more` counts the others.
        reason: Why it could not run, one sentence; empty unless unknown.
        threshold: From when on it is a finding, in words; empty where one case is enough.
        notes: What else is to be known, such as whose tool ran; a sentence each.
    """

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,63}$")]
    axis: SignalAxis
    state: SignalState
    title: Annotated[str, Field(min_length=1, max_length=200)]
    evidence: Annotated[tuple[SignalEvidence, ...], Field(max_length=_MOST_EVIDENCE)] = ()
    more: Annotated[int, Field(ge=0)] = 0
    reason: Annotated[str, Field(max_length=1000)] = ""
    threshold: Annotated[str, Field(max_length=500)] = ""
    notes: Annotated[tuple[Annotated[str, Field(max_length=1000)], ...], Field(max_length=_MOST_NOTES)] = ()


def at_line(path: str, line: int, quoted: str, text: str, side: Literal["old", "new"] = "new") -> SignalEvidence:
    """Evidence at one line; every text may be hostile and is cut and escaped."""
    mark = "L" if side == "new" else "O"
    line = min(max(1, line), 10**8)
    return SignalEvidence(
        path=printable(path, 1024) or "?", side=side, line=line, quote=printable(quoted.strip(), 200),
        text=printable(text, 500), anchor=f"{_link(path)}#{mark}{line}",
    )  # fmt: skip


def at_path(path: str, text: str) -> SignalEvidence:
    """Evidence that is a whole file."""
    return SignalEvidence(path=printable(path, 1024) or "?", text=printable(text, 500), anchor=_link(path))


def finding(
    id: str,
    axis: SignalAxis,
    title: str,
    evidence: list[SignalEvidence],
    *,
    threshold: str = "",
    notes: tuple[str, ...] = (),
) -> Signal:
    """A signal that found something."""
    return Signal(
        id=id, axis=axis, state=SignalState.FINDING, title=title, evidence=tuple(evidence[:_MOST_EVIDENCE]),
        more=max(0, len(evidence) - _MOST_EVIDENCE), threshold=threshold, notes=_notes(notes),
    )  # fmt: skip


def silent(id: str, axis: SignalAxis, title: str, *, threshold: str = "", notes: tuple[str, ...] = ()) -> Signal:
    """A signal that looked and found nothing."""
    return Signal(id=id, axis=axis, state=SignalState.SILENT, title=title, threshold=threshold, notes=_notes(notes))


def judged(
    id: str,
    axis: SignalAxis,
    title: str,
    evidence: list[SignalEvidence],
    *,
    threshold: str = "",
    notes: tuple[str, ...] = (),
) -> Signal:
    """A finding where there is evidence, else silent."""
    if evidence:
        return finding(id, axis, title, evidence, threshold=threshold, notes=notes)
    return silent(id, axis, title, threshold=threshold, notes=notes)


def unknown_signal(id: str, axis: SignalAxis, title: str, reason: str) -> Signal:
    """A signal that could not run, and the sentence that says why."""
    return Signal(id=id, axis=axis, state=SignalState.UNKNOWN, title=title, reason=printable(reason, 1000))


def _notes(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(printable(note, 1000) for note in notes if note)[:_MOST_NOTES]


def _link(path: str) -> str:
    return quote(path.encode("utf-8", "surrogatepass")[:1024])
