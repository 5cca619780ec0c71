"""The mixed model against the exact likelihood of one factor, by Gauss and Hermite's quadrature."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest

from repoassay.stats import fit_mixed_logistic

FIRST = ["111", "110", "111", "101", "111", "011", "111", "000"]
SECOND = ["000", "100", "010", "000", "111", "001", "110", "000"]


def test_the_odds_ratio_is_nearly_that_of_the_exact_likelihood() -> None:
    np = pytest.importorskip("numpy")
    optimize = pytest.importorskip("scipy.optimize")
    places = [(mark == "1", group == 0, task) for group, line in enumerate((FIRST, SECOND))
              for task, marks in enumerate(line) for mark in marks]  # fmt: skip
    answers, first, tasks = (list(each) for each in zip(*places, strict=True))
    found = fit_mixed_logistic(answers, first, {"task": tasks, "rater": ["one"] * 48, "item": range(48)})
    assert set(found.deviations) == {"task"} and found.converged and found.odds_ratio is not None
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    said, group, of = np.array(answers, float), np.array(first, float) - 0.5, np.array(tasks)

    def minus(theta: Any) -> float:
        level, effect, deviation = theta
        total = 0.0
        for task in range(8):
            eta = level + effect * group[of == task][:, None] + deviation * nodes[None, :]
            total -= np.log((weights * np.exp((said[of == task][:, None] * eta - np.logaddexp(0, eta)).sum(0))).sum())
        return float(total)

    exact = optimize.minimize(minus, [0, 1, 1], method="BFGS").x
    assert found.odds_ratio == pytest.approx(exp(exact[1]), rel=0.03)
    assert found.deviations["task"] == pytest.approx(exact[2], rel=0.05)


def test_where_there_is_no_model_it_says_why() -> None:
    pytest.importorskip("scipy")
    same = fit_mixed_logistic([True, True, True, False], [True, True, False, False], {"task": [0, 1, 2, 0]})
    assert same.odds_ratio is None and "all answers of a group are the same" in same.test.undefined
    few = fit_mixed_logistic([True, False], [True, False], {"task": [0, 1]})
    assert "fewer than 3" in few.interval.undefined
    with pytest.raises(ValueError, match="different lengths"):
        fit_mixed_logistic([True], [True, False], {})
