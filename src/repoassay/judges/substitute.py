"""Whether a judge may stand in for people: refused, in one sentence, below a stated agreement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repoassay.judges.axis_figures import JudgeAxisFigures
from repoassay.stats import wilson

__all__ = ["FLOOR", "Substitute", "substitute"]

FLOOR = 0.6
"""The default floor of kappa's lower end.

Agreement from 0.6 on is what Landis and Koch (Biometrics 33, 1977) call substantial, people reach 0.88 and models 0.77
where both labelled failures with care (MAST, arXiv 2503.13657). That the lower end must reach it, not the estimate,
makes a few lucky cases too little: at a kappa of 0.7 it takes some two hundred.
"""


@dataclass(frozen=True, slots=True)
class Substitute:
    """`accepted` or not, and why, in one sentence."""

    accepted: bool
    floor: float
    sentence: str


def substitute(axes: Iterable[JudgeAxisFigures], floor: float = FLOOR) -> Substitute:
    """Say whether the judge agrees with people well enough, on every axis, to be counted in place of one.

    Cohen's kappa is what must reach the floor, by the lower end of its 95 % interval: exact agreement flatters where
    one label prevails. An axis on which it is undefined is not shown to agree.

    Args:
        axes: Figures of every axis asked about.
        floor: 0 to 1.

    Raises:
        ValueError: When the floor is impossible.
    """
    if not 0 <= floor <= 1:
        raise ValueError(f"a floor of {floor} is not between 0 and 1")
    line = list(axes)
    below = [(axis, low, why) for axis in line for low, why in [_lower(axis)] if low is None or low < floor]
    if not line:
        return Substitute(False, floor, "Refused as a substitute for people: nothing was compared.")
    if not below:
        return Substitute(
            True, floor, f"On every axis Cohen's kappa with people is at least {floor:g} by its 95 % interval."
        )
    axis, low, why = min(below, key=lambda each: -2.0 if each[1] is None else each[1])
    others = f", and so it is on {len(below) - 1} more" if len(below) > 1 else ""
    kappa = axis.kappa.figure
    if kappa.value is None or low is None:
        what = f"Cohen's kappa on {axis.key!r} is undefined ({(why or kappa.undefined).rstrip('.')})"
        others = others.replace("so it is", "too little agreement is shown")
    else:
        what = f"Cohen's kappa on {axis.key!r} is {kappa.value:.2f} (n = {axis.n}), from {low:.2f} on, below {floor:g}"
    return Substitute(False, floor, f"Refused as a substitute for people: {what}{others}.")


def _lower(axis: JudgeAxisFigures) -> tuple[float | None, str]:
    """Return the lower end of kappa's interval, or why there is none.

    Where every answer agrees the samples of a bootstrap do too; there the lower end of the share of agreement says how
    far kappa may be below 1, with chance as it was seen.
    """
    kappa, interval = axis.kappa.figure, axis.kappa.interval
    if kappa.value is None:
        return None, kappa.undefined
    if interval.low is not None:
        return interval.low, ""
    share = axis.percent.figure.value
    if share != 1 or not axis.positive:
        return None, interval.undefined
    shares = [axis.found + axis.false_alarm, axis.rejected + axis.missed]
    total = sum(shares)
    chance = sum((part / total) ** 2 for part in shares) if total else 1.0
    low = wilson(axis.n, axis.n).low
    if chance >= 1 or low is None:
        return None, interval.undefined
    return (low - chance) / (1 - chance), ""
