"""How far alpha could be off: market values have ranges, raters disagree, and the tasks are a sample.

The three are kept apart, because they are different things: the first two say what other judgements of the same tasks
give, the third what other tasks might have given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random

from repoassay.economics.net_benefit import Alpha, AlphaRow, Success, alpha, worth
from repoassay.economics.quality import Quality, QualitySource
from repoassay.types import Economics

__all__ = ["DollarInterval", "ValueRange", "bootstrap", "quality_readings", "range_of_alpha", "value_range"]

_AS_RULED = "as ruled"


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Alpha where every task is worth the low end, the value itself, and the high end of its range.

    `fixed` of the tasks with a value have no range (low and high are the value), so they add nothing to the width.
    """

    low: Alpha
    value: Alpha
    high: Alpha
    fixed: int


@dataclass(frozen=True, slots=True)
class DollarInterval:
    """A two-sided interval in US dollars over `n` tasks.

    Where none is honest both ends are None and `method` is "undefined: " and the reason.
    """

    low: Decimal | None
    high: Decimal | None
    method: str
    n: int


def value_range(rows: Iterable[AlphaRow], success: Success = Success.EXECUTED) -> ValueRange:
    """Alpha at the ends of the market values' ranges, all tasks moved together."""
    attempts = list(rows)
    values = {row.task: row.value for row in attempts if row.value is not None}
    return ValueRange(
        low=alpha(_at(attempts, lambda worthy: worthy.low), success),
        value=alpha(attempts, success),
        high=alpha(_at(attempts, lambda worthy: worthy.high), success),
        fixed=sum(worthy.low == worthy.high for worthy in values.values()),
    )


def _at(rows: Sequence[AlphaRow], end: Callable[[Economics], Decimal]) -> list[AlphaRow]:
    return [
        row if row.value is None else replace(row, value=row.value.model_copy(update={"value": end(row.value)}))
        for row in rows
    ]


def quality_readings(rows: Iterable[AlphaRow], success: Success = Success.EXECUTED) -> dict[str, Alpha]:
    """Alpha under each reading of the ratings: as ruled, median, mean, and each rater alone ("rater: NAME").

    A rater's reading leaves out the attempts that others rated and they did not (named as "no quality"). Qualities by
    Result are the same in every reading. Without ratings there is only the first reading.
    """
    attempts = list(rows)
    readings = {_AS_RULED: alpha(attempts, success)}
    rated = [row.quality for row in attempts if row.quality is not None and row.quality.ratings]
    if not rated:
        return readings
    readings["median"] = alpha(_reread(attempts, lambda quality: quality.median), success)
    readings["mean"] = alpha(_reread(attempts, lambda quality: quality.mean), success)
    raters = sorted({rater for quality in rated for rater, _ in quality.ratings})
    for rater in raters:
        readings[f"rater: {rater}"] = alpha(_reread(attempts, _read_by(rater)), success)
    return readings


def _read_by(rater: str) -> Callable[[Quality], Decimal | None]:
    return lambda quality: quality.by_rater(rater)


def _reread(rows: Sequence[AlphaRow], read: Callable[[Quality], Decimal | None]) -> list[AlphaRow]:
    reread: list[AlphaRow] = []
    for row in rows:
        if row.quality is None or row.quality.source is QualitySource.BY_RESULT:
            reread.append(row)
            continue
        level = read(row.quality)
        reread.append(replace(row, quality=None if level is None else replace(row.quality, level=level)))
    return reread


def range_of_alpha(rows: Iterable[AlphaRow], success: Success = Success.EXECUTED) -> tuple[Decimal, Decimal] | None:
    """Least and greatest alpha over the ends of the value ranges and the readings as ruled, median and mean together.

    None where no attempt has every figure. Single raters are not in it: they may have rated different tasks.
    """
    attempts = list(rows)
    readings: tuple[Callable[[Quality], Decimal | None], ...] = (
        lambda quality: quality.level,
        lambda quality: quality.median,
        lambda quality: quality.mean,
    )
    ends: tuple[Callable[[Economics], Decimal], ...] = (lambda worthy: worthy.low, lambda worthy: worthy.high)
    means = [alpha(_at(_reread(attempts, read), end), success).mean for read in readings for end in ends]
    known = [mean for mean in means if mean is not None]
    return (min(known), max(known)) if known else None


def bootstrap(
    rows: Iterable[AlphaRow],
    success: Success = Success.EXECUTED,
    *,
    seed: int = 0,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> DollarInterval:
    """Percentile bootstrap of alpha over tasks: tasks are drawn with replacement, each with all of its attempts.

    Refused ("undefined", with the reason) below two tasks, and where every task came to the same: its width would then
    be 0, which says nothing of tasks that were not tried.

    Args:
        rows: Attempts; those without every figure are left out.
        success: What counts as T.
        seed: Of the random draws: the same rows and seed give the same interval.
        resamples: Draws, at least 100.
        confidence: Two-sided level, strictly between 0 and 1.

    Raises:
        ValueError: When `resamples` or `confidence` is out of range.
    """
    if resamples < 100:
        raise ValueError(f"{resamples} resamples are too few; take at least 100")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not strictly between 0 and 1")
    tasks: dict[str, list[Decimal]] = {}
    for row in rows:
        net = worth(row, success).net
        if net is not None:
            tasks.setdefault(row.task, []).append(net)
    sums = [(sum(nets, Decimal(0)), len(nets)) for _, nets in sorted(tasks.items())]
    if len(sums) < 2:
        return DollarInterval(None, None, "undefined: fewer than two tasks", len(sums))
    if len({total / count for total, count in sums}) == 1:
        return DollarInterval(None, None, "undefined: every task came to the same", len(sums))
    # Not for secrets: a seeded generator is what makes the interval reproducible.
    draw = Random(seed)  # noqa: S311
    means: list[Decimal] = []
    for _ in range(resamples):
        drawn = draw.choices(sums, k=len(sums))
        means.append(sum((total for total, _ in drawn), Decimal(0)) / sum(count for _, count in drawn))
    means.sort()
    tail = (1 - confidence) / 2
    low, high = means[int(tail * (resamples - 1))], means[-1 - int(tail * (resamples - 1))]
    method = f"percentile bootstrap over tasks, {resamples} resamples, seed {seed}, {confidence * 100:g}%"
    return DollarInterval(low, high, method, len(sums))
