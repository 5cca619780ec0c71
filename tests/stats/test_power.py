"""Planning: published examples, enumeration of the exact test, and that more is easier to see."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial

import pytest
from hypothesis import assume, given, strategies as st
from statsmodels.stats.power import NormalIndPower

from repoassay.stats import (
    Figure,
    mcnemar,
    mcnemar_power,
    smallest_difference,
    tasks_needed,
    tasks_needed_independent,
    tasks_needed_score,
)


def test_connors_formula_in_its_published_example() -> None:
    # p10 = .05, p01 = .45, level .05, power .80: 23 pairs (powerandsamplesize.com, which cites Connor 1987, page 209).
    found = tasks_needed(0.40, 0.50)
    assert (found.value, found.n) == (23, 23)
    assert found.method == "Connor 1987 for McNemar's test, two-sided level 0.05, power 80%, discordance 0.5"


def test_tasks_needed_to_see_five_points() -> None:
    assert tasks_needed(0.05, 0.20).value == 626
    assert tasks_needed_independent(0.50, 0.55).value == 1565
    assert tasks_needed_independent(0.55, 0.50).value == 1565


def test_a_published_example_of_independent_proportions() -> None:
    # Fleiss (1981), table A.3: .25 against .40 at .05 two-sided with power .80, before continuity correction 152.
    assert tasks_needed_independent(0.25, 0.40).value == 152


@given(st.integers(1, 60), st.floats(0, 0.5), st.floats(0, 0.5), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_exact_power_is_the_sum_over_all_outcomes(n: int, b_rate: float, c_rate: float, alpha: float) -> None:
    total = 0.0
    for b in range(n + 1):
        for c in range(n - b + 1):
            if (mcnemar(b, c).p_value or 0) < alpha:
                ways = factorial(n) // factorial(b) // factorial(c) // factorial(n - b - c)
                total += ways * b_rate**b * c_rate**c * max(0.0, 1 - b_rate - c_rate) ** (n - b - c)
    assert mcnemar_power(n, b_rate, c_rate, alpha).value == pytest.approx(total, abs=1e-9)


def test_the_exact_power_is_the_same_beyond_what_floats_hold() -> None:
    assert comb(1100, 550) > 10**308
    below, above = mcnemar_power(999, 0.12, 0.08).value, mcnemar_power(1001, 0.12, 0.08).value
    assert below is not None and above is not None
    assert below < above < below + 0.002


def test_the_approximation_is_near_the_exact_power() -> None:
    needed = tasks_needed(0.10, 0.30).n
    assert mcnemar_power(needed, 0.20, 0.10).value == pytest.approx(0.8, abs=0.03)


@given(st.floats(0.01, 0.5), st.floats(0.02, 1), st.floats(0.5, 0.99))
def test_the_smallest_difference_undoes_the_tasks_needed(difference: float, discordance: float, power: float) -> None:
    assume(difference <= discordance)
    needed = tasks_needed(difference, discordance, power=power)
    found = smallest_difference(needed.n, discordance, power=power)
    assert found.value is not None and found.value <= difference + 1e-9
    assert tasks_needed(found.value, discordance, power=power).n <= needed.n
    fewer = smallest_difference(needed.n // 2, discordance, power=power)
    assert not fewer.defined or (fewer.value or 0) >= found.value


@given(st.floats(0.01, 0.6), st.floats(0.01, 0.3), st.floats(0, 0.3))
def test_more_discordance_needs_more_tasks(discordance: float, difference: float, more: float) -> None:
    assume(difference <= discordance)
    assert tasks_needed(difference, discordance + more).n >= tasks_needed(difference, discordance).n
    assert tasks_needed(-difference, discordance) == tasks_needed(difference, discordance)


@given(st.floats(0.05, 3), st.floats(0.1, 3))
def test_scores_need_what_statsmodels_says(difference: float, deviation: float) -> None:
    # One sample: an infinite second one.
    effect = NormalIndPower(ddof=0).power(difference / deviation, 50, 0.05, ratio=0)
    found = tasks_needed_score(difference, deviation, power=min(max(effect, 0.02), 0.98))
    # Where the power is low, that of the wrong direction, which statsmodels adds, counts too.
    if 0.3 < effect < 0.98:
        assert found.n == pytest.approx(50, abs=1.5)


def test_what_cannot_be_seen() -> None:
    assert "difference of zero" in tasks_needed(0, 0.2).undefined
    assert "difference of zero" in tasks_needed_independent(0.4, 0.4).undefined
    assert "difference of zero" in tasks_needed_score(0, 1).undefined
    assert "cannot differ" in tasks_needed(0.3, 0.2).undefined
    assert "too few" in smallest_difference(15, 0.1).undefined
    assert "too few" in smallest_difference(0, 0.5).undefined
    assert mcnemar_power(10, 0, 0).value == 0


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (tasks_needed, (0.1, 1.2)),
        (tasks_needed, (0.1, 0.2, 0.0)),
        (tasks_needed, (0.1, 0.2, 0.05, 1.0)),
        (mcnemar_power, (-1, 0.1, 0.1)),
        (mcnemar_power, (5, 0.6, 0.6)),
        (smallest_difference, (-1, 0.1)),
        (tasks_needed_score, (1, -1)),
    ],
)
def test_nonsense_is_refused(function: Callable[..., Figure], arguments: tuple[float, ...]) -> None:
    with pytest.raises(ValueError):
        function(*arguments)
