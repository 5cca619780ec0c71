"""The phases of an attempt: what the agent was doing, step by step, and for how much of it."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from repoassay.diagnosis.actions import Action
from repoassay.diagnosis.purpose import CommandKind
from repoassay.types import Record

__all__ = ["Profile", "WorkPhase", "profile_of"]


class WorkPhase(StrEnum):
    """What a stretch of an attempt is for."""

    EXPLORE = "explore"
    SETUP = "setup"
    IMPLEMENT = "implement"
    EXECUTE = "execute"
    VERIFY = "verify"
    SUBMIT = "submit"


_PHASES = {
    CommandKind.READ: WorkPhase.EXPLORE,
    CommandKind.NETWORK: WorkPhase.EXPLORE,
    CommandKind.INSTALL: WorkPhase.SETUP,
    CommandKind.EDIT: WorkPhase.IMPLEMENT,
    CommandKind.EXECUTE: WorkPhase.EXECUTE,
    CommandKind.VERIFY: WorkPhase.VERIFY,
    CommandKind.SUBMIT: WorkPhase.SUBMIT,
}


class Profile(Record):
    """How many actions each phase had, the stretches in order, and what stands out.

    Attributes:
        actions: Actions by phase; a phase without any is left out.
        stretches: Phases in order, each as often as it was entered anew; at most 200.
        repeated: The most often repeated identical reading or search.
        ended: Whether the agent itself ended the attempt, by handing in or by a last message without a call.
    """

    actions: dict[WorkPhase, int]
    stretches: tuple[WorkPhase, ...]
    repeated: int = 0
    ended: bool = False


def profile_of(actions: tuple[Action, ...]) -> Profile:
    """The profile of the actions of one attempt."""
    phases = [_PHASES[action.kind] for action in actions if action.kind in _PHASES]
    stretches = [phase for at, phase in enumerate(phases) if at == 0 or phases[at - 1] is not phase]
    reads = Counter(action.text for action in actions if action.kind in {CommandKind.READ, CommandKind.NETWORK})
    return Profile(
        actions={phase: phases.count(phase) for phase in WorkPhase if phase in phases},
        stretches=tuple(stretches[:200]),
        repeated=max(reads.values(), default=0),
        ended=bool(actions) and actions[-1].kind in {CommandKind.SUBMIT, CommandKind.MESSAGE},
    )
