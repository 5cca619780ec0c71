"""Permutation tests, paired and of two samples: is a mean difference more than chance?

If the systems were alike, each task's difference could as well have had the other sign (R. A. Fisher, "The Design of
Experiments" (1935), section 21). All signs are tried where that is feasible; else they are drawn at random, and the
observed one counts as one of the draws (B. Phipson and G. K. Smyth, Statistical Applications in Genetics and Molecular
Biology 9 (2010), article 39). Signs belong to tasks: of several attempts at a task the caller passes their mean
difference. scipy's `permutation_test` has the same test; this one also enumerates lattices of many tasks, such as
shares of three attempts, and needs no numpy.

Of two samples, each split of all numbers into groups of these sizes would be as likely if they were alike (E. J. G.
Pitman, Supplement to the Journal of the Royal Statistical Society 4 (1937), 119-130).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, compress
from math import comb, fsum, isfinite
from random import Random

from repoassay.stats.figure import Significance

__all__ = ["paired_permutation", "two_sample_permutation"]

# About a second: 20 differences that share no lattice, or hundreds on a coarse one.
_MOST_STEPS = 2**20
# Sums closer than about 1e-12 of the largest difference are ties: 0.6 - 0.4 and 0.3 - 0.1 are meant to be equal.
_FINE = 2**40
_MOST_SPLITS = 50_000
_TIE = 1e-12
_BITS = bytes.maketrans(b"01", b"\0\1")


def paired_permutation(differences: Sequence[float], draws: int = 10_000, seed: int = 0) -> Significance:
    """Two-sided sign-flip test that the mean difference is zero; `statistic` is the mean difference.

    Args:
        differences: First system minus second, of each task.
        draws: Random signs where not all can be tried, at least 100.
        seed: The same seed gives the same p-value.

    Raises:
        ValueError: When a difference is not finite or there are too few draws.
    """
    if draws < 100 or not all(isfinite(one) for one in differences):
        raise ValueError(f"a permutation test needs 100 draws, not {draws}, and differences that are finite")
    n = len(differences)
    if n == 0:
        return Significance(None, None, "paired permutation, sign flips by task", 0, "there are no tasks in common")
    mean = fsum(differences) / n
    widest = max(map(abs, differences))
    # Whole numbers add up the same in any order, so equal sums are equal; floats only nearly are.
    steps = [round(one / widest * _FINE) for one in differences if one] if widest else []
    counts = _all_sums(steps)
    if counts is None:
        method = f"paired permutation, sign flips by task, {draws} draws, seed {seed}, two-sided"
        return Significance(_drawn(steps, draws, seed), mean, method, n)
    reached = _reached(steps)
    extreme = sum(count for total, count in counts.items() if abs(total) >= reached)
    p_value = extreme / sum(counts.values())
    return Significance(p_value, mean, "paired permutation, sign flips by task, exact, two-sided", n)


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


def _reached(steps: list[int]) -> int:
    # Each step was rounded by half a unit at most.
    return abs(sum(steps)) - len(steps)


def _all_sums(steps: list[int]) -> dict[int, int] | None:
    """How many sign patterns give each sum; None where that would take too long."""
    counts, work = {0: 1}, 0
    for step in steps:
        work += len(counts)
        if work > _MOST_STEPS:
            return None
        after: dict[int, int] = {}
        for total, count in counts.items():
            after[total + step] = after.get(total + step, 0) + count
            after[total - step] = after.get(total - step, 0) + count
        counts = after
    return counts


def _drawn(steps: list[int], draws: int, seed: int) -> float:
    random, reached = Random(seed), _reached(steps)  # noqa: S311 - a seeded sample, not a secret
    everything, extreme = sum(steps), 0
    for _ in range(draws):
        signs = f"{random.getrandbits(len(steps)):0{len(steps)}b}".encode().translate(_BITS)
        extreme += abs(2 * sum(compress(steps, signs)) - everything) >= reached
    return (extreme + 1) / (draws + 1)
