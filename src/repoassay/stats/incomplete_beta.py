"""The regularised incomplete beta function, and the distributions that are cases of it.

The exact binomial bounds and Student's t are what a comparison of two systems prints, and must not ask for scipy.
Both are this one function: P(X <= k) of Binomial(n, p) is I(1 - p; n - k, k + 1) (Abramowitz and Stegun, Handbook of
Mathematical Functions, 26.5.24), and Student's tail is half of I(v / (v + t^2); v / 2, 1 / 2) (26.7.1). It is
computed by its continued fraction (DLMF 8.17.22) with the modified Lentz method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt

__all__ = ["beta_cdf", "beta_quantile", "binomial_cdf", "t_cdf", "t_quantile"]

_TINY = 1e-300
_EPSILON = 1e-16


def beta_cdf(x: float, a: float, b: float) -> float:
    """The probability that Beta(a, b) is at most `x`.

    Raises:
        ValueError: When a or b is not positive.
    """
    if not (a > 0 and b > 0):
        raise ValueError(f"Beta({a}, {b}) is no distribution: both parameters must be positive")
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    # The fraction converges quickly below the mean only; above it, the mirrored one does.
    if x < (a + 1) / (a + b + 2):
        return min(1.0, front * _fraction(x, a, b) / a)
    return max(0.0, 1 - front * _fraction(1 - x, b, a) / b)


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    # Convergence takes O(sqrt(max(a, b))) terms.
    for m in range(1, 200 + 10 * int(sqrt(max(a, b)))):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            c = 1 + step / c
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < _EPSILON:
            break
    return value


def beta_quantile(share: float, a: float, b: float) -> float:
    """The value that Beta(a, b) stays below with probability `share`, 0 to 1."""
    return _root(lambda x: beta_cdf(x, a, b), share, 0.0, 1.0)


def binomial_cdf(k: int, n: int, p: float) -> float:
    """The probability of at most `k` successes in `n` draws of probability `p`."""
    if k < 0:
        return 0.0
    if k >= n:
        return 1.0
    return beta_cdf(1 - p, n - k, k + 1)


def t_cdf(t: float, freedom: float) -> float:
    """The probability that Student's t with `freedom` degrees of freedom is at most `t`."""
    if t * t < freedom:
        # Near the middle the tail's argument is too close to 1 to keep its digits; the mass within is asked instead.
        half = beta_cdf(t * t / (freedom + t * t), 0.5, freedom / 2) / 2
        return 0.5 + half if t > 0 else 0.5 - half
    tail = beta_cdf(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=1024)
def t_quantile(share: float, freedom: float) -> float:
    """The value that Student's t with `freedom` degrees of freedom stays below with probability `share`.

    Raises:
        ValueError: When the share is not strictly between 0 and 1 or the freedom is not positive.
    """
    if not 0 < share < 1 or freedom <= 0:
        raise ValueError(f"Student's t has no quantile {share} with {freedom} degrees of freedom")
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    high = 1.0
    while t_cdf(high, freedom) < share:
        high *= 2
    return _root(lambda t: t_cdf(t, freedom), share, 0.0, high)


def _root(rising: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    # Bisection: 80 halvings end at neighbouring floats, and nothing about the function can mislead it.
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return (low + high) / 2
