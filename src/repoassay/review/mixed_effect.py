"""Two systems by a mixed model of single ratings: the odds of being mergeable, beside the difference of rates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from repoassay.errors import MissingExtra
from repoassay.review.study import HiddenPart
from repoassay.stats import Interval, MixedLogistic, Significance, fit_mixed_logistic
from repoassay.types import Rating

__all__ = ["mixed_effect"]


def mixed_effect(
    ratings: Iterable[Rating], hidden_parts: Mapping[str, HiddenPart], names: Mapping[str, str], first: str, second: str
) -> MixedLogistic:
    """Fit the odds of `first` against `second`, with random intercepts for task, task by system, submission and rater.

    Args:
        ratings: Of the items that count; what they say of merging is derived from the axes, or else what was asked.
        hidden_parts: The hidden half of each item; controls are left aside.
        names: The system of each item.
        first: One system.
        second: Another.
    """
    answers: list[bool] = []
    mine: list[bool] = []
    places: dict[str, list[object]] = {"task": [], "task by system": [], "submission": [], "rater": []}
    for rating in ratings:
        item, system = hidden_parts[rating.submission], names[rating.submission]
        answer = rating.mergeable if rating.mergeable is not None else rating.would_merge
        if item.golden is not None or answer is None or system not in (first, second):
            continue
        answers.append(answer)
        mine.append(system == first)
        cell = (item.task, item.task + "\0" + system, rating.submission, rating.rater)
        for values, value in zip(places.values(), cell, strict=True):
            values.append(value)
    try:
        return fit_mixed_logistic(answers, mine, places)
    except MissingExtra as error:
        reason = f"not fitted: {error}"
        nothing = Interval(None, None, "logistic mixed model", 0, reason)
        return MixedLogistic(None, nothing, Significance(None, None, nothing.method, 0, reason), {}, False, 0)
