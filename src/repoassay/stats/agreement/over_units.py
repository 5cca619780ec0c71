"""The interval of an agreement coefficient: percentile bootstrap over units, whose raters' labels stay together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from random import Random

from repoassay.stats.agreement.ratings import Ratings
from repoassay.stats.figure import Figure
from repoassay.stats.intervals import Interval

__all__ = ["agreement_interval"]


def agreement_interval(
    ratings: Ratings,
    coefficient: Callable[[Ratings], Figure],
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap of a coefficient, drawing units with all their ratings.

    Args:
        ratings: Units, each with what its raters said.
        coefficient: Such as `krippendorff_alpha`, or a lambda that fixes its scale and categories.
        confidence: Two-sided level, strictly between 0 and 1.
        draws: Samples drawn, at least 100.
        seed: The same seed gives the same interval.

    Returns:
        The interval; `n` counts the units of the coefficient. Undefined where the coefficient is, where every sample
        has the same value, and where more than a twentieth of the samples have none; `note` says how many had none.

    Raises:
        ValueError: When the level or the number of draws is impossible, or the coefficient cannot take the ratings.
    """
    if not 0 < confidence < 1 or draws < 100:
        raise ValueError(f"a bootstrap of {draws} draws at a confidence of {confidence} is impossible")
    found = coefficient(ratings)
    method = f"percentile bootstrap over units, {draws} draws, seed {seed}, {confidence * 100:g}%"
    if not found.defined:
        return Interval(None, None, method, found.n, found.undefined)
    # A unit without two ratings is drawn as well: it is part of what was sampled.
    random = Random(seed)  # noqa: S311 - a seeded sample, not a secret
    units: list[Sequence[Hashable | None]] = list(ratings)
    values = [coefficient(random.choices(units, k=len(units))).value for _ in range(draws)]
    known = sorted(value for value in values if value is not None)
    missing = draws - len(known)
    if missing > draws / 20:
        reason = f"{missing} of {draws} samples have no value: there is too little variation to draw from"
        return Interval(None, None, method, found.n, reason)
    if known[0] == known[-1]:
        return Interval(None, None, method, found.n, f"no variation: every sample has the value {known[0]:g}")
    tail = (1 - confidence) / 2
    low, high = known[int(tail * len(known))], known[min(len(known) - 1, int((1 - tail) * len(known)))]
    note = f"{missing} of {draws} samples have no value and are left out" if missing else ""
    return Interval(low, high, method, found.n, note=note)
