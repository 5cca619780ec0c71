"""The figures of a comparison: test, effect with its interval, what it costs more, and what could have been seen.

With one attempt a task the test is McNemar's, exact, and the interval Tango's. With several, tasks have rates, the test
is a permutation of signs by task and the interval Tango's of as many pairs as tasks are worth: attempts at one task are
not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt
from statistics import NormalDist, stdev
from typing import TYPE_CHECKING

from repoassay.errors import BadInput
from repoassay.report.comparison.pairs import ExcludedTask, Measure, OutcomeChange, TaskPair, pair
from repoassay.report.comparison.sides import ComparedSide
from repoassay.stats import (
    Figure,
    Interval,
    Rate,
    Significance,
    bootstrap_mean,
    clustered_difference,
    discordant_needed,
    holm,
    mcnemar,
    paired_permutation,
    smallest_difference,
    tango,
)

if TYPE_CHECKING:
    from repoassay.report.reviewed_attempts import ReviewedAttempts
    from repoassay.review import Gap, TaskDifference

__all__ = ["Comparison", "CostDifference", "MergeableDifference", "Versus", "compare_sides"]

_POWER, _LEVEL = 0.8, 0.05


@dataclass(frozen=True, slots=True)
class CostDifference:
    """What the second system spent more for each task: mean of the tasks' differences, its bootstrap interval."""

    unit: str
    mean: float | None
    interval: Interval
    unknown: int


@dataclass(frozen=True, slots=True)
class MergeableDifference:
    """What people said of both systems' attempts.

    `rates` are of all reviewed attempts of each. `difference` is second minus first, the mean over tasks with an
    answer on both sides, each of which counts once; interval and test take tasks as the sample.
    """

    rates: tuple[Gap, Gap]
    difference: TaskDifference
    adjusted: float | None


@dataclass(frozen=True, slots=True)
class Versus:
    """Two systems. `difference` is the mean over tasks with an answer on both sides of second minus first, a share.

    `adjusted` is the p-value after Holm's correction over all tests of one comparison. `visible` is the smallest
    difference that so many tasks show with 80% power, a share. `rates` are over attempts of the paired tasks.
    """

    first: ComparedSide
    second: ComparedSide
    pairs: tuple[TaskPair, ...]
    left_out: tuple[ExcludedTask, ...]
    rates: tuple[Rate, Rate]
    difference: float | None
    interval: Interval
    test: Significance
    permutation: Significance
    adjusted: float | None
    costs: tuple[CostDifference, ...]
    visible: Figure
    mergeable: MergeableDifference | None = None

    def count(self, change: OutcomeChange) -> int:
        """Tasks of that change."""
        return sum(one.change is change for one in self.pairs)

    @property
    def judged(self) -> int:
        """Tasks with an answer on both sides."""
        return len(self.pairs) - self.count(OutcomeChange.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All systems, baseline first, and the comparisons made. `level` is that of the tests."""

    sides: tuple[ComparedSide, ...]
    measure: Measure
    level: float
    versus: tuple[Versus, ...]
    reviewed: ReviewedAttempts | None = None

    @property
    def only(self) -> Versus:
        """The one comparison of two systems.

        Raises:
            BadInput: There are more.
        """
        if len(self.versus) != 1:
            raise BadInput(f"There are {len(self.versus)} comparisons.", "Take one of `versus`.")
        return self.versus[0]

    @property
    def p_value(self) -> float | None:
        """Of two systems: the p-value of the test; None where nothing could be compared."""
        return self.only.test.p_value

    @property
    def difference(self) -> float | None:
        """Of two systems: the second's rate less the first's, a share; None where nothing could be compared."""
        return self.only.difference


def compare_sides(
    sides: Sequence[ComparedSide],
    measure: Measure = Measure.RESULT,
    *,
    across_versions: bool = False,
    every_pair: bool = False,
    level: float = _LEVEL,
    reviews: ReviewedAttempts | None = None,
) -> Comparison:
    """Compare systems: each with the first, or with `every_pair` each with each; p-values are Holm's then.

    With `reviews` their mergeable rates are compared, too, on the tasks of the comparison.

    Raises:
        BadInput: When two systems have no task of the same version in common.
    """
    couples = list(combinations(sides, 2)) if every_pair else [(sides[0], other) for other in sides[1:]]
    found = [_versus(one, other, measure, across_versions) for one, other in couples]
    adjusted = holm([one.test.p_value for one in found])
    found = [replace(one, adjusted=p_value) for one, p_value in zip(found, adjusted, strict=True)]
    if reviews is not None:
        found = _with_people(found, reviews)
    return Comparison(tuple(sides), measure, level, tuple(found), reviews)


def _with_people(found: Sequence[Versus], reviews: ReviewedAttempts) -> list[Versus]:
    """The comparisons with what people said of the paired tasks' attempts."""
    differences = []
    for one in found:
        tasks = [pair.task for pair in one.pairs]
        first, second = ([row for task in tasks for row in side.tasks[task]] for side in (one.first, one.second))
        rates = reviews.gap_of(first), reviews.gap_of(second)
        differences.append(MergeableDifference(rates, reviews.difference(first, second), None))
    adjusted = holm([one.difference.test.p_value for one in differences])
    return [
        replace(one, mergeable=replace(people, adjusted=p_value))
        for one, people, p_value in zip(found, differences, adjusted, strict=True)
    ]


def _versus(first: ComparedSide, second: ComparedSide, measure: Measure, across_versions: bool) -> Versus:
    paired = pair(first, second, measure, across_versions=across_versions)
    differences = [found for one in paired.pairs if (found := one.difference) is not None]
    permutation = paired_permutation(differences)
    once = all(one.first.n == one.second.n == 1 for one in paired.pairs)
    if once:
        gained, lost = differences.count(1.0), differences.count(-1.0)
        test, interval = mcnemar(gained, lost, len(differences)), tango(gained, lost, len(differences))
        visible = _visible_once(len(differences), gained + lost)
    else:
        attempts = sum(min(one.first.judged, one.second.judged) for one in paired.pairs)
        test, interval = permutation, clustered_difference([[one] for one in differences], pairs=attempts)
        visible = _visible(differences)
    return Versus(
        first,
        second,
        paired.pairs,
        paired.left_out,
        (Rate.total(one.first for one in paired.pairs), Rate.total(one.second for one in paired.pairs)),
        sum(differences) / len(differences) if differences else None,
        interval,
        test,
        permutation,
        test.p_value,
        tuple(_costs(paired.pairs)),
        visible,
    )


def _costs(pairs: Sequence[TaskPair]) -> list[CostDifference]:
    columns: dict[str, list[float | None]] = {
        "tokens": [one.tokens for one in pairs],
        "dollars": [None if one.dollars is None else float(one.dollars) for one in pairs],
        "seconds": [one.seconds for one in pairs],
    }
    costs = []
    for unit, values in columns.items():
        known = [value for value in values if value is not None]
        mean = sum(known) / len(known) if known else None
        costs.append(CostDifference(unit, mean, bootstrap_mean([[value] for value in known]), len(values) - len(known)))
    return costs


def _visible_once(tasks: int, discordant: int) -> Figure:
    """What the exact test of so many tasks could see; without any difference seen, if one task in five differed."""
    discordance = discordant / tasks if discordant else 0.2
    found = smallest_difference(tasks, discordance)
    note = "" if discordant else "no task differed, so one in five is assumed to"
    if found.defined:
        return Figure(found.value, found.method, tasks, note=note)
    needed = discordant_needed(_LEVEL)
    reason = f"{tasks} tasks, {discordant} of them different, are too few: it takes {needed} that differ all in one way"
    return Figure(None, found.method, tasks, reason)


def _visible(differences: Sequence[float]) -> Figure:
    n = len(differences)
    method = f"paired scores, normal approximation, two-sided level {_LEVEL:g}, power {_POWER * 100:g}%"
    deviation = stdev(differences) if n > 1 else 0.0
    if not deviation:
        return Figure(None, method, n, "the tasks' differences do not vary, which leaves nothing to go by")
    normal = NormalDist()
    size = (normal.inv_cdf(1 - _LEVEL / 2) + normal.inv_cdf(_POWER)) * deviation / sqrt(n)
    if size > 1:
        return Figure(None, method, n, f"{n} tasks are too few to show any difference where they vary so much")
    return Figure(size, method, n)
