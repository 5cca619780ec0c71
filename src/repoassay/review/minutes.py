"""Minutes it would take to make submissions mergeable: how they lie, and what share of a human's time they are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, geometric_mean, median, quantiles

from repoassay.review.item_summary import ItemSummary
from repoassay.stats import (
    Figure,
    Interval,
    Proportion,
    Significance,
    clustered_mean,
    clustered_proportion,
    clustered_test,
    skewed_mean,
)

__all__ = ["Minutes", "MinutesDifference", "minutes_difference", "minutes_of", "minutes_to_fix"]


@dataclass(frozen=True, slots=True)
class Minutes:
    """Minutes over `n` submissions. `unknown` ones have none stated.

    `interval` is of the mean, `median_interval` of the median; both take tasks as the sample. `none` are submissions
    that need no minutes. `lower` and `upper` are the quartiles. `share` is the mean over the mean of the human's
    minutes, on the submissions where both are known.
    """

    n: int
    unknown: int
    mean: float | None
    median: float | None
    median_interval: Interval
    lower: float | None
    upper: float | None
    none: Proportion
    none_interval: Interval
    geometric_mean: Figure
    minimum: float | None
    maximum: float | None
    interval: Interval
    share: Figure


def minutes_to_fix(rows: Iterable[ItemSummary]) -> dict[str, Minutes]:
    """Return minutes to fix overall (`all`), and of submissions whose tests passed (`passing`) and failed (`failing`).

    Controls are left aside.
    """
    line = [row for row in rows if row.golden is None]
    return {
        "all": minutes_of(line),
        "passing": minutes_of([row for row in line if row.tests is True]),
        "failing": minutes_of([row for row in line if row.tests is False]),
    }


def minutes_of(rows: Sequence[ItemSummary]) -> Minutes:
    """Return how the minutes of these rows lie."""
    known = [row for row in rows if row.minutes is not None]
    values = [row.minutes for row in known if row.minutes is not None]
    tasks: dict[str, list[float]] = {}
    for row, value in zip(known, values, strict=True):
        tasks.setdefault(row.task, []).append(value)
    quartiles = _quartiles(values)
    return Minutes(
        n=len(values),
        unknown=len(rows) - len(values),
        mean=fmean(values) if values else None,
        median=median(values) if values else None,
        median_interval=_median_interval(list(tasks.values())),
        lower=quartiles[0],
        upper=quartiles[1],
        none=Proportion(sum(value <= 0 for value in values), len(values)),
        none_interval=clustered_proportion([[value <= 0 for value in task] for task in tasks.values()]),
        geometric_mean=_geometric(values),
        minimum=min(values, default=None),
        maximum=max(values, default=None),
        interval=_above_zero(skewed_mean(list(tasks.values()))),
        share=_share(known),
    )


@dataclass(frozen=True, slots=True)
class MinutesDifference:
    """Minutes of a first system minus a second's: the mean over common tasks, each of which counts once."""

    tasks: int
    difference: float | None
    interval: Interval
    test: Significance


def minutes_difference(first: Sequence[ItemSummary], second: Sequence[ItemSummary]) -> MinutesDifference:
    """Compare minutes to fix of two systems, paired by task; the test flips signs by task."""
    ours, theirs = _by_task(first), _by_task(second)
    values = [[fmean(ours[task]) - fmean(theirs[task])] for task in sorted(ours.keys() & theirs.keys())]
    mean = fmean(value for [value] in values) if values else None
    return MinutesDifference(len(values), mean, clustered_mean(values).interval, clustered_test(values))


def _by_task(rows: Iterable[ItemSummary]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.minutes is not None:
            found.setdefault(row.task, []).append(row.minutes)
    return found


def _quartiles(values: Sequence[float]) -> tuple[float | None, float | None]:
    if len(values) < 2:
        return (values[0], values[0]) if values else (None, None)
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return lower, upper


def _above_zero(ends: Interval) -> Interval:
    """Without what no number of minutes can be."""
    return ends if ends.low is None else replace(ends, low=max(0.0, ends.low))


def _median_interval(tasks: Sequence[Sequence[float]]) -> Interval:
    """The values of which the share below may be one half (R. S. Woodruff, JASA 47 (1952), 635-646), by task."""
    every = sorted(value for task in tasks for value in task)
    method = "Woodruff's of the median, task-clustered, 95%"
    if not every:
        return Interval(None, None, method, 0, "no submission has minutes")
    values = sorted(set(every))

    def beyond(place: int, sign: int) -> float:
        edge = sign * values[place]
        return clustered_proportion([[sign * one > edge for one in task] for task in tasks]).low or 0.0

    low = bisect_left(range(len(values)), -0.5, key=lambda place: -beyond(place, 1))
    high = bisect_right(range(len(values)), 0.5, key=lambda place: beyond(place, -1)) - 1
    return Interval(values[low], values[max(low, high)], method, len(tasks))


def _geometric(values: Sequence[float]) -> Figure:
    method = "geometric mean"
    if not values:
        return Figure(None, method, 0, "no submission has minutes")
    if min(values) <= 0:
        zeros = sum(value <= 0 for value in values)
        return Figure(None, method, len(values), f"{zeros} of {len(values)} need no minutes, and a product with 0 is 0")
    return Figure(geometric_mean(values), method, len(values))


def _share(rows: Sequence[ItemSummary]) -> Figure:
    method = "mean minutes to fix over mean human minutes"
    pairs = [(row.minutes, row.human_minutes) for row in rows if row.minutes is not None and row.human_minutes]
    if not pairs:
        return Figure(None, method, 0, "no submission has both minutes to fix and human minutes")
    return Figure(sum(fix for fix, _ in pairs) / sum(human for _, human in pairs if human), method, len(pairs))
