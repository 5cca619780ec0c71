"""What was found of attempts, as lines for a terminal and as a document for programs; nothing stays hidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from repoassay.agents import exit_meaning
from repoassay.diagnosis import AssignedClass, ErrorClass, Evidence, IntegrityFinding, IntegrityState, Label
from repoassay.report.agent_log import printed_last
from repoassay.report.diagnosis_runs import ClassShares, DiagnosedAttempt
from repoassay.report.document import plain_value
from repoassay.stats import Proportion
from repoassay.text import one_line
from repoassay.types import Outcome

__all__ = ["document", "label_line", "lines", "meaning", "share_lines", "shares_document", "short_lines"]

_MOST_EVIDENCE = 3
_MOST_FINDINGS = 20


def meaning(code: str) -> str:
    """A code in words."""
    words = {"unclear": "nothing tells why", "none": "no error of the agent's"}
    return words[code] if code in words else ErrorClass(code).meaning


def lines(looked: DiagnosedAttempt, *, integrity_only: bool = False, width: int = 160) -> Iterator[str]:
    """One attempt: its classes with evidence, its labels, and the integrity findings, used ones first."""
    one = looked.subject
    number = f" #{one.number}" if one.number > 1 else ""
    where = f"{one_line(one.task, 80)}{number} by {one_line(one.agent, 80)}"
    yield f"{one_line(one.attempt, 60)}  {one.outcome.value:<12} {where}"
    if not integrity_only and one.failed:
        yield from _classes(looked, width)
    if not integrity_only and one.outcome is not Outcome.PASSED:
        yield from (f"  {line}" for line in _own_words(looked, width))
    yield from _findings(looked, width)
    if not integrity_only:
        for label in looked.labels:
            holds = ", holds" if label == looked.holds.label else ""
            yield f"  label {label_line(label, width)}{holds}"
        if looked.holds.disputed:
            yield "  people who labelled it differ"


def _classes(looked: DiagnosedAttempt, width: int) -> Iterator[str]:
    found = looked.diagnosis
    if looked.holds.source == "person":
        yield f"  {looked.holds.value} {meaning(looked.holds.value)}, by a person; the rules say {found.label}:"
    if looked.steps is None:
        yield "  (no steps that could be read: verdict and exit alone were to go by)"
    if not found.classes:
        yield f"  {found.label}: {_reason(looked, width)}"
    for place, assignment in enumerate(found.classes):
        yield f"  {'' if place == 0 else 'also '}{_class_line(assignment)}"
        yield f"    {one_line(assignment.why, width)}"
        yield from _evidence_lines(assignment.evidence, width)


def _reason(looked: DiagnosedAttempt, width: int) -> str:
    """Why it is unclear."""
    if looked.steps is not None:
        return one_line(looked.diagnosis.reason, width)
    ended = (
        f"{looked.ending.ended.value}, {exit_meaning(looked.ending)}"
        if looked.ending is not None
        else "nothing is kept"
    )
    return f"{ended}, and neither that nor the verdict tells why"


def _own_words(looked: DiagnosedAttempt, width: int) -> Iterator[str]:
    """What the verdict says, and what the agent printed last."""
    if (failure := looked.start_failure) is not None:
        yield f"the agent could not start: {one_line(failure.why, width)}"
        yield one_line(failure.remedy, 3 * width)
    yield from printed_last(looked.subject.folder, width, 3)


def _class_line(assignment: AssignedClass) -> str:
    part = f": {assignment.subclass.value}" if assignment.subclass else ""
    named = f"{assignment.code.value} {assignment.code.meaning}{part}"
    return f"{named}, confidence {assignment.confidence:.2f} (rule {one_line(assignment.rule, 60)})"


def _evidence_lines(evidence: tuple[Evidence, ...], width: int) -> Iterator[str]:
    for one in evidence[:_MOST_EVIDENCE]:
        quote = one_line(one.quote, width)
        yield f'      step {one.step}, {one.where}: "{quote}"' if one.step else f"      fact: {quote}"
    if len(evidence) > _MOST_EVIDENCE:
        yield f"      and {len(evidence) - _MOST_EVIDENCE} more"


def _findings(looked: DiagnosedAttempt, width: int) -> Iterator[str]:
    found = looked.findings
    for one in found[:_MOST_FINDINGS]:
        state = one.state.value.upper() if one.state is IntegrityState.USED else one.state.value
        yield f"  {state} {_lead(one, width)}"
        yield from _evidence_lines(one.evidence, width)
        yield f"      cleared if {one_line(one.clears, width)}"
    if len(found) > _MOST_FINDINGS:
        yield f"  and {len(found) - _MOST_FINDINGS} more findings; --json has all"


def _lead(one: IntegrityFinding, width: int) -> str:
    weight = f"{one.severity.value} severity, confidence {one.confidence:.2f}"
    return f"{one.check.value} {one.rule}: {one_line(one.what, width)} ({weight})"


def label_line(label: Label, width: int = 160) -> str:
    """One label on one line: value, who, when, and the note."""
    part = f" {label.subclass.value}" if label.subclass else ""
    also = f" and {', '.join(one.value for one in label.also)}" if label.also else ""
    note = f": {one_line(label.note, width)}" if label.note else ""
    kind = "" if label.by == "person" else f" ({label.by})"
    return f"{label.value}{part}{also} by {one_line(label.author, 60)}{kind}, {label.at:%Y-%m-%d %H:%M}{note}"


def short_lines(looked: DiagnosedAttempt, width: int = 160) -> Iterator[str]:
    """One line of why it failed, and one of the integrity findings; nothing where there is nothing to say."""
    if looked.subject.failed:
        found = looked.diagnosis
        if looked.holds.source == "person" and looked.holds.label is not None:
            who = one_line(looked.holds.label.author, 60)
            yield f"Diagnosis: {looked.holds.value} {meaning(looked.holds.value)}, by {who}"
        elif found.classes:
            first = found.classes[0]
            seen = next((one.step for one in first.evidence if one.step), None)
            place = f", step {seen}" if seen else ""
            yield f"Diagnosis: {_class_line(first)}{place}: {one_line(first.why, width)}"
        else:
            yield f"Diagnosis: {found.label}: {_reason(looked, width)}"
    leads = [f"{one.check.value} {one.rule} ({one.state.value})" for one in looked.findings]
    if leads:
        titles = ", ".join(dict.fromkeys(leads[:_MOST_FINDINGS]))
        yield f"Integrity: {titles}; leads for people to confirm"


def share_lines(shares: ClassShares) -> Iterator[str]:
    """The shares as a table, and what they are of."""
    if not shares.counted:
        yield f"No shares: {shares.failed} attempts failed, and none has steps that could be read or a label."
        return
    firsts = {code: _share(found) for code, found in shares.primary.items()}
    wide = max(map(len, ("primary", *firsts.values()))) + 2
    yield f"{'':<9}{'':<30}{'primary':<{wide}}seen at all"
    for code, first in firsts.items():
        yield f"{code:<9}{meaning(code):<30}{first:<{wide}}{_share(shares.every[code])}"
    untold = shares.failed - shares.counted
    yield (
        f"n = {shares.counted} of {shares.failed} attempts that did not pass by the agent's doing; {untold} left no"
        " steps that could be read."
    )
    yield f"{shares.labelled} of them as people labelled them. In brackets 95% Wilson score intervals."


def _share(found: Proportion) -> str:
    interval = found.interval
    if found.value is None or interval.low is None or interval.high is None:
        return "-"
    return f"{found.successes}/{found.n} {found.value:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def document(looked: DiagnosedAttempt) -> dict[str, Any]:
    """One attempt for programs: everything the lines tell and what they cut."""
    one = looked.subject
    return {
        "attempt": one.attempt,
        "task": one.task,
        "agent": one.agent,
        "number": one.number,
        "outcome": one.outcome.value,
        "steps": looked.steps,
        "holds": {"value": looked.holds.value, "by": looked.holds.source, "disputed": looked.holds.disputed},
        "diagnosis": plain_value(looked.diagnosis.model_dump(mode="json", exclude={"findings"})),
        "findings": [plain_value(found.model_dump(mode="json")) for found in looked.findings],
        "labels": [plain_value(label.model_dump(mode="json")) for label in looked.labels],
    }


def shares_document(shares: ClassShares) -> dict[str, Any]:
    """The shares for programs."""
    return {
        "failed": shares.failed,
        "n": shares.counted,
        "labelled": shares.labelled,
        "interval": "95% Wilson score",
        "primary": {code: _figures(found) for code, found in shares.primary.items()},
        "any": {code: _figures(found) for code, found in shares.every.items()},
    }


def _figures(found: Proportion) -> dict[str, Any]:
    interval = found.interval
    return {
        "count": found.successes, "n": found.n, "share": found.value, "low": interval.low, "high": interval.high,
    }  # fmt: skip
