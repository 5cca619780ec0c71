"""How far passing tests overstates being mergeable: on the same submissions, and carried over to those not reviewed.

Controls are changes known to be acceptable, mixed among the submissions: METR's study of 2026-03-10 mixed human changes
among agents'; maintainers accepted 68 % of them, and the rates of agents are read against that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    wilson,
)

__all__ = ["Controls", "Extrapolated", "Gap", "controls", "extrapolate", "gap", "normalised"]


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


@dataclass(frozen=True, slots=True)
class Extrapolated:
    """The rate among all runs, estimated from the reviewed ones within those that passed tests and those that failed.

    `value` is None, with the reason in `undefined`, where a stratum with runs has no reviewed one.
    """

    value: float | None
    interval: Interval
    of_passing: Proportion
    of_failing: Proportion
    passing: int
    failing: int
    undefined: str = ""


def gap(rows: Iterable[ItemSummary], asked: bool = False) -> Gap:
    """Compare tests with people, pair by pair; controls are left aside.

    METR's comparison ("Algorithmic vs. holistic evaluation", 2025-08-12) sets 38 % of 18 tasks beside 0 of 15 reviewed
    ones; only the rates on the same submissions may be compared, and only with a paired test.

    Args:
        rows: Reviewed submissions.
        asked: Take what raters answered to "would you merge it", instead of what the axes imply.
    """
    line = [row for row in rows if row.golden is None]
    by_task: dict[str, list[tuple[bool, bool]]] = {}
    for row in line:
        if row.tests is not None and (people := _people(row, asked)) is not None:
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


def extrapolate(
    rows: Iterable[ItemSummary],
    passing: int,
    failing: int,
    asked: bool = False,
    interval: Callable[[int, int], Interval] = wilson,
) -> Extrapolated:
    """Estimate the mergeable rate of all runs from the reviewed ones, post-stratified on whether tests passed.

    The interval combines those of the two strata by the method of variance estimates recovery (G. Zou and A. Donner,
    Statistics in Medicine 27 (2008), 1693-1702), which keeps their asymmetry at small n. It holds the shares of passing
    and failing runs fixed.

    Args:
        rows: Reviewed submissions, sampled at random within each stratum.
        passing: How many of all runs passed tests.
        failing: How many did not.
        asked: As in `gap`.
        interval: Of a proportion; given successes and n.

    Raises:
        ValueError: When a count is negative.
    """
    if min(passing, failing) < 0:
        raise ValueError("a count of runs cannot be negative")
    line = [row for row in rows if row.golden is None]
    strata = {}
    for tests in (True, False):
        answers = [people for row in line if row.tests is tests and (people := _people(row, asked)) is not None]
        strata[tests] = Proportion(sum(answers), len(answers))
    total = passing + failing
    reason = _reason(strata, passing, failing)
    if reason:
        nothing = Interval(None, None, "undefined", 0, reason)
        return Extrapolated(None, nothing, strata[True], strata[False], passing, failing, reason)
    value = below = above = 0.0
    for tests, count in ((True, passing), (False, failing)):
        if not count:
            continue
        stratum, weight = strata[tests], count / total
        share, ends = stratum.successes / stratum.n, interval(stratum.successes, stratum.n)
        value += weight * share
        below += (weight * (share - (ends.low or 0.0))) ** 2
        above += (weight * ((1.0 if ends.high is None else ends.high) - share)) ** 2
    n = sum(each.n for each in strata.values())
    ends = Interval(
        max(0.0, value - sqrt(below)),
        min(1.0, value + sqrt(above)),
        "post-stratified on tests, MOVER of Wilson, 95%",
        n,
    )
    return Extrapolated(value, ends, strata[True], strata[False], passing, failing)


def _people(row: ItemSummary, asked: bool) -> bool | None:
    return row.would_merge if asked else row.mergeable


def _reason(strata: dict[bool, Proportion], passing: int, failing: int) -> str:
    if not passing + failing:
        return "there are no runs"
    for tests, count, name in ((True, passing, "passed"), (False, failing, "failed")):
        if count and not strata[tests].n:
            return f"none of the {count} runs whose tests {name} was reviewed"
    return ""


@dataclass(frozen=True, slots=True)
class Controls:
    """Acceptance of good controls, of bad ones, and of submissions; the last also over the first, with an interval."""

    good: Proportion
    bad: Proportion
    submissions: Proportion
    normalised: Figure
    interval: Interval


def controls(rows: Iterable[ItemSummary], asked: bool = True) -> Controls:
    """Count what was accepted among controls and submissions.

    Args:
        rows: Reviewed submissions and controls.
        asked: Take what raters answered to "would you merge it"; else what the axes imply.
    """
    line = list(rows)
    good, bad, others = (_accepted(line, kind, asked) for kind in (Golden.GOOD, Golden.BAD, None))
    ends = [clustered_proportion(_answers_by_task(line, kind, asked)) for kind in (None, Golden.GOOD)]
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


def _answers_by_task(rows: Iterable[ItemSummary], kind: Golden | None, asked: bool) -> list[list[bool]]:
    tasks: dict[str, list[bool]] = {}
    for row in rows:
        if row.golden is kind and (answer := _people(row, asked)) is not None:
            tasks.setdefault(row.task, []).append(answer)
    return list(tasks.values())


def _accepted(rows: Iterable[ItemSummary], kind: Golden | None, asked: bool) -> Proportion:
    known = [answer for task in _answers_by_task(rows, kind, asked) for answer in task]
    return Proportion(sum(known), len(known))
