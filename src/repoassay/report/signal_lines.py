"""Signals of attempts as lines for a terminal and as a document for programs; hidden characters are written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from repoassay.engine import MeasuredOutcome, SignalFile
from repoassay.report.document import plain_value
from repoassay.report.figures import seconds
from repoassay.signals import Signal, SignalAxis, SignalState
from repoassay.text import one_line

__all__ = ["document", "head", "lines", "short"]

_MOST_PLACES = 8


def head(found: MeasuredOutcome) -> str:
    """Which change it is, as one line."""
    change = found.change
    if not change.attempt:
        return f"reference of {one_line(change.planned.id, 80)}"
    number = f" #{change.number}" if change.number > 1 else ""
    return f"{one_line(change.attempt, 60)}  {one_line(change.planned.id, 80)}{number} by {one_line(change.agent, 80)}"


def short(found: MeasuredOutcome) -> str:
    """What became of one change, as one line."""
    if found.measured is None:
        return f"{head(found)}: {one_line(str(found.problem), 400)}"
    every = found.measured.signals
    counts = f"{_plural(_count(every, SignalState.FINDING), 'finding')}, {_count(every, SignalState.UNKNOWN)} unknown"
    return f"{head(found)}: {counts}, {'from before' if found.before else seconds(found.measured.seconds)}"


def lines(found: MeasuredOutcome, width: int = 160, *, places: int = _MOST_PLACES) -> Iterator[str]:
    """One change: of each axis what was found, where, and what could not be looked for."""
    if found.measured is None:
        yield short(found)
        return
    yield head(found)
    for axis in SignalAxis:
        yield from _axis(axis, [each for each in found.measured.signals if each.axis is axis], width, places)


def _axis(axis: SignalAxis, signals: Sequence[Signal], width: int, places: int) -> Iterator[str]:
    findings = [each for each in signals if each.state is SignalState.FINDING]
    unknown = list(dict.fromkeys(each.id.partition(".")[0] for each in signals if each.state is SignalState.UNKNOWN))
    parts = [_plural(len(findings), "finding")] if findings else []
    if not findings and any(each.state is SignalState.SILENT for each in signals):
        parts = ["silent"]
    if unknown:
        parts.append(f"unknown: {', '.join(unknown)}")
    yield f"  {axis.value:<14} {one_line('; '.join(parts), width)}".rstrip()
    for each in findings:
        yield f"    {each.id}: {one_line(each.title, width)}"
        for place in each.evidence[:places]:
            line = f":{place.line}" if place.line is not None else ""
            side = " (base)" if place.side == "old" else ""
            told_there = one_line(place.text or place.quote, width)
            yield f"      {one_line(place.path, 200)}{line}{side}  {told_there}".rstrip()
        more = each.more + max(0, len(each.evidence) - places)
        if more:
            yield f"      and {more} more"


def document(found: MeasuredOutcome) -> dict[str, Any]:
    """One change for programs; what was measured is as it is kept, `problem` says why nothing was."""
    change = found.change
    return {
        "attempt": change.attempt or None,
        "reference": not change.attempt,
        "task": change.planned.id,
        "agent": plain_value(change.agent) or None,
        "number": change.number if change.attempt else None,
        "before": found.before,
        "problem": plain_value(str(found.problem)) if found.problem is not None else None,
        "measured": _measured(found.measured),
    }


def _measured(measured: SignalFile | None) -> dict[str, Any] | None:
    if measured is None:
        return None
    fields: dict[str, Any] = plain_value(measured.model_dump(mode="json", by_alias=True))
    return fields


def _count(every: Sequence[Signal], state: SignalState) -> int:
    return sum(each.state is state for each in every)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
