"""How far passing tests overstates being mergeable, on the same submissions.

Controls are changes known to be acceptable, mixed among the submissions: METR's study of 2026-03-10 mixed human changes
among agents'; maintainers accepted 68 % of them, and the rates of agents are read against that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from repoassay.review.item_summary import ItemSummary
from repoassay.review.study import Golden
from repoassay.stats import (
    Figure,
    Interval,
    Proportion,
    Significance,
    agresti_min,
    clustered_difference,
    clustered_proportion,
    clustered_test,
    discordant_needed,
)

__all__ = ["Controls", "Gap", "controls", "gap", "normalised"]


@dataclass(frozen=True, slots=True)
class Gap:
    """Success by tests against success by people, on the same `n` submissions.

    `left_out` submissions are in neither rate, because one of the answers is unknown. `tests_only` passed but would not
    be merged, `people_only` the other way round; `difference` is the first rate minus the second, None without any.
    `interval` and `test` take the task as what was sampled, and so do `tests_interval` and `people_interval`:
    several runs of a task are not independent. `adjusted` (Agresti and Min) treats them so, and is for comparison.
    `enough` is how many discordant tasks, all one way, a p-value under 0.05 takes.
    """

    n: int
    left_out: int
    tests: Proportion
    people: Proportion
    both: int
    tests_only: int
    people_only: int
    neither: int
    difference: float | None
    interval: Interval
    adjusted: Interval
    test: Significance
    enough: int
    tests_interval: Interval
    people_interval: Interval
    tasks: int


def gap(rows: Iterable[ItemSummary], would_merge: bool = False) -> Gap:
    """Compare tests with people, pair by pair; controls are left aside.

    METR's comparison ("Algorithmic vs. holistic evaluation", 2025-08-12) sets 38 % of 18 tasks beside 0 of 15 reviewed
    ones; only the rates on the same submissions may be compared, and only with a paired test.

    Args:
        rows: Reviewed submissions.
        would_merge: Take what raters answered to "would you merge it", instead of what the axes imply.
    """
    line = [row for row in rows if row.golden is None]
    by_task: dict[str, list[tuple[bool, bool]]] = {}
    for row in line:
        if row.tests is not None and (people := _people(row, would_merge)) is not None:
            by_task.setdefault(row.task, []).append((row.tests, people))
    pairs = [pair for task in by_task.values() for pair in task]
    differences = [[float(tests) - float(people) for tests, people in task] for task in by_task.values()]
    n = len(pairs)
    both, tests_only = pairs.count((True, True)), pairs.count((True, False))
    people_only, neither = pairs.count((False, True)), pairs.count((False, False))
    return Gap(
        n=n,
        left_out=len(line) - n,
        tests=Proportion(both + tests_only, n),
        people=Proportion(both + people_only, n),
        both=both,
        tests_only=tests_only,
        people_only=people_only,
        neither=neither,
        difference=(tests_only - people_only) / n if n else None,
        interval=clustered_difference(differences),
        adjusted=agresti_min(tests_only, people_only, n),
        test=clustered_test(differences),
        enough=discordant_needed(),
        tests_interval=clustered_proportion([[tests for tests, _ in task] for task in by_task.values()]),
        people_interval=clustered_proportion([[people for _, people in task] for task in by_task.values()]),
        tasks=len(by_task),
    )


def _people(row: ItemSummary, would_merge: bool) -> bool | None:
    return row.would_merge if would_merge else row.mergeable


@dataclass(frozen=True, slots=True)
class Controls:
    """Acceptance of good controls, of bad ones, and of submissions; the last also over the first, with an interval."""

    good: Proportion
    bad: Proportion
    submissions: Proportion
    normalised: Figure
    interval: Interval


def controls(rows: Iterable[ItemSummary], would_merge: bool = True) -> Controls:
    """Count what was accepted among controls and submissions.

    Args:
        rows: Reviewed submissions and controls.
        would_merge: Take what raters answered to "would you merge it"; else what the axes imply.
    """
    line = list(rows)
    good, bad, others = (_accepted(line, kind, would_merge) for kind in (Golden.GOOD, Golden.BAD, None))
    ends = [clustered_proportion(_answers_by_task(line, kind, would_merge)) for kind in (None, Golden.GOOD)]
    figure, interval = normalised(others, good, *ends)
    return Controls(good, bad, others, figure, interval)


def normalised(
    rate: Proportion, golden: Proportion, of_rate: Interval | None = None, of_golden: Interval | None = None
) -> tuple[Figure, Interval]:
    """Return a rate over the acceptance of good controls: 34 % beside 68 % is 50 %.

    The interval of the ratio is that of A. Donner and G. Zou, "Closed-form confidence intervals for functions of the
    normal mean and standard deviation", Statistical Methods in Medical Research 21 (2012), 347-359, equation 9, from
    the intervals of both rates: Wilson's where none is given. It may exceed 1: agents can be accepted more often than
    people.
    """
    method = f"{rate.successes}/{rate.n} over {golden.successes}/{golden.n} of good controls"
    if not rate.n or not golden.n or not golden.successes:
        reason = "no submissions" if not rate.n else "no good control was accepted" if golden.n else "no good controls"
        nothing = f"there is no ratio: {reason}"
        return Figure(None, method, rate.n, nothing), Interval(None, None, method, rate.n, nothing)
    top, bottom = rate.successes / rate.n, golden.successes / golden.n
    figure = Figure(top / bottom, method, rate.n)
    above, below = of_rate or rate.interval, of_golden or golden.interval
    low = _limit(top, bottom, above.low or 0.0, below.high or 1.0, -1)
    high = _limit(top, bottom, 1.0 if above.high is None else above.high, below.low or 0.0, 1)
    return figure, Interval(max(0.0, low), high, "ratio, MOVER, 95%", rate.n)


def _limit(top: float, bottom: float, own: float, other: float, sign: int) -> float:
    product = top * bottom
    under = max(0.0, product**2 - own * other * (2 * top - own) * (2 * bottom - other))
    return (product + sign * sqrt(under)) / (other * (2 * bottom - other))


def _answers_by_task(rows: Iterable[ItemSummary], kind: Golden | None, would_merge: bool) -> list[list[bool]]:
    tasks: dict[str, list[bool]] = {}
    for row in rows:
        if row.golden is kind and (answer := _people(row, would_merge)) is not None:
            tasks.setdefault(row.task, []).append(answer)
    return list(tasks.values())


def _accepted(rows: Iterable[ItemSummary], kind: Golden | None, would_merge: bool) -> Proportion:
    known = [answer for task in _answers_by_task(rows, kind, would_merge) for answer in task]
    return Proportion(sum(known), len(known))
