"""Prediction-powered means: exact where they can be, and covering what they promise in simulation."""

from __future__ import annotations

from math import sqrt
from random import Random
from statistics import fmean, variance

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import prediction_powered

BITS = st.lists(st.tuples(st.integers(0, 1).map(float), st.integers(0, 1).map(float)), min_size=2, max_size=30)


@given(BITS, st.lists(st.integers(0, 1).map(float), min_size=2, max_size=50))
def test_the_formula_by_hand(pairs: list[tuple[float, float]], others: list[float]) -> None:
    labels, judged = [y for y, _ in pairs], [f for _, f in pairs]
    found = prediction_powered(labels, judged, others, weight=1)
    assert found.value == pytest.approx(fmean(others) + fmean(labels) - fmean(judged))
    expected = sqrt(variance(others) / len(others) + variance([y - f for y, f in pairs]) / len(pairs))
    assert (found.error or 0.0) == pytest.approx(expected)
    ignored = prediction_powered(labels, judged, others, weight=0)
    assert ignored.value == pytest.approx(fmean(labels)) == ignored.classical


def test_a_perfect_judge_is_worth_all_its_labels() -> None:
    people = [1.0, 0.0] * 20
    found = prediction_powered(people, people, [1.0, 0.0] * 200, weight=1)
    assert found.effective_n == pytest.approx(400, rel=0.05)
    assert found.value == 0.5


def test_a_useless_judge_is_ignored() -> None:
    random = Random(1)
    labels = [float(random.random() < 0.3) for _ in range(200)]
    noise = [float(random.random() < 0.5) for _ in range(200)]
    found = prediction_powered(labels, noise, [float(random.random() < 0.5) for _ in range(2000)])
    assert found.weight < 0.15
    assert found.effective_n == pytest.approx(200, rel=0.1)
    constant = prediction_powered(labels, [1.0] * 200, [1.0] * 50)
    assert constant.weight == 0 and constant.value == pytest.approx(fmean(labels))


def test_it_is_unbiased_and_covers_with_a_biased_judge() -> None:
    random, covered, values = Random(7), 0, []
    for _ in range(300):
        truth = [float(random.random() < 0.4) for _ in range(600)]
        judge = [float(random.random() < (0.9 if y else 0.35)) for y in truth]
        found = prediction_powered(truth[:80], judge[:80], judge[80:])
        assert found.interval.low is not None and found.interval.high is not None and found.value is not None
        covered += found.interval.low <= 0.4 <= found.interval.high
        values.append(found.value)
    assert fmean(values) == pytest.approx(0.4, abs=0.012)
    assert covered / 300 == pytest.approx(0.95, abs=0.04)


def test_undefined_and_refused() -> None:
    few = prediction_powered([1.0], [1.0], [0.0, 1.0])
    assert few.value is None and few.classical == 1 and "too few" in few.undefined and few.interval.undefined
    same = prediction_powered([0.0] * 15, [0.0] * 15, [0.0] * 90)
    assert same.value == 0 and same.error is None and "no variation" in same.undefined
    assert not same.interval.defined
    assert "few for a normal" in prediction_powered([1.0, 0.0], [1.0, 0.0], [0.0, 1.0]).interval.note
    with pytest.raises(ValueError, match="not the same cases"):
        prediction_powered([1.0], [], [])
    with pytest.raises(ValueError, match="finite"):
        prediction_powered([float("nan")], [1.0], [])
    with pytest.raises(ValueError, match="weight"):
        prediction_powered([1.0], [1.0], [], weight=2)
