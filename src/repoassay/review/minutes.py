"""Minutes it would take to make submissions mergeable: how they lie, and what share of a human's time they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean, median

from repoassay.review.item_summary import ItemSummary
from repoassay.stats import Figure, Interval, bootstrap_mean

__all__ = ["Minutes", "minutes_of", "minutes_to_fix"]


@dataclass(frozen=True, slots=True)
class Minutes:
    """Minutes over `n` submissions. `unknown` ones have none stated.

    `interval` is of the mean, drawing tasks. `share` is the mean over the mean of the human's minutes, on the
    submissions where both are known.
    """

    n: int
    unknown: int
    mean: float | None
    median: float | None
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
    return Minutes(
        n=len(values),
        unknown=len(rows) - len(values),
        mean=fmean(values) if values else None,
        median=median(values) if values else None,
        geometric_mean=_geometric(values),
        minimum=min(values, default=None),
        maximum=max(values, default=None),
        interval=bootstrap_mean(list(tasks.values())),
        share=_share(known),
    )


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
