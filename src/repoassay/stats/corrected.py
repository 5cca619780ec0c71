"""A rate corrected for what measured it: a judge that errs, or a bar that even the reference does not always reach."""

from __future__ import annotations

from repoassay.stats.figure import Figure
from repoassay.stats.rates import Proportion

__all__ = ["golden_normalised", "rogan_gladen"]


def rogan_gladen(rate: float, sensitivity: float, specificity: float, n: int = 0) -> Figure:
    """The true rate behind one seen through an imperfect test: (p + sp - 1) / (se + sp - 1).

    W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a screening test", American Journal of
    Epidemiology 107 (1978), 71-76.

    Args:
        rate: The share the test called positive, 0 to 1.
        sensitivity: The share of true positives it calls so.
        specificity: The share of true negatives it calls so.
        n: Cases behind `rate`, for the record.

    Returns:
        The corrected rate, cut to [0, 1] with a `note` when the formula leaves it. Undefined where the test is no
        better than chance.

    Raises:
        ValueError: When a share is not between 0 and 1.
    """
    for name, share in (("rate", rate), ("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 <= share <= 1:
            raise ValueError(f"a {name} of {share} is not between 0 and 1")
    method = f"Rogan-Gladen, sensitivity {sensitivity:g}, specificity {specificity:g}"
    if sensitivity + specificity <= 1 + 1e-12:
        return Figure(None, method, n, "the test is no better than chance, so nothing can be read from it")
    value = (rate + specificity - 1) / (sensitivity + specificity - 1)
    if 0 <= value <= 1:
        return Figure(value, method, n)
    return Figure(min(1.0, max(0.0, value)), method, n, note=f"the formula gives {value:.4g}; cut to a proportion")


def golden_normalised(agent: Proportion, golden: Proportion) -> Figure:
    """An agent's rate over that of the reference solutions judged in the same way: 34 % over 68 % is 50 %.

    Returns:
        The ratio, which is above 1 where the agent does better; `n` counts the agent's cases. Undefined where either
        rate is, or where no reference solution was accepted.
    """
    method = f"golden-normalised, {agent.successes}/{agent.n} over {golden.successes}/{golden.n}"
    if agent.value is None or golden.value is None:
        return Figure(None, method, agent.n, "there are no cases of the agent or of the reference")
    if golden.value == 0:
        return Figure(None, method, agent.n, "no reference solution was accepted, so there is nothing to compare with")
    return Figure(agent.value / golden.value, method, agent.n)
