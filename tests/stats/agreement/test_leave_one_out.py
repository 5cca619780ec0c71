"""One rater against the majority of the others."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import leave_one_out


def test_nobody_votes_for_himself() -> None:
    # A lone dissenter among three: the others agree with him in nothing, and with each other only in a tie.
    found = leave_one_out([["y", "y", "n"]])
    assert [rater.value for rater in found.raters] == [None, None, 0.0]
    assert (found.overall.value, found.overall.n, found.tied) == (0.0, 1, 2)


def test_by_hand() -> None:
    found = leave_one_out([["y", "y", "y"], ["n", "n", None], ["y", None, None], ["n", "y", "y"]])
    assert [(rater.value, rater.n) for rater in found.raters] == [(2 / 3, 3), (1.0, 2), (1.0, 1)]
    assert found.overall.value == pytest.approx(5 / 6)
    assert found.tied == 2


@given(st.lists(st.lists(st.sampled_from([None, 1, 2]), min_size=4, max_size=4), max_size=12))
def test_every_rating_of_a_shared_unit_is_compared_or_tied(units: list[list[int | None]]) -> None:
    found = leave_one_out(units)
    shared = [len(unit) - unit.count(None) for unit in units]
    assert found.overall.n + found.tied == sum(count for count in shared if count > 1)
    assert found.overall.defined == bool(found.overall.n)


def test_nothing_and_nonsense() -> None:
    assert leave_one_out([]).overall.undefined == "no rating could be compared with a majority"
    with pytest.raises(ValueError, match="different numbers of raters"):
        leave_one_out([[1, 2], [1]])
