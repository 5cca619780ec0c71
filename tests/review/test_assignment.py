from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from repoassay.errors import BadInput
from repoassay.review.assignment import QueuePlace, design, next_item, order
from review.lease_log import LeaseEvent, leased_items
from review.samples import NOW, later

ITEMS = [(f"{system}{number}", system) for system in "abc" for number in range(6)]


@given(st.integers(0, 2**40), st.integers(0, 50), st.randoms(use_true_random=False))
def test_an_order_is_repeatable_and_whole(seed: int, number: int, shuffler: object) -> None:
    given_items = list(ITEMS)
    shuffler.shuffle(given_items)  # type: ignore[attr-defined]  # hypothesis gives a Random, and calls it an object
    found = order(seed, number, given_items)
    assert found == order(seed, number, ITEMS) and sorted(found) == sorted(name for name, _ in ITEMS)


def test_orders_differ_among_raters_and_balance_systems() -> None:
    orders = [order(1, number, ITEMS) for number in range(3)]
    assert len(set(orders)) == 3
    for line in orders:
        for start in range(0, 18, 3):  # every block holds each system once
            assert {name[0] for name in line[start : start + 3]} == set("abc")
    # Over as many raters as systems, each system is at each place once.
    for place in range(18):
        assert {line[place][0] for line in orders} == set("abc")


def test_a_rare_system_is_spread_too() -> None:
    items = [(f"a{number}", "a") for number in range(12)] + [(f"b{number}", "b") for number in range(3)]
    line = order(5, 0, items)
    places = [place for place, name in enumerate(line) if name[0] == "b"]
    assert all(place // 5 == number for number, place in enumerate(places))


def test_an_order_of_odd_input() -> None:
    assert order(1, 0, []) == ()
    with pytest.raises(ValueError, match="twice"):
        order(1, 0, [("a", "x"), ("a", "y")])


@given(st.integers(1, 8), st.integers(0, 30), st.integers(0, 2**30), st.data())
def test_a_design_is_balanced(raters: int, items: int, seed: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, raters))
    people, things = [f"r{n}" for n in range(raters)], [f"i{n}" for n in range(items)]
    found = design(seed, people, things, overlap)
    assert found == design(seed, people, things, overlap)
    assert all(len(set(team)) == overlap for team in found.values()) and list(found) == things
    load = Counter(rater for team in found.values() for rater in team)
    counts = [load[person] for person in people]
    assert max(counts) - min(counts) <= 1


def test_pairs_of_raters_meet_about_equally_often() -> None:
    people = [f"r{n}" for n in range(6)]
    found = design(3, people, [f"i{n}" for n in range(60)], 2)
    met = Counter(frozenset(pair) for team in found.values() for pair in combinations(team, 2))
    assert len(met) == 15 and max(met.values()) - min(met.values()) <= 2


def test_a_design_fills_up_what_was_given() -> None:
    found = design(0, ["a", "b", "c"], ["x", "y"], 2, {"x": ["c", "gone"], "y": ["a"]})
    assert found["x"] == () and len(found["y"]) == 1 and "a" not in found["y"]
    with pytest.raises(BadInput, match="needs 3 raters"):
        design(0, ["a", "b", "a"], ["x"], 3)


def _event(kind: str, at: float, item: str = "x", rater: str = "r") -> LeaseEvent:
    return LeaseEvent(kind, item, rater, later(at))  # type: ignore[arg-type]  # the literals of the tests below


@pytest.mark.parametrize(
    ("events", "at", "until"),
    [
        ([("taken", 0)], 59, 60),
        ([("taken", 0)], 60, None),
        ([("taken", 0), ("renewed", 30)], 80, 90),
        ([("taken", 0), ("renewed", 70)], 80, None),
        ([("renewed", 0)], 10, None),
        ([("taken", 0), ("released", 5)], 10, None),
        ([("taken", 0), ("submitted", 5)], 10, None),
        ([("taken", 0), ("submitted", 5), ("taken", 6), ("renewed", 7)], 10, None),
        ([("taken", 0), ("released", 5), ("taken", 20)], 30, 80),
        ([("taken", 0), ("taken", 100)], 110, 160),
    ],
)
def test_leases(events: list[tuple[str, float]], at: float, until: float | None) -> None:
    found = leased_items([_event(kind, moment) for kind, moment in events], later(at), 60)
    assert found == ({} if until is None else {("x", "r"): NOW + timedelta(seconds=until)})


def test_what_comes_next() -> None:
    places = [QueuePlace("c", 3), QueuePlace("a", 1), QueuePlace("b", 2), QueuePlace("d", 4, submitted=True)]
    assert next_item(places, {}, None) == "a"
    assert next_item(places, {}, None, mine="c") == "c"
    assert next_item(places, {}, None, mine="d") == "a"
    assert next_item(places, {"a": 2, "b": 1}, 2) == "b"
    assert next_item(places, {"a": 2, "b": 2, "c": 3}, 2) is None
    assert next_item(places, {"a": 2, "b": 2, "c": 3}, 2, mine="a") == "a"
    assert next_item([], {}, None) is None
