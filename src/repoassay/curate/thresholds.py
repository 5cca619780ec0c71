"""Thresholds that are measured: between the worst of the outputs to accept and the best of those to refuse.

Every output to refuse must lie at least `MARGIN` away from the worst output to accept by one criterion; that is the
criterion that refuses it. The margin of two values is their difference over the larger of their magnitudes. The line is
drawn at a fifth of the way from the worst to accept to the best to refuse, so that what lies between the two, and was
never seen, is rather refused; counts that are the same of all outputs to accept may not change by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["MARGIN", "MeasuredCriterion", "Threshold", "measure_thresholds", "relative_margin"]

MARGIN = 0.2
"""The least share by which the best output to refuse must miss the worst one to accept."""


@dataclass(frozen=True, slots=True)
class MeasuredCriterion:
    """One criterion's values: of outputs to accept and of those to refuse, by name; None where there was no value.

    `side` is the side on which good values lie: at_least, at_most, or equals.
    """

    name: str
    side: str
    good: Mapping[str, float | None]
    bad: Mapping[str, float | None]

    @property
    def worst_good(self) -> float:
        """The value of the worst output to accept."""
        values = [value for value in self.good.values() if value is not None]
        return max(values) if self.side == "at_most" else min(values)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Where a criterion draws the line: `value` on its side, by what margin, and what it refuses."""

    side: str
    value: float
    worst_good: float
    best_bad: float | None
    margin: float
    refuses: tuple[str, ...]


def measure_thresholds(criteria: Sequence[MeasuredCriterion]) -> tuple[list[Threshold | None], list[str]]:
    """Place a threshold for each criterion, None where it refuses nothing; and sentences on what makes them thin."""
    problems = [*_without_value(criteria)]
    if problems:
        return [None] * len(criteria), problems
    thresholds = [_place(each) for each in criteria]
    refused = {name for each in thresholds if each for name in each.refuses}
    for name in criteria[0].bad if criteria else ():
        if name not in refused:
            nearest = max(criteria, key=lambda each: _bad_margin(each, name))
            problems.append(
                f"{name} is to be refused, and by its best criterion ({nearest.name}) it misses the worst output to"
                f" accept by {max(0.0, _bad_margin(nearest, name)):.0%}, less than {MARGIN:.0%}"
            )
    return thresholds, problems


def relative_margin(value: float, reference: float, side: str) -> float:
    """How far a value lies on the wrong side of one to accept, as a share of the larger magnitude."""
    if side == "equals":
        return float(reference != value)
    scale = max(abs(reference), abs(value))
    difference = reference - value if side == "at_least" else value - reference
    return difference / scale if scale else 0.0


def _without_value(criteria: Sequence[MeasuredCriterion]) -> list[str]:
    problems = []
    for each in criteria:
        lacking = [name for name, value in each.good.items() if value is None]
        if lacking:
            problems.append(f"{lacking[0]} is to be accepted, and {each.name} has no value of it")
        elif each.side == "equals" and len(set(each.good.values())) > 1:
            problems.append(f"{each.name} is not the same of all outputs to accept, so it cannot be asked to be equal")
    return problems


def _bad_margin(criterion: MeasuredCriterion, name: str) -> float:
    value = criterion.bad[name]
    return 1.0 if value is None or math.isnan(value) else relative_margin(value, criterion.worst_good, criterion.side)


def _place(criterion: MeasuredCriterion) -> Threshold | None:
    refuses = tuple(name for name in criterion.bad if _bad_margin(criterion, name) >= MARGIN)
    if not refuses:
        return None
    good = criterion.worst_good
    margin = min(_bad_margin(criterion, name) for name in refuses)
    values = [value for name in refuses if (value := criterion.bad[name]) is not None and not math.isnan(value)]
    if criterion.side == "equals":
        return Threshold("equals", good, good, None, margin, refuses)
    if not values:
        return Threshold(criterion.side, good, good, None, margin, refuses)
    best = max(values) if criterion.side == "at_least" else min(values)
    return Threshold(criterion.side, _limit(criterion, good, best), good, best, margin, refuses)


def _limit(criterion: MeasuredCriterion, good: float, bad: float) -> float:
    """Where the line is drawn: half a count off where counts of right outputs never vary, else near the good side."""
    values = [value for value in (*criterion.good.values(), *criterion.bad.values()) if value is not None]
    steady = len(set(criterion.good.values())) == 1
    if steady and all(value == round(value) for value in values if not math.isnan(value)):
        return good + math.copysign(0.5, bad - good)
    return _short(good + MARGIN * (bad - good), abs(good - bad) * MARGIN / 2)


def _short(value: float, room: float) -> float:
    """A value near another, within some room, that has as few digits as possible."""
    for digits in range(1, 17):
        rounded = float(f"{value:.{digits}g}")
        if abs(rounded - value) <= room:
            return rounded
    return value
