"""E2: never implemented, or never executed."""

from __future__ import annotations

from repoassay.diagnosis.cause import RootCause
from repoassay.diagnosis.classes import ErrorClass, Subclass
from repoassay.diagnosis.context import AttemptStory
from repoassay.diagnosis.deliverables import missing
from repoassay.diagnosis.evidence import fact
from repoassay.diagnosis.phases import WorkPhase
from repoassay.diagnosis.purpose import CommandKind
from repoassay.types import Outcome

__all__ = ["omission", "quit_at_installing"]

_LOOP = 3
_KEPT_TRYING = 4


def omission(story: AttemptStory) -> RootCause | None:
    """What was left out; None when the work was done as far as one sees, or an error stood in its way."""
    if story.empty:
        return None
    done = story.profile.actions
    blocked = [
        one
        for one in story.troubles.open
        if not (one.kind is CommandKind.INSTALL and one.timeout) and one.kind is not CommandKind.NETWORK
    ]
    if story.case.edit:
        return None if done.get(WorkPhase.IMPLEMENT) or blocked else _cause(story, 0.75, "no file was changed")
    if missing(story.case) is False:
        return None
    if done.get(WorkPhase.EXECUTE):
        return None
    if quit_at_installing(story):
        return _cause(story, 0.8, "it stopped when an installation took too long, and ran nothing")
    if blocked or any(one.kind is CommandKind.INSTALL for one in story.troubles.open):
        return None
    if not story.profile.ended and done.get(WorkPhase.SETUP) and _last_work(story) is CommandKind.INSTALL:
        return None
    if missing(story.case) is None and story.case.outcome not in {
        Outcome.FAILED,
        Outcome.BUDGET,
        Outcome.TIMED_OUT,
        None,
    }:
        return None
    if story.profile.repeated >= _LOOP:
        return _cause(story, 0.85, f"it read the same thing {story.profile.repeated} times and ran nothing")
    evidence = (
        "a program was written but never run"
        if done.get(WorkPhase.IMPLEMENT)
        else "nothing was run after looking and installing"
    )
    return _cause(story, 0.85 if missing(story.case) else 0.6, evidence)


def quit_at_installing(story: AttemptStory) -> bool:
    """Whether nothing but limits of time stood in the way of installing, and it gave up soon."""
    stuck = [one for one in story.troubles.open if one.kind is not CommandKind.NETWORK]
    slow = [
        one
        for one in stuck
        if one.kind is CommandKind.INSTALL and (one.timeout or (one.rule == "network" and len(stuck) == 1))
    ]
    tries = {story.actions[one.place].text for one in story.troubles.all if one.kind is CommandKind.INSTALL}
    return bool(slow) and len(slow) == len(stuck) and story.profile.ended and len(tries) < _KEPT_TRYING


def _last_work(story: AttemptStory) -> CommandKind | None:
    return next(
        (
            action.kind
            for action in reversed(story.actions)
            if action.kind not in {CommandKind.MESSAGE, CommandKind.SUBMIT}
        ),
        None,
    )


def _cause(story: AttemptStory, confidence: float, why: str) -> RootCause:
    done = story.profile.actions
    only_read = not done.get(WorkPhase.SETUP) and not done.get(WorkPhase.IMPLEMENT)
    last = next((action for action in reversed(story.actions) if action.text), None)
    return RootCause(
        ErrorClass.E2,
        Subclass.README_ONLY if only_read else Subclass.NO_FOLLOW_UP,
        confidence,
        "nothing-executed",
        why,
        (last.at("") if last is not None else fact(why),),
    )
