"""What trials come to: for each task, what a forger would get, and which tests are the weakest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from repoassay.attacks.trial import Trial
from repoassay.types import Outcome

__all__ = ["ForgerFeedback", "by_task"]

_WEAKEST = 3


@dataclass(frozen=True, slots=True)
class ForgerFeedback:
    """Trials of one task, counted.

    `asked` is how often a plain harness was asked and `believed` how often it was fooled; `passes` are the attacks that
    the submission environment passed, with the grade of assurance in brackets where a verdict has one; `weakest` are
    the tests that were fooled most often, with how often; `faults` are trials that could not be judged.
    """

    task: str
    tried: int
    asked: int
    believed: int
    passes: tuple[str, ...]
    weakest: tuple[tuple[str, int], ...]
    faults: int


def by_task(trials: Iterable[Trial]) -> list[ForgerFeedback]:
    """Count trials by task, in their order."""
    grouped: dict[str, list[Trial]] = {}
    for trial in trials:
        grouped.setdefault(trial.task, []).append(trial)
    return [_told(task, found) for task, found in grouped.items()]


def _told(task: str, trials: list[Trial]) -> ForgerFeedback:
    fooled = Counter(test for trial in trials for test in trial.fooled)
    return ForgerFeedback(
        task=task,
        tried=len(trials),
        asked=sum(trial.plain is not None for trial in trials),
        believed=sum(trial.believed for trial in trials),
        passes=tuple(trial.attack + (f" [{trial.grade}]" if trial.grade else "") for trial in trials if trial.passed),
        weakest=tuple(fooled.most_common(_WEAKEST)),
        faults=sum(trial.outcome is Outcome.INFRA_FAULT for trial in trials),
    )
