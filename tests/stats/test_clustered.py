"""Clustered errors: the worked fixture, statsmodels' cluster covariance, and what must hold."""

from __future__ import annotations

from math import sqrt
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given, strategies as st

from repoassay.stats import clustered_mean

# Eighteen tasks, five attempts each.
PASSES = [5, 5, 5, 5, 3, 3, 3, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0]
FIXTURE = [[1.0] * passed + [0.0] * (5 - passed) for passed in PASSES]
TASKS = st.lists(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=5), min_size=2, max_size=15)


def test_the_worked_fixture() -> None:
    found = clustered_mean(FIXTURE)
    assert found.value is not None and found.error is not None and found.naive_error is not None
    assert found.half_z is not None and found.half_t is not None
    assert found.value * 100 == pytest.approx(37.78, abs=0.005)
    assert found.error == pytest.approx(0.096864, abs=5e-7)
    assert found.half_z * 100 == pytest.approx(18.99, abs=0.005)
    assert found.half_t * 100 == pytest.approx(20.44, abs=0.005)
    assert found.naive_error * 196 == pytest.approx(10.0, abs=0.05)
    assert (found.tasks, found.n) == (18, 90)
    assert found.interval.n == 18 and found.interval.method == "task-clustered, t(17), 95%"
    assert found.interval.low == pytest.approx(0.37778 - 0.2044, abs=5e-5)


@given(TASKS)
@pytest.mark.long
def test_it_is_the_cluster_covariance_of_statsmodels(tasks: list[list[float]]) -> None:
    from statsmodels.regression.linear_model import OLS

    found = clustered_mean(tasks)
    if found.error is None:
        return
    values = np.array([value for task in tasks for value in task])
    groups = np.array([place for place, task in enumerate(tasks) for _ in task])
    # CR1 of a regression on a constant also has (N - 1) / (N - 1): the same correction.
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert found.error == pytest.approx(float(fit.bse[0]), rel=1e-6)


@given(st.lists(st.integers(0, 9).map(float), min_size=2, max_size=30))
def test_one_attempt_each_is_the_textbook_error(values: list[float]) -> None:
    found = clustered_mean([[value] for value in values])
    if found.error is None:
        assert "no variation" in found.undefined
    else:
        assert found.error == pytest.approx(stdev(values) / sqrt(len(values)))


@given(TASKS, st.integers(2, 5))
def test_copies_of_attempts_add_nothing(tasks: list[list[float]], copies: int) -> None:
    once, often = clustered_mean(tasks), clustered_mean([task * copies for task in tasks])
    assert often.value == pytest.approx(once.value)
    if once.error is not None:
        assert often.error == pytest.approx(once.error)


def test_where_there_is_no_error_the_reason_is_given() -> None:
    assert clustered_mean([]).undefined == "there are no observations"
    alone = clustered_mean([[1, 0, 1]])
    assert alone.value == pytest.approx(2 / 3) and alone.error is None and "one task alone" in alone.undefined
    same = clustered_mean([[0], [0, 0]])
    assert (
        same.value == 0 and same.half_t is None and same.interval.undefined == "no variation: every task has the mean 0"
    )
    assert clustered_mean([[], [1], [0]]).tasks == 2
    with pytest.raises(ValueError, match="finite"):
        clustered_mean([[1], [float("inf")]])
    with pytest.raises(ValueError, match="confidence"):
        clustered_mean([[1]], confidence=1)
