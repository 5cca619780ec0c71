"""Cost per solved task, value per dollar, break-even price: by hand, as properties, and where they do not exist."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from hypothesis import given, strategies as st

from repoassay.economics import (
    AlphaRow,
    alpha,
    break_even,
    cost_per_solved,
    from_ratings,
    value_per_dollar,
)
from repoassay.types.task import Economics

D = Decimal
ROW = AlphaRow(
    task="t",
    executed=True,
    passed=True,
    value=Economics(value=D(10), low=D(10), high=D(10), source="test"),
    quality=from_ratings([D(1)]),
    cost=D(2),
)
FAILED = replace(ROW, task="f", executed=False, passed=False)


def test_by_hand() -> None:
    rows = [ROW, FAILED]
    assert cost_per_solved(rows).dollars == 4
    assert value_per_dollar(rows).ratio == D("2.5")
    even = break_even(rows)
    assert (even.per_attempt, even.factor) == (D(5), D("2.5"))


def test_nothing_solved_has_no_cost_per_solved_task() -> None:
    found = cost_per_solved([FAILED])
    assert (found.dollars, found.at_least, found.note) == (None, None, "nothing was solved")
    assert break_even([FAILED]).factor == 0


def test_an_unknown_cost_leaves_a_least_cost_and_names_the_task() -> None:
    found = cost_per_solved([ROW, ROW, replace(ROW, task="u", cost=None), replace(ROW, task="v", passed=None)])
    assert (found.dollars, found.at_least, found.solved) == (None, D("1.5"), 3)
    assert [(out.task, out.reason) for out in found.left_out] == [
        ("u", "cost unknown"),
        ("v", "not known whether passed"),
    ]


def test_attempts_without_every_figure_are_in_neither_sum() -> None:
    rows = [ROW, replace(ROW, task="u", value=None, cost=D(1000)), replace(ROW, task="v", cost=None)]
    assert value_per_dollar(rows).ratio == 5
    found = break_even(rows)
    assert (found.counted, found.n, found.per_attempt) == (1, 3, D(10))
    assert [out.task for out in found.left_out] == ["u", "v"]


def test_free_work_has_no_ratio_and_says_so() -> None:
    free = replace(ROW, cost=D(0))
    assert value_per_dollar([free]).ratio is None
    assert break_even([free]).note.startswith("it cost nothing")
    assert break_even([]).note == "no attempt has every figure"


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 5000)), min_size=1, max_size=9))
def test_alpha_is_0_at_the_break_even_price(attempts: list[tuple[bool, int]]) -> None:
    rows = [replace(ROW, executed=done, passed=done, cost=D(cents) / 100) for done, cents in attempts]
    even = break_even(rows)
    assert even.factor is not None
    repriced = alpha(replace(row, cost=row.cost * even.factor) for row in rows if row.cost is not None)
    flat = alpha(replace(row, cost=even.per_attempt) for row in rows)
    assert repriced.mean is not None
    assert flat.mean is not None
    assert abs(repriced.mean) < D("1e-18")
    assert abs(flat.mean) < D("1e-18")
    gain = alpha(rows).mean
    assert gain is not None
    assert (even.factor > 1) is (gain > 0)
