"""Intervals of clustered rates and differences: against other code, at the edges, and over many studies."""

from __future__ import annotations

from random import Random

import pytest

from repoassay.stats import (
    agreement_by_task,
    clopper_pearson,
    clustered_difference,
    clustered_proportion,
    clustered_test,
    mcnemar,
    pass_at_k,
    percent_agreement,
    tango,
)


def test_one_run_a_task_is_the_interval_of_independent_ones() -> None:
    found, expected = clustered_proportion([[True]] * 4 + [[False]] * 11), clopper_pearson(4, 15)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high)) and found.note == ""
    values = [[1.0]] * 5 + [[-1.0]] * 2 + [[0.0]] * 8
    ends, wanted = clustered_difference(values), tango(5, 2, 15)
    assert (ends.low, ends.high) == pytest.approx((wanted.low, wanted.high))
    assert clustered_test(values).p_value == mcnemar(5, 2, 15).p_value


def test_the_rate_is_that_of_statsmodels_with_the_effective_number() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion", reason="needs statsmodels")
    stats = pytest.importorskip("scipy.stats", reason="needs scipy")
    tasks = [[True] * k + [False] * (5 - k) for k in (5, 5, 4, 3, 2, 1, 0, 0, 0, 0)]
    share = sum(map(sum, tasks)) / 50
    error = stats.sem([sum(task) / 5 for task in tasks])
    number = 1 + share * (1 - share) / error**2
    number = (10 + 0.75 * (number - 10)) * (stats.t.ppf(0.975, 49) / stats.t.ppf(0.975, 9)) ** 2
    low, high = proportion.proportion_confint(share * number, number, method="beta")
    found = clustered_proportion(tasks)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9) and found.n == 10
    assert found.note == f"50 runs of 10 tasks are worth {number:.1f} independent ones"


def test_tasks_that_do_not_differ_count_once_each() -> None:
    found, expected = clustered_proportion([[True] * 5] * 6), clopper_pearson(6, 6)
    assert found.low == pytest.approx(expected.low) and found.high == 1.0
    ends, wanted = clustered_difference([[0.0] * 5] * 6), tango(0, 0, 6)
    assert (ends.low, ends.high) == pytest.approx((wanted.low, wanted.high))
    assert clustered_proportion([]).undefined and clustered_difference([[]]).undefined
    assert clustered_test([]).undefined
    with pytest.raises(ValueError, match="between -1 and 1"):
        clustered_difference([[2.0]])


def test_the_test_of_uneven_tasks_states_the_mean_over_runs() -> None:
    found = clustered_test([[1.0, 1.0], [1.0], [0.0, -1.0, 0.0]])
    assert found.statistic == pytest.approx(2 / 6) and found.n == 3


def test_pass_at_1_of_five_tasks_allows_for_a_variance_that_is_estimated() -> None:
    found = pass_at_k([(5, c) for c in (5, 3, 2, 1, 0)], 1)
    assert "t(4)" in found.interval.method


@pytest.mark.parametrize("runs", [1, 3, 5])
def test_a_study_under_the_null_is_seldom_significant_and_mostly_covered(runs: int) -> None:
    """The worse case of the simulation in docs/statistics.md, fewer studies."""
    draw, wrong, covered = Random(runs), 0, 0
    for _ in range(300):
        values = []
        for _ in range(18):
            rate, towards = draw.betavariate(0.6, 0.6), draw.choice([1.0, -1.0])
            values.append([towards * (draw.random() < rate) for _ in range(runs)])
        wrong += (clustered_test(values, draws=500).p_value or 0) < 0.05
        ends = clustered_difference(values)
        covered += (ends.low or 0) <= 0 <= (ends.high or 0)
    assert wrong <= 0.08 * 300 and covered >= 0.92 * 300


def test_agreement_by_task_is_the_jackknife_on_its_scale() -> None:
    np = pytest.importorskip("numpy", reason="needs numpy")
    stats = pytest.importorskip("scipy.stats", reason="needs scipy")
    draw = Random(3)
    tasks = [[[draw.random() < 0.5 + 0.04 * task for _ in range(3)] for _ in range(2)] for task in range(10)]

    def flat(left: int | None = None) -> list[list[bool]]:
        return [unit for number, task in enumerate(tasks) if number != left for unit in task]

    whole = percent_agreement(flat()).value
    parts = np.log([1 - (percent_agreement(flat(left)).value or 0) for left in range(10)])
    error = np.sqrt(np.var(parts) * 9)
    assert whole is not None
    ends = 1 - np.exp(np.log(1 - whole) + np.array([1, -1]) * stats.t.ppf(0.975, 9) * error)
    found = agreement_by_task(tasks, percent_agreement)
    assert (found.low, found.high) == pytest.approx((max(-1, ends[0]), ends[1])) and found.n == 10
    assert "fewer than 8 tasks" in agreement_by_task(tasks[:7], percent_agreement).undefined
    assert "too little" in agreement_by_task([[[True, True]]] * 9, percent_agreement).undefined
