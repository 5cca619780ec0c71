"""The bootstrap: exact where it can be, repeatable where it draws, and refused where it would lie."""

from __future__ import annotations

from itertools import product
from statistics import fmean

import pytest
from hypothesis import given, strategies as st
from scipy import stats

from repoassay.stats import bootstrap_mean, bootstrap_proportion


def test_four_of_fifteen_and_its_edge() -> None:
    found = bootstrap_proportion(4, 15)
    assert (found.low, found.high) == pytest.approx((0.0667, 0.5333), abs=5e-5)
    assert found.method == "percentile bootstrap, exact, 95%"
    # P(X <= 7) is 0.97455, a hair below 0.975.
    assert "high end is on an edge" in found.note and "7/15 instead of 8/15" in found.note
    assert "low end" not in found.note


def test_drawing_warns_of_the_same_edge_whichever_side_it_falls_on() -> None:
    tasks = [[1.0]] * 4 + [[0.0]] * 11
    found = [bootstrap_mean(tasks, draws=1000, seed=seed) for seed in range(8)]
    assert {round(one.high or 0, 4) for one in found} == {0.4667, 0.5333}
    assert all("high end is on an edge" in one.note for one in found)


@given(st.integers(2, 300).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n))), st.floats(0.5, 0.99))
def test_without_drawing_it_is_the_binomial_quantile(pair: tuple[int, int], confidence: float) -> None:
    k, n = pair
    found = bootstrap_proportion(k, n, confidence)
    for level, end in (((1 - confidence) / 2, found.low), ((1 + confidence) / 2, found.high)):
        assert end is not None
        j = round(end * n)
        assert stats.binom.cdf(j, n, k / n) >= level - 1e-9
        assert stats.binom.cdf(j - 1, n, k / n) < level + 1e-9


@pytest.mark.parametrize(("k", "n"), [(0, 15), (15, 15), (0, 1), (0, 0)])
def test_all_or_nothing_is_refused_with_a_sentence(k: int, n: int) -> None:
    found = bootstrap_proportion(k, n)
    assert (found.low, found.high, found.n) == (None, None, n)
    assert found.undefined.startswith(f"{k} of {n}: " if n else "there are no observations")


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        ([], "there are no observations"),
        ([[], []], "there are no observations"),
        ([[1, 0, 1]], "one task only"),
        ([[0], [0, 0], [0]], "no variation: every value is 0"),
        ([[1, 0], [0, 1], [0, 1]], "no variation: every task has the mean 0.5"),
    ],
)
def test_what_cannot_vary_is_refused(tasks: list[list[float]], reason: str) -> None:
    found = bootstrap_mean(tasks)
    assert not found.defined
    assert reason in found.undefined


def test_it_draws_tasks_with_all_their_attempts() -> None:
    """Every sample of three tasks, enumerated, gives the same quantiles as many draws."""
    tasks = [[1.0, 1.0, 0.0], [0.0], [3.0, 5.0]]
    means = sorted(fmean(value for task in drawn for value in task) for drawn in product(tasks, repeat=3))
    found = bootstrap_mean(tasks, confidence=0.8, draws=20_000)
    assert (found.low, found.high) == pytest.approx((means[2], means[24]))
    assert found.n == 3


def test_copies_of_attempts_do_not_narrow_it() -> None:
    once = bootstrap_mean([[1], [0], [1], [0], [0]])
    often = bootstrap_mean([[1] * 50, [0] * 50, [1] * 50, [0] * 50, [0] * 50])
    assert (once.low, once.high) == (often.low, often.high)


@given(st.lists(st.lists(st.floats(-9, 9), max_size=4), min_size=2, max_size=12), st.integers(0, 9))
def test_it_repeats_by_seed_and_stays_within_the_values(tasks: list[list[float]], seed: int) -> None:
    found = bootstrap_mean(tasks, draws=100, seed=seed)
    assert found == bootstrap_mean(tasks, draws=100, seed=seed)
    assert found.defined == (not found.undefined)
    if found.low is not None and found.high is not None:
        values = [value for task in tasks for value in task]
        assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_a_fine_scale_has_no_edges() -> None:
    assert bootstrap_mean([[i * 0.37 % 1] for i in range(40)]).note == ""
    assert bootstrap_proportion(40, 150).note == ""


def test_nonsense_is_refused() -> None:
    for counts in ((4, 3), (-1, 3)):
        with pytest.raises(ValueError, match="impossible"):
            bootstrap_proportion(*counts)
    with pytest.raises(ValueError, match="draws"):
        bootstrap_mean([[1], [0]], draws=3)
    with pytest.raises(ValueError, match="finite"):
        bootstrap_mean([[1], [float("nan")]])
