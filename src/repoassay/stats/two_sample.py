"""The two-sample permutation test: do two groups of numbers differ in their mean by more than chance?

If they were alike, each split of all numbers into groups of these sizes would be as likely (E. J. G. Pitman, Supplement
to the Journal of the Royal Statistical Society 4 (1937), 119-130). All splits are tried where these are few; else they
are drawn, and the observed one counts as one of the draws (B. Phipson and G. K. Smyth, Statistical Applications in
Genetics and Molecular Biology 9 (2010), article 39).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, fsum, isfinite
from random import Random

from repoassay.stats.figure import Significance

__all__ = ["two_sample_permutation"]

_MOST_SPLITS = 50_000
_TIE = 1e-12


def two_sample_permutation(
    first: Sequence[float], second: Sequence[float], draws: int = 10_000, seed: int = 0
) -> Significance:
    """Two-sided test that two groups have one mean; `statistic` is the second mean minus the first.

    Args:
        first: Numbers of one group.
        second: Of the other.
        draws: Random splits where not all can be tried, at least 100.
        seed: The same seed gives the same p-value.

    Raises:
        ValueError: When a number is not finite or there are too few draws.
    """
    every = [*first, *second]
    if draws < 100 or not all(isfinite(one) for one in every):
        raise ValueError(f"a permutation test needs 100 draws, not {draws}, and numbers that are finite")
    size, n, total = len(first), len(every), fsum(every)
    if not first or not second:
        return Significance(None, None, "two-sample permutation", n, "a group is empty")

    def difference(group: Sequence[float]) -> float:
        part = fsum(group)
        return (total - part) / (n - size) - part / size

    seen = difference(first)
    edge = abs(seen) - _TIE * max(1.0, *map(abs, every))
    if (splits := comb(n, size)) <= _MOST_SPLITS:
        extreme = sum(abs(difference(chosen)) >= edge for chosen in combinations(every, size))
        return Significance(extreme / splits, seen, "two-sample permutation, exact, two-sided", n)
    random = Random(seed)  # noqa: S311 - draws to be repeated, not a secret
    extreme = sum(abs(difference(random.sample(every, size))) >= edge for _ in range(draws))
    method = f"two-sample permutation, {draws} draws, seed {seed}, two-sided"
    return Significance((extreme + 1) / (draws + 1), seen, method, n)
