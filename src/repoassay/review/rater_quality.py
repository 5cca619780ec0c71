"""Raters held against what is known: controls they caught, and whether severity or accuracy moves as they go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from repoassay.review.rubric import AnswerRole, Rubric
from repoassay.review.study import Golden, HiddenPart
from repoassay.stats import Proportion, Significance, holm, two_sample_permutation
from repoassay.types import Rating

__all__ = ["DRIFT_LEVEL", "ControlAccuracy", "RaterDrift", "control_accuracy", "rater_drift"]

DRIFT_LEVEL = 0.05
"""A rater is shown as drifting when the p-value, adjusted for all raters and both measures, is below."""


@dataclass(frozen=True, slots=True)
class ControlAccuracy:
    """One rater at the controls.

    `refused` counts known-bad changes that the rater would not merge; `located` those where a problem was seen on the
    very axis the fault was put into; `attention` changes so bad that whoever reads them refuses; `accepted` known-good
    ones that the rater would merge (not all of these deserve it: it is a yardstick, no error rate).
    """

    rater: str
    refused: Proportion
    located: Proportion
    attention: Proportion
    accepted: Proportion


@dataclass(frozen=True, slots=True)
class RaterDrift:
    """First half of a rater's ratings beside the second. `before` and `after` are means of the measure.

    The measure is `severity` (share of problems minus the others' on the same item) or `controls` (share answered
    right). `adjusted` is the p-value after Holm over everything tested; `alarm` says that it is below `DRIFT_LEVEL`.
    """

    rater: str
    measure: str
    before: float | None
    after: float | None
    test: Significance
    adjusted: float | None
    alarm: bool


def control_accuracy(
    ratings: Iterable[Rating], hidden_parts: Mapping[str, HiddenPart], rubric: Rubric
) -> tuple[ControlAccuracy, ...]:
    """Return one line a rater who rated a control; give one rating a rater and item."""
    by_rater: dict[str, list[Rating]] = {}
    for rating in ratings:
        if rating.submission in hidden_parts and hidden_parts[rating.submission].golden is not None:
            by_rater.setdefault(rating.rater, []).append(rating)
    found = []
    for rater, line in sorted(by_rater.items()):
        refused: list[bool] = []
        located: list[bool] = []
        attention: list[bool] = []
        accepted: list[bool] = []
        for rating in line:
            control = hidden_parts[rating.submission]
            merges = rating.would_merge if rating.would_merge is not None else rating.mergeable
            if control.golden is Golden.GOOD:
                accepted += [merges] if merges is not None else []
                continue
            if merges is not None:
                (attention if control.evidence.get("gross") else refused).append(not merges)
            axis = str(control.evidence.get("axis", ""))
            if axis in rating.axes:
                located.append(rubric.level(axis, rating.axes[axis].state).role is AnswerRole.PROBLEM)
        counts = [Proportion(sum(flags), len(flags)) for flags in (refused, located, attention, accepted)]
        found.append(ControlAccuracy(rater, *counts))
    return tuple(found)


def rater_drift(
    ratings: Iterable[Rating], hidden_parts: Mapping[str, HiddenPart], rubric: Rubric, seed: int = 0
) -> tuple[RaterDrift, ...]:
    """Test each rater's severity and accuracy for a change between the halves of their order.

    Severity is taken beside the others on the same items, so that harder items late in an order are no drift.
    """
    line = sorted(ratings, key=lambda rating: (rating.submitted, rating.id))
    rows = []
    for rater in sorted({rating.rater for rating in line}):
        mine = [rating for rating in line if rating.rater == rater]
        others = [rating for rating in line if rating.rater != rater]
        for measure, values in (
            ("severity", _beside_others(mine, others, rubric)),
            ("controls", _right_on_controls(mine, hidden_parts)),
        ):
            first, second = values[: len(values) // 2], values[len(values) - len(values) // 2 :]
            test = two_sample_permutation(first, second, seed=seed)
            rows.append((rater, measure, first, second, test))
    adjusted = holm([test.p_value for *_, test in rows])
    found = []
    for (rater, measure, first, second, test), value in zip(rows, adjusted, strict=True):
        means = [fmean(part) if part else None for part in (first, second)]
        alarm = value is not None and value < DRIFT_LEVEL
        found.append(RaterDrift(rater, measure, means[0], means[1], test, value, alarm))
    return tuple(found)


def _beside_others(mine: Sequence[Rating], others: Sequence[Rating], rubric: Rubric) -> list[float]:
    found = []
    for rating in mine:
        own = _problems(rating, rubric)
        beside = [share for each in others if each.submission == rating.submission
                  if (share := _problems(each, rubric)) is not None]  # fmt: skip
        if own is not None and beside:
            found.append(own - fmean(beside))
    return found


def _right_on_controls(mine: Sequence[Rating], hidden: Mapping[str, HiddenPart]) -> list[float]:
    found = []
    for rating in mine:
        control = hidden[rating.submission].golden if rating.submission in hidden else None
        merges = rating.would_merge if rating.would_merge is not None else rating.mergeable
        if control is not None and merges is not None:
            found.append(float(merges == (control is Golden.GOOD)))
    return found


def _problems(rating: Rating, rubric: Rubric) -> float | None:
    roles = [rubric.level(axis, answer.state).role for axis, answer in rating.axes.items()]
    clear, bad = roles.count(AnswerRole.CLEAR), roles.count(AnswerRole.PROBLEM)
    return bad / (bad + clear) if bad + clear else None
