"""Controls: how often raters accept changes known to be acceptable, and what a rate is worth beside that.

METR's study of 2026-03-10 mixed human changes among agents'; maintainers accepted 68 % of them, and the rates of agents
are read against that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from repoassay.review.item_summary import ItemSummary
from repoassay.review.study import Golden
from repoassay.stats import Figure, Interval, Proportion

__all__ = ["Controls", "controls", "normalised"]


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
    figure, interval = normalised(others, good)
    return Controls(good, bad, others, figure, interval)


def normalised(rate: Proportion, golden: Proportion) -> tuple[Figure, Interval]:
    """Return a rate over the acceptance of good controls: 34 % beside 68 % is 50 %.

    The interval of the ratio is that of A. Donner and G. Zou, "Closed-form confidence intervals for functions of the
    normal mean and standard deviation", Statistical Methods in Medical Research 21 (2012), 347-359, equation 9, from
    the two Wilson intervals. It may exceed 1: agents can be accepted more often than people.
    """
    method = f"{rate.successes}/{rate.n} over {golden.successes}/{golden.n} of good controls"
    if not rate.n or not golden.n or not golden.successes:
        reason = "no submissions" if not rate.n else "no good control was accepted" if golden.n else "no good controls"
        nothing = f"there is no ratio: {reason}"
        return Figure(None, method, rate.n, nothing), Interval(None, None, method, rate.n, nothing)
    top, bottom = rate.successes / rate.n, golden.successes / golden.n
    figure = Figure(top / bottom, method, rate.n)
    above, below = rate.interval, golden.interval
    low = _limit(top, bottom, above.low or 0.0, below.high or 1.0, -1)
    high = _limit(top, bottom, 1.0 if above.high is None else above.high, below.low or 0.0, 1)
    return figure, Interval(max(0.0, low), high, "ratio, MOVER of Wilson, 95%", rate.n)


def _limit(top: float, bottom: float, own: float, other: float, sign: int) -> float:
    product = top * bottom
    under = max(0.0, product**2 - own * other * (2 * top - own) * (2 * bottom - other))
    return (product + sign * sqrt(under)) / (other * (2 * bottom - other))


def _accepted(rows: Iterable[ItemSummary], kind: Golden | None, asked: bool) -> Proportion:
    answers = [row.would_merge if asked else row.mergeable for row in rows if row.golden is kind]
    known = [answer for answer in answers if answer is not None]
    return Proportion(sum(known), len(known))
