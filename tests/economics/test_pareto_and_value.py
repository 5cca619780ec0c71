"""The Pareto curve and the ceiling that market value puts on alpha."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from repoassay.economics import ceiling, mean_value, pareto

D = Decimal
figures = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(-500, 500).map(D), max_size=8)


def test_by_hand_with_a_loss() -> None:
    curve = pareto({"c": D(-10), "a": D(30), "b": D(80), "d": D(0)})
    assert [(point.name, point.cumulative) for point in curve.points] == [
        ("b", D(80)),
        ("a", D(110)),
        ("d", D(110)),
        ("c", D(100)),
    ]
    assert (curve.net, curve.positive, curve.peak) == (D(100), 2, D(110))
    assert (curve.top(1), curve.top(2), curve.top(4)) == (D("0.8"), D("1.1"), D(1))


def test_a_net_loss_has_no_shares() -> None:
    curve = pareto({"a": D(1), "b": D(-2)})
    assert (curve.top(1), curve.peak) == (None, D(1))
    assert pareto({"a": D(-1)}).peak == 0


@given(figures)
def test_the_curve_rises_then_falls_and_ends_at_the_net(by_name: dict[str, Decimal]) -> None:
    curve = pareto(by_name)
    assert {point.name: point.alpha for point in curve.points} == by_name
    assert [point.alpha for point in curve.points] == sorted(by_name.values(), reverse=True)
    assert (curve.points[-1].cumulative if by_name else 0) == curve.net == sum(by_name.values())
    assert curve.peak == sum(figure for figure in by_name.values() if figure > 0)


@pytest.mark.parametrize("count", [0, -1, 2])
def test_there_is_no_top_of_more_than_there_are(count: int) -> None:
    with pytest.raises(ValueError, match="no top"):
        pareto({"a": D(1)}).top(count)


def test_ceiling() -> None:
    broken = ceiling(D("7.636"), [D("6.25"), D("7.5"), D("7.5")])
    assert (round(broken.mean_value, 3), broken.holds, broken.n) == (D("7.083"), False, 3)
    assert round(broken.headroom, 3) == D("-0.553")
    assert ceiling(D("7.636"), [D(10), D(5), D(10)]).headroom.quantize(D("0.001")) == D("0.697")
    assert ceiling(D(5), [D(5)]).holds
    with pytest.raises(ValueError, match="at least one"):
        mean_value([])
