"""Alpha by hand, its properties, and what becomes of figures that are not known."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from repoassay.economics import (
    LEVELS,
    AlphaRow,
    Quality,
    Success,
    alpha,
    alpha_from_rates,
    by_result,
    from_ratings,
    group,
    group_by,
    mean_of_groups,
    worth,
)
from repoassay.types.task import Economics

D = Decimal
cents = st.integers(0, 100_000).map(lambda number: D(number) / 100)


def _value(dollars: Decimal | str) -> Economics:
    return Economics(value=D(dollars), low=D(dollars), high=D(dollars), source="test")


def _level(level: Decimal | str) -> Quality:
    return from_ratings([D(level)])


@st.composite
def known_rows(draw: st.DrawFn) -> AlphaRow:
    executed = draw(st.booleans())
    return AlphaRow(
        task=draw(st.sampled_from(["a", "b", "c"])),
        executed=executed,
        passed=executed and draw(st.booleans()),
        value=_value(draw(cents)),
        quality=_level(draw(st.sampled_from(LEVELS))),
        cost=draw(cents),
        keys={"domain": draw(st.sampled_from(["x", "y"]))},
    )


@st.composite
def any_rows(draw: st.DrawFn) -> tuple[AlphaRow, AlphaRow]:
    """A row, and the same with some of its figures unknown."""
    row = draw(known_rows())
    forget = {name: None for name in ("executed", "passed", "value", "quality", "cost") if draw(st.booleans())}
    return row, replace(row, **forget)  # type: ignore[arg-type]  # the fields have different types


ROW = AlphaRow(task="t", executed=True, passed=True, value=_value("10"), quality=_level("1"), cost=D("0.5"))


def test_the_worked_cases_of_the_paper() -> None:
    assert alpha_from_rates(D("0.95"), D(10), D(1), D("0.5")) == D("9.00")
    assert alpha_from_rates(D("0.85"), D(100), D("0.75"), D(2)) == D("61.75")


@pytest.mark.parametrize(
    "bad",
    [
        ("1.01", "1", "1", "0"),
        ("1", "-1", "1", "0"),
        ("1", "1", "-0.1", "0"),
        ("1", "1", "1", "-1"),
        ("1", "Infinity", "1", "0"),
    ],
)
def test_rates_out_of_range_are_refused(bad: tuple[str, str, str, str]) -> None:
    with pytest.raises(ValueError, match="is not"):
        alpha_from_rates(*map(D, bad))


def test_rows_give_the_first_worked_case_where_19_of_20_succeed() -> None:
    rows = [replace(ROW, task=f"t{n}", executed=n > 0, passed=n > 0) for n in range(20)]
    assert alpha(rows).mean == D("9.00")


def test_execution_pays_in_alpha_and_not_in_strict_alpha() -> None:
    delivered = replace(ROW, passed=False, quality=_level("0.75"))
    found = group("g", [delivered])
    assert (found.alpha.mean, found.strict.mean, found.cost) == (D("7.00"), D("-0.5"), D("0.5"))


@given(known_rows())
def test_a_failed_attempt_or_one_without_quality_is_worth_minus_its_cost(row: AlphaRow) -> None:
    cost = row.cost
    assert cost is not None
    assert worth(replace(row, executed=False, passed=False, value=None, quality=None)).net == -cost
    assert worth(replace(row, quality=_level("0"), value=None)).net == -cost


@given(st.lists(known_rows(), min_size=1, max_size=8), st.integers(0, 9))
def test_alpha_is_linear_in_market_value(rows: list[AlphaRow], factor: int) -> None:
    def scaled(by_factor: int) -> Decimal:
        return alpha(replace(row, value=_value(row.value.value * by_factor)) for row in rows if row.value).total

    assert scaled(factor) == scaled(0) + factor * (scaled(1) - scaled(0))


@given(st.lists(known_rows(), max_size=8))
def test_groups_add_up_to_the_whole_and_lose_nobody(rows: list[AlphaRow]) -> None:
    for key in ("task", "domain", "suite"):
        groups = group_by(rows, key).values()
        for of in Success:
            parts = [one.alpha if of is Success.EXECUTED else one.strict for one in groups]
            assert sum((part.total for part in parts), D(0)) == alpha(rows, of).total
            assert sum(part.n for part in parts) == len(rows)
    assert all(one.strict.total <= one.alpha.total for one in group_by(rows, "task").values())


@given(st.lists(any_rows(), min_size=1, max_size=6), st.sampled_from(Success))
def test_bounds_hold_whatever_the_unknown_figures_are(pairs: list[tuple[AlphaRow, AlphaRow]], of: Success) -> None:
    true, seen = alpha([row for row, _ in pairs], of), alpha([row for _, row in pairs], of)
    assert true.mean is not None
    tolerance = D("1e-20")
    assert seen.low is None or seen.low <= true.mean + tolerance
    assert seen.high is None or true.mean <= seen.high + tolerance
    assert seen.n == seen.counted + len(seen.left_out) == len(pairs)
    assert all(out.reason for out in seen.left_out)
    if not seen.left_out:
        assert seen.low == seen.high == seen.mean == true.mean


@pytest.mark.parametrize(
    ("unknown", "reason", "low", "high"),
    [
        ({"executed": None, "passed": None}, "not known whether executed", "-0.5", "9.5"),
        ({"quality": None}, "no quality", "-0.5", "9.5"),
        ({"value": None}, "no market value", "-0.5", None),
        ({"cost": None}, "cost unknown", None, "10"),
        ({"value": None, "cost": None}, "no market value, cost unknown", None, None),
    ],
)
def test_unknown_is_named_bounded_and_never_0(
    unknown: dict[str, None], reason: str, low: str | None, high: str | None
) -> None:
    row = replace(ROW, **unknown)  # type: ignore[arg-type]  # the fields have different types
    alone = alpha([row])
    assert (alone.mean, alone.counted, alone.left_out[0].task, alone.left_out[0].reason) == (None, 0, "t", reason)
    assert (alone.low, alone.high) == (low and D(low), high and D(high))
    # Beside a known one it does not weigh in the mean.
    assert alpha([ROW, row]).mean == D("9.5")


def test_strict_and_published_leave_out_their_own() -> None:
    found = group("g", [replace(ROW, passed=None, quality=_level("1"), cost=None), replace(ROW, passed=None)])
    assert (found.alpha.counted, found.strict.counted, found.cost, found.cost_unknown) == (1, 0, D("0.5"), 1)
    assert found.strict.left_out[1].reason == "not known whether passed"


def test_one_verdict_tells_the_other_where_it_can() -> None:
    passed, failed = replace(ROW, executed=None), replace(ROW, executed=False, passed=None)
    assert (worth(passed).net, worth(failed, Success.PASSED).net) == (D("9.5"), D("-0.5"))
    assert worth(replace(ROW, executed=None, passed=False)).net is None
    assert worth(replace(ROW, passed=None), Success.PASSED).net is None


def test_nothing_has_no_alpha() -> None:
    empty = alpha([])
    assert (empty.n, empty.mean, empty.total, empty.low, empty.high) == (0, None, D(0), None, None)
    assert group_by([], "task") == {}
    assert mean_of_groups([]) is None


def test_quality_by_result_is_counted_as_such() -> None:
    assert (
        alpha([ROW, replace(ROW, quality=by_result(True)), replace(ROW, quality=by_result(True), cost=None)]).by_result
        == 1
    )


def test_tasks_weigh_alike_through_groups_whatever_their_attempts() -> None:
    rows = [ROW, ROW, ROW, replace(ROW, task="u", executed=False, passed=False)]
    assert alpha(rows).mean == D("7")
    assert mean_of_groups(group_by(rows, "task").values()) == D("4.5")
    assert mean_of_groups(group_by(rows, "task").values(), Success.PASSED) == D("4.5")


def test_a_row_goes_to_the_group_of_its_key_and_to_none_without_it() -> None:
    assert set(group_by([replace(ROW, keys={"domain": "web"}), ROW], "domain")) == {"web", "(none)"}
    assert set(group_by([ROW], lambda row: row.task.upper())) == {"T"}


@pytest.mark.parametrize("cost", ["-0.01", "NaN", "Infinity"])
def test_an_impossible_cost_is_refused(cost: str) -> None:
    with pytest.raises(ValueError, match="a cost of"):
        replace(ROW, cost=D(cost))


def test_passed_without_execution_is_refused() -> None:
    with pytest.raises(ValueError, match="passed and not executed"):
        replace(ROW, executed=False)
