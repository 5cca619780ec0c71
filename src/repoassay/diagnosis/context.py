"""An attempt as the rules see it: typed actions, facts, errors, and what was asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from repoassay.diagnosis.actions import Action, actions_of
from repoassay.diagnosis.case import AttemptCase
from repoassay.diagnosis.phases import Profile, profile_of
from repoassay.diagnosis.purpose import CommandKind
from repoassay.diagnosis.recovery import Troubles, scripts_of, troubles_of
from repoassay.diagnosis.rules import DiagnosisRule, builtin_rules
from repoassay.types import Source, Task, Trajectory, Verdict

__all__ = ["AttemptStory", "story_of"]


@dataclass(frozen=True)
class AttemptStory:
    """Everything a rule may look at; `asked` is the instruction in lower case, as far as it is known."""

    actions: tuple[Action, ...]
    case: AttemptCase
    troubles: Troubles
    profile: Profile
    scripts: frozenset[str]
    asked: str
    empty: bool = False

    def of(self, *kinds: CommandKind) -> tuple[tuple[int, Action], ...]:
        """The actions of some kinds, with their places."""
        return tuple((place, action) for place, action in enumerate(self.actions) if action.kind in kinds)

    def leaves_alone(self, name: str) -> bool:
        """Whether the change handed in does not touch a file of that name: it was the agent's own, for a while."""
        patch = self.case.patch
        named = rf"^(?:--- |diff --git ).*{re.escape(name)}"
        return bool(patch.strip()) and not re.search(named, patch, re.MULTILINE | re.IGNORECASE)

    def hands_in(self, text: str) -> bool:
        """Whether the change handed in adds the lines of a text, or what holds them, one after another, wherever."""
        return "\n".join(filter(None, (line.strip() for line in text.splitlines()))) in self._added

    @cached_property
    def _added(self) -> str:
        lines = (line for line in self.case.patch.splitlines() if line.strip("+ ") and not line.startswith("-"))
        return "\n".join(line[1:].strip() if line.startswith("+") else "" for line in lines)

    @cached_property
    def remarks(self) -> tuple[tuple[int, Action], ...]:
        """What the agent said, with its places."""
        return self.of(CommandKind.MESSAGE, CommandKind.SUBMIT)


_NAMED = re.compile(
    r"\b(?:sav\w{1,3}|stor\w{1,3}|writ\w{1,4}|put|into|as|named|called|produc\w{1,4}"
    r"|deliver)\b[^.\n]{0,40}?[\s/`'\"]([\w-]{1,60}\.[a-z][a-z0-9]{1,4})\b"
    r"|\b((?:output|result)\w{0,20}\.[a-z][a-z0-9]{1,4})\b",
    re.IGNORECASE,
)


def _asked_for(instruction: str) -> tuple[str, ...]:
    """Names of deliverables that the instruction gives, where the facts give none."""
    names = (first or second for first, second in _NAMED.findall(instruction))
    return tuple(dict.fromkeys(name for name in names if not name.endswith((".py", ".com", ".org"))))[:5]


def story_of(
    trajectory: Trajectory,
    verdict: Verdict | None,
    facts: Task | AttemptCase | None,
    rules: tuple[DiagnosisRule, ...] | None = None,
) -> AttemptStory:
    """Read a trajectory once for all rules."""
    case = AttemptCase.of(facts) if isinstance(facts, Task) else facts or AttemptCase()
    case = case.judged(verdict)
    actions = actions_of(trajectory)
    spoken = [step.text[:20_000] for step in trajectory.steps[:20] if step.source is Source.USER]
    instruction = case.instruction[:20_000] or (spoken[0] if spoken else "")
    if not case.expected and not case.edit:
        case = replace(case, expected=_asked_for(instruction))
    troubles = troubles_of(actions, case, builtin_rules() if rules is None else rules)
    return AttemptStory(
        actions, case, troubles, profile_of(actions), scripts_of(actions), instruction.lower(), not actions
    )
