"""Figures of a study computed apart from the package: numpy and scipy, from the definitions, by other algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

__all__ = ["difference_interval", "rate_interval", "sign_flip"]


def sign_flip(differences: Sequence[float]) -> float:
    """The two-sided p-value over every pattern of signs."""
    seen = abs(sum(differences))
    reached = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(each >= seen - 1e-9 for each in reached) / len(reached)


def _stats() -> tuple[Any, Any, Any]:
    return (
        pytest.importorskip("numpy"),
        pytest.importorskip("scipy.stats", reason="needs scipy"),
        pytest.importorskip("scipy.optimize"),
    )


def _worth(task_sums: Any, n: int, variance: float, most: int) -> float:
    """Observations that so many tasks are worth, by the design effect with Korn and Graubard's correction."""
    np, stats, _ = _stats()
    count = len(task_sums)
    error2 = count / (count - 1) * float(np.sum(np.square(task_sums))) / n**2
    ratio = stats.t.ppf(0.975, most - 1) / stats.t.ppf(0.975, count - 1)
    return float(min(most, (1 + variance / error2) * ratio**2))


def rate_interval(tasks: Sequence[Sequence[bool]]) -> tuple[float, float]:
    """The interval of a share of all values: of true ones, by task."""
    np, stats, _ = _stats()
    values = [np.asarray(task, dtype=float) for task in tasks]
    n = int(sum(map(len, values)))
    share = float(np.concatenate(values).mean())
    number = _worth([float((task - share).sum()) for task in values], n, share * (1 - share), n)
    hits = share * number
    return float(stats.beta.ppf(0.025, hits, number - hits + 1)), float(stats.beta.ppf(0.975, hits + 1, number - hits))


def difference_interval(means: Sequence[float], pairs: int) -> tuple[float, float]:
    """Tango's interval of the mean of these task differences, its score test inverted with a numeric likelihood."""
    np, stats, optimize = _stats()
    given = np.asarray(means, dtype=float)
    seen, above, below = float(given.mean()), float(given.clip(0).mean()), float((-given).clip(0).mean())
    number = _worth(list(given - seen), len(given), above + below - seen**2, max(pairs, len(given)))

    def score(delta: float) -> float:
        def minus(q: float) -> float:
            cells = ((above, q + delta), (below, q), (1 - above - below, 1 - 2 * q - delta))
            return -float(sum(share * np.log(max(p, 1e-300)) for share, p in cells if share > 0))

        ends = max(0.0, -delta), (1 - delta) / 2
        q = optimize.minimize_scalar(minus, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        spread = 2 * q + delta - delta**2
        return float(number * (seen - delta) ** 2 / spread - stats.norm.ppf(0.975) ** 2)

    edge = 1 - 1e-9
    return float(optimize.brentq(score, -edge, seen)), float(optimize.brentq(score, seen, edge))
