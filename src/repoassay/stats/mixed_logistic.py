"""A logistic model with random intercepts: the odds of one group against another's where answers come in clusters.

logit P(yes) = intercept + effect of the group + an intercept of each cluster of each factor (tasks, raters), the latter
normal. Factors may cross. The likelihood is Laplace's approximation, maximised over the fixed effects and the standard
deviations of the factors, as lme4's `glmer` does with nAGQ = 1 (D. Bates, M. Maechler, B. Bolker and S. Walker,
Journal of Statistical Software 67 (2015)). Needs numpy and scipy, the extra `stats`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite, sqrt
from typing import Any

from repoassay.errors import MissingExtra
from repoassay.stats.figure import Significance
from repoassay.stats.incomplete_beta import t_cdf, t_quantile
from repoassay.stats.intervals import Interval

__all__ = ["MixedLogistic", "fit_mixed_logistic"]

_STEPS, _WIDEST, _FEWEST = 60, 15.0, 3


@dataclass(frozen=True, slots=True)
class MixedLogistic:
    """The odds ratio of the first group against the second.

    `interval` is Wald's on the log scale by Student's t with one degree of freedom fewer than clusters of the first
    factor; `test` is of the same. `deviations` are the standard deviations of the random intercepts, in log odds.
    `odds_ratio` is None where the fit came to no end; `interval.undefined` says why.
    """

    odds_ratio: float | None
    interval: Interval
    test: Significance
    deviations: Mapping[str, float]
    converged: bool
    observations: int


def fit_mixed_logistic(
    answers: Sequence[bool],
    first: Sequence[bool],
    factors: Mapping[str, Sequence[Hashable]],
    confidence: float = 0.95,
) -> MixedLogistic:
    """Fit the model by Laplace's approximation.

    Args:
        answers: Yes or no, of each observation.
        first: Whether the observation is of the first group.
        factors: By name the cluster of each observation, the sampled one (tasks) first. One with a single cluster, with
            as many clusters as observations, or that parts them as an earlier one does, is left out.
        confidence: Two-sided level.

    Raises:
        MissingExtra: Without numpy and scipy, the extra `stats`.
        ValueError: When lengths differ.
    """
    n = len(answers)
    if len(first) != n or any(len(clusters) != n for clusters in factors.values()):
        raise ValueError("answers, groups and clusters are of different lengths")
    used = _told_apart(factors, n)
    count = len(set(next(iter(factors.values()), ())))
    freedom = max(count - 1, 1)
    method = f"logistic, random intercepts for {', '.join(used) or 'nothing'}, Laplace, Wald t({freedom})"
    if reason := _refusal(answers, first, count):
        return _none(reason, method, n, count)
    fit = _fit([float(one) for one in answers], [float(one) for one in first], list(used.values()))
    if isinstance(fit, str):
        return _none(fit, method, n, count)
    effect, error, deviations = fit
    half = t_quantile(0.5 + confidence / 2, freedom) * error
    ends = Interval(exp(effect - half), exp(effect + half), f"{method}, {confidence * 100:g}%", count)
    p_value = min(1.0, 2 * t_cdf(-abs(effect / error), freedom))
    test = Significance(p_value, effect, f"{method}, two-sided; statistic: log odds ratio", count)
    return MixedLogistic(exp(effect), ends, test, dict(zip(used, deviations, strict=True)), True, n)


def _told_apart(factors: Mapping[str, Sequence[Hashable]], n: int) -> dict[str, list[int]]:
    used: dict[str, list[int]] = {}
    for name, clusters in factors.items():
        numbers: dict[Hashable, int] = {}
        codes = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
        if 1 < len(numbers) < n and codes not in used.values():
            used[name] = codes
    return used


def _refusal(answers: Sequence[bool], first: Sequence[bool], count: int) -> str:
    if count < _FEWEST:
        return f"fewer than {_FEWEST} clusters"
    for group in (True, False):
        mine = {answer for answer, one in zip(answers, first, strict=True) if one is group}
        if len(mine) < 2:
            return "no model: all answers of a group are the same, and odds of 0 or without end have no ratio"
    return ""


def _none(reason: str, method: str, n: int, count: int) -> MixedLogistic:
    return MixedLogistic(
        None, Interval(None, None, method, count, reason), Significance(None, None, method, count, reason), {}, False, n
    )


def _fit(answers: list[float], first: list[float], factors: list[list[int]]) -> tuple[float, float, list[float]] | str:
    """The log odds ratio, its standard error and the factors' standard deviations; a sentence where there is none."""
    try:
        import numpy as np
        from scipy.optimize import minimize
    except ImportError as error:
        raise MissingExtra(str(error.name), "stats") from None
    y = np.asarray(answers)
    fixed = np.column_stack([np.ones(len(y)), np.asarray(first) - 0.5])
    levels = [max(codes) + 1 for codes in factors]
    shape = np.zeros((len(y), sum(levels)))
    owner = np.repeat(np.arange(len(factors)), levels)
    start = 0
    for codes, size in zip(factors, levels, strict=True):
        shape[np.arange(len(y)), start + np.asarray(codes)] = 1.0
        start += size
    kept = np.zeros(sum(levels))

    def minus(theta: Any) -> float:
        # Spherical random effects: u is standard normal, and b = sigma u, so that sigma may be 0.
        scaled = shape * np.abs(theta[2:])[owner]
        offset = fixed @ theta[:2]
        u = kept.copy()
        value = objective(u, scaled, offset)
        for _ in range(_STEPS):
            gradient, hessian = derivatives(u, scaled, offset)
            step = np.linalg.solve(hessian, gradient)
            size = 1.0
            while size > 1e-6 and (found := objective(u + size * step, scaled, offset)) > value + 1e-9:
                size /= 2
            u, value = u + size * step, found
            # The determinant below needs the mode itself: its error is of first order, that of the value of second.
            if float(np.max(np.abs(step))) < 1e-8:
                break
        kept[:] = u
        _, logdet = np.linalg.slogdet(derivatives(u, scaled, offset)[1])
        return float(value + logdet / 2)

    def derivatives(u: Any, scaled: Any, offset: Any) -> tuple[Any, Any]:
        p = 1 / (1 + np.exp(-np.clip(offset + scaled @ u, -40, 40)))
        return scaled.T @ (y - p) - u, (scaled.T * (p * (1 - p))) @ scaled + np.eye(len(u))

    def objective(u: Any, scaled: Any, offset: Any) -> float:
        eta = offset + scaled @ u
        return float(np.sum(np.logaddexp(0, eta) - y * eta) + u @ u / 2)

    share = float(np.clip(y.mean(), 0.02, 0.98))
    begin = np.concatenate([[np.log(share / (1 - share)), 0.0], np.full(len(factors), 0.7)])
    bounds = [(-_WIDEST, _WIDEST)] * 2 + [(0.0, _WIDEST)] * len(factors)
    found = minimize(minus, begin, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200, "ftol": 1e-10})
    theta = found.x
    if not found.success or not np.all(np.isfinite(theta)) or np.any(np.abs(theta) > _WIDEST - 0.1):
        return "the model did not converge: its likelihood has no maximum within reach"
    spread = _error(minus, theta, np)
    if spread is None:
        return "the model did not converge: its likelihood is flat at the maximum"
    return float(theta[1]), spread, [float(abs(one)) for one in theta[2:]]


def _error(minus: Any, theta: Any, np: Any) -> float | None:
    """The standard error of the group's effect, of the curvature over all parameters that are not on their edge."""
    free = [place for place in range(len(theta)) if place < 2 or theta[place] > 0.02]
    size, width = len(free), 3e-3
    curvature = np.empty((size, size))
    for i, a in enumerate(free):
        for j, b in enumerate(free[: i + 1]):
            value = 0.0
            for one in (1, -1):
                for other in (1, -1):
                    moved = theta.copy()
                    moved[a] += one * width
                    moved[b] += other * width
                    value += one * other * minus(moved)
            curvature[i, j] = curvature[j, i] = value / (4 * width**2)
    try:
        variance = float(np.linalg.inv(curvature)[1, 1])
    except np.linalg.LinAlgError:
        return None
    return sqrt(variance) if isfinite(variance) and variance > 0 else None
