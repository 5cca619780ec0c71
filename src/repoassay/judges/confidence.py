"""Whether a judge's share of votes means what it says: Brier's score and the expected calibration error.

G. W. Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78 (1950), 1-3; M. P.
Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from repoassay.stats import Figure

__all__ = ["BINS", "brier", "calibration_error"]

BINS = 10
"""Bins of equal width; a share of exactly 1 is in the last."""


def brier(pairs: Sequence[tuple[float, bool]]) -> Figure:
    """The mean squared distance of the share from the truth: 0 is perfect, a constant 0.5 gives 0.25.

    Args:
        pairs: The share of samples that say there is a problem, and whether people say so.
    """
    method = "Brier score of the vote share"
    if not pairs:
        return Figure(None, method, 0, "no item has both a vote and people's label")
    return Figure(fsum((share - truth) ** 2 for share, truth in pairs) / len(pairs), method, len(pairs))


def calibration_error(pairs: Sequence[tuple[float, bool]], bins: int = BINS) -> Figure:
    """The mean distance, weighted by cases, between the mean share of a bin and how often people say so in it.

    Args:
        pairs: As for `brier`.
        bins: Of equal width, from 0 to 1.
    """
    method = f"expected calibration error, {bins} bins"
    if not pairs:
        return Figure(None, method, 0, "no item has both a vote and people's label")
    held: dict[int, list[tuple[float, bool]]] = {}
    for share, truth in pairs:
        held.setdefault(min(bins - 1, int(share * bins)), []).append((share, truth))
    apart = fsum(abs(fsum(share for share, _ in each) - sum(truth for _, truth in each)) for each in held.values())
    return Figure(apart / len(pairs), method, len(pairs))
