"""The diagnosis of one attempt: its classes with one primary, evidence and confidence, or *unclear* with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from repoassay.diagnosis.case import AttemptCase
from repoassay.diagnosis.cause import RootCause
from repoassay.diagnosis.classes import ErrorClass, Subclass
from repoassay.diagnosis.compliance import compliance
from repoassay.diagnosis.context import AttemptStory, story_of
from repoassay.diagnosis.deliverables import missing
from repoassay.diagnosis.evidence import Evidence, fact
from repoassay.diagnosis.integrity_checks import IntegrityFinding, findings_of
from repoassay.diagnosis.omission import omission
from repoassay.diagnosis.phases import Profile
from repoassay.diagnosis.purpose import CommandKind
from repoassay.diagnosis.recovery import RecoveryTrouble
from repoassay.diagnosis.rules import DiagnosisRule
from repoassay.types import Attribution, Outcome, Record, Task, Trajectory, Verdict

__all__ = ["AssignedClass", "Diagnosis", "diagnose"]

_LIMITS = frozenset({Outcome.TIMED_OUT, Outcome.BUDGET})


class AssignedClass(Record):
    """One class given to an attempt: which rule gave it, why in words, and where it is seen."""

    code: ErrorClass
    subclass: Subclass | None = None
    confidence: Annotated[float, Field(ge=0, le=1)]
    rule: str
    why: str
    evidence: tuple[Evidence, ...] = ()


class Diagnosis(Record):
    """Why an attempt failed.

    Attributes:
        primary: The class that decides; None when the attempt did not fail by the agent's doing, or it is unclear.
        classes: Every class seen, the primary first, one entry a class.
        unclear: Whether it failed and nothing tells why; `reason` says what there was to go by.
        last_error: Where the last error is that nothing overcame.
        profile: The phases of the attempt.
        findings: The integrity checks' leads.
    """

    primary: ErrorClass | None
    classes: tuple[AssignedClass, ...]
    unclear: bool
    reason: str
    last_error: Evidence | None
    profile: Profile
    findings: tuple[IntegrityFinding, ...]

    @property
    def confidence(self) -> float | None:
        """Of the primary class; None where there is none."""
        return self.classes[0].confidence if self.classes else None

    @property
    def label(self) -> str:
        """`E1` to `E5`, `unclear`, or `none`."""
        return self.primary.value if self.primary else "unclear" if self.unclear else "none"


def diagnose(
    trajectory: Trajectory,
    verdict: Verdict | None = None,
    task: Task | AttemptCase | None = None,
    *,
    rules: tuple[DiagnosisRule, ...] | None = None,
) -> Diagnosis:
    """Diagnose one attempt from its trajectory, its verdict and the facts of its task.

    Precedence: deception, bypass or a misnamed deliverable (E5); nothing implemented or executed (E2); then the last
    error that nothing overcame, by where it comes from (E1, E3, E4); then the limit that ended it.

    Args:
        trajectory: What the agent did.
        verdict: How it was judged; an attempt that passed, or failed by no doing of the agent's, gets no class.
        task: The task, or a `AttemptCase` that also says which files were left and what the repository imports as.
        rules: Rules of output lines in place of the shipped ones, as `load_rules` gives them.
    """
    story = story_of(trajectory, verdict, task, rules)
    findings = findings_of(story)
    outcome = story.case.outcome
    last = _last(story)
    seen = last.evidence if last is not None else None
    if outcome is Outcome.PASSED or (outcome is not None and outcome.whose is not Attribution.AGENT):
        reason = "it passed" if outcome is Outcome.PASSED else f"{outcome.value} is not the agent's doing"
        return _diagnosis(story, findings, (), False, reason, seen)
    causes = tuple(_distinct(_causes(story, findings, last)))
    if not causes:
        return _diagnosis(story, findings, (), True, _nothing(story), seen)
    return _diagnosis(story, findings, causes, False, causes[0].why, seen)


def _causes(
    story: AttemptStory, findings: tuple[IntegrityFinding, ...], last: RecoveryTrouble | None
) -> Iterator[RootCause]:
    """All causes in order of precedence."""
    breaches = sorted(compliance(story, findings), key=lambda one: one.rule.startswith("bypass"))
    strong = [one for one in breaches if not (one.rule.startswith("patch") or one.confidence < 0.6)]
    yield from strong
    left_out = omission(story)
    if left_out is not None:
        yield left_out
    cut = _cut_off(story, last)
    if cut is not None and cut.confidence >= 0.8:
        yield cut
    if last is not None:
        yield _from(last, story)
        yield from (_from(one, story) for one in reversed(story.troubles.open) if one is not last)
    if cut is not None:
        yield cut
    yield from (one for one in breaches if one not in strong)
    asked = missing(story.case) and not story.empty and story.case.expected
    if asked and left_out is None and last is None and not breaches:
        why, seen = "programs ran without error, but none made the deliverable", "no deliverable is there"
        yield RootCause(ErrorClass.E2, Subclass.NO_FOLLOW_UP, 0.5, "stopped-short", why, (fact(seen),))


def _last(story: AttemptStory) -> RecoveryTrouble | None:
    """The last error that nothing overcame; errors of the work before errors of looking something up."""
    work = [one for one in story.troubles.open if one.kind is not CommandKind.NETWORK]
    if work:
        return max(work, key=lambda one: one.place)
    if missing(story.case) and story.troubles.doubtful:
        return max(story.troubles.doubtful, key=lambda one: one.place)
    return max(story.troubles.open, key=lambda one: one.place, default=None)


def _from(one: RecoveryTrouble, story: AttemptStory) -> RootCause:
    confidence = one.weight
    if len({other.code for other in story.troubles.open}) > 1:
        confidence -= 0.1
    if one not in story.troubles.open:
        confidence -= 0.2
    if story.case.outcome is Outcome.FAILED and missing(story.case) is False:
        confidence -= 0.15
    part = one.subclass
    if one.kind is CommandKind.INSTALL:
        # A failed installation after an error is the attempt to mend it; what had to be mended names the kind.
        part = next((old.subclass for old in story.troubles.open if old.code is one.code), part)
    return RootCause(one.code, part, round(max(0.1, min(confidence, 0.97)), 2), one.rule, one.why, (one.evidence,))


def _cut_off(story: AttemptStory, last: RecoveryTrouble | None) -> RootCause | None:
    """A limit of time or money that ended a run at work."""
    if story.case.outcome not in _LIMITS:
        return None
    work = [
        (place, action)
        for place, action in enumerate(story.actions)
        if action.kind not in {CommandKind.MESSAGE, CommandKind.SUBMIT}
    ]
    if not work:
        return None
    place, action = work[-1]
    installing = action.kind is CommandKind.INSTALL
    code, part = (ErrorClass.E1, Subclass.NETWORK) if installing else (ErrorClass.E4, Subclass.TIMEOUT_MEMORY)
    running = action.kind is CommandKind.EXECUTE and (not action.answered or place in story.troubles.succeeded)
    sure = 0.85 if (running or (installing and not action.answered)) and (last is None or last.place < place) else 0.55
    if last is not None and not running:
        return None
    if story.case.outcome is Outcome.BUDGET and last is not None:
        sure = 0.5
    return RootCause(
        code, part, sure, "limit-reached", f"{story.case.outcome.value} ended it at work", (action.at(""),)
    )


def _distinct(causes: Iterator[RootCause]) -> Iterator[RootCause]:
    seen: set[ErrorClass] = set()
    for cause in causes:
        if cause.code not in seen:
            seen.add(cause.code)
            yield cause


def _nothing(story: AttemptStory) -> str:
    if story.empty:
        return "the trajectory holds no action"
    if missing(story.case) is False:
        return "no error was left, and what was asked for is there"
    change = story.case.edit and story.case.patch.strip()
    return "no error was left, and a change was handed in" if change else "no rule applies"


def _diagnosis(
    story: AttemptStory,
    findings: tuple[IntegrityFinding, ...],
    causes: tuple[RootCause, ...],
    unclear: bool,
    reason: str,
    last: Evidence | None,
) -> Diagnosis:
    assignment = tuple(
        AssignedClass(
            code=cause.code,
            subclass=cause.subclass,
            confidence=cause.confidence,
            rule=cause.rule,
            why=cause.why,
            evidence=cause.evidence,
        )
        for cause in causes
    )
    return Diagnosis(
        primary=assignment[0].code if assignment else None,
        classes=assignment,
        unclear=unclear,
        reason=reason,
        last_error=last,
        profile=story.profile,
        findings=findings,
    )
