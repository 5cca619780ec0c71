"""Rates where some answers are unknown: always over all, and over those that could be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from repoassay.stats.intervals import Interval, wilson
from repoassay.stats.task_intervals import clustered_counts

__all__ = ["Proportion", "Rate", "TaskProportion"]


@dataclass(frozen=True, slots=True)
class Proportion:
    """`successes` out of `n`, the denominator."""

    successes: int
    n: int

    @property
    def value(self) -> float | None:
        """The share between 0 and 1; None where n is 0."""
        return self.successes / self.n if self.n else None

    @property
    def interval(self) -> Interval:
        """The 95% Wilson score interval."""
        return wilson(self.successes, self.n)


@dataclass(frozen=True, slots=True)
class TaskProportion(Proportion):
    """A proportion whose cases come in tasks. `by_task` has successes and cases of each, which add up to it."""

    by_task: tuple[tuple[int, int], ...] = field(repr=False, compare=False)

    @property
    def interval(self) -> Interval:
        """The 95% interval that takes the task as what was sampled."""
        return clustered_counts(self.by_task)


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something is true among `n` cases, `unknown` of which could not be told.

    Unknown is never false: it is in the denominator of `over_all` (which is therefore a lower bound) and is left out
    of `over_judged`. `by_task` has successes, cases and unknown ones of each task, where cases come in tasks: their
    intervals then allow for cases of a task being alike.

    Raises:
        ValueError: When the counts contradict each other.
    """

    successes: int
    n: int
    unknown: int = 0
    by_task: tuple[tuple[int, int, int], ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if min(self.successes, self.unknown) < 0 or self.successes + self.unknown > self.n:
            raise ValueError(f"{self.successes} successes and {self.unknown} unknown of {self.n} are impossible")

    @classmethod
    def of(cls, answers: Iterable[bool | None]) -> Rate:
        """Count true, false and unknown (None) answers."""
        known = list(answers)
        return cls(sum(answer is True for answer in known), len(known), sum(answer is None for answer in known))

    @classmethod
    def of_tasks(cls, answers: Iterable[tuple[Hashable, bool | None]]) -> Rate:
        """Count answers that each come with their task."""
        counts = Counter(answers)
        parts = (
            (counts[task, True], counts[task, False], counts[task, None])
            for task in dict.fromkeys(task for task, _ in counts)
        )
        return cls.total(cls(true, true + false + unknown, unknown) for true, false, unknown in parts)

    @classmethod
    def total(cls, tasks: Iterable[Rate]) -> Rate:
        """The rate over tasks, of the rate of each."""
        parts = tuple((one.successes, one.n, one.unknown) for one in tasks)
        return cls(sum(s for s, _, _ in parts), sum(n for _, n, _ in parts), sum(u for _, _, u in parts), parts)

    @property
    def judged(self) -> int:
        """How many cases could be told."""
        return self.n - self.unknown

    @property
    def over_all(self) -> Proportion:
        """Successes over every case, unknown ones included."""
        return _proportion(self.successes, self.n, tuple((hits, n) for hits, n, _ in self.by_task))

    @property
    def over_judged(self) -> Proportion:
        """Successes over the cases that could be told."""
        return _proportion(self.successes, self.judged, tuple((hits, n - gone) for hits, n, gone in self.by_task))


def _proportion(successes: int, n: int, by_task: tuple[tuple[int, int], ...]) -> Proportion:
    """The share, by task where a task has several cases: one a task is a sample of independent cases."""
    if all(cases < 2 for _, cases in by_task):
        return Proportion(successes, n)
    return TaskProportion(successes, n, by_task)
