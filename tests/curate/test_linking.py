"""Linked scores against figures worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from repoassay.curate.linking import ScoredAttempt, link_scores
from repoassay.errors import BadInput


def attempts(results: Mapping[str, Mapping[str, int]]) -> list[ScoredAttempt]:
    return [ScoredAttempt(name, task, bool(passed)) for name, of in results.items() for task, passed in of.items()]


EARLIER = {"x": {"a": 1, "b": 0, "c": 1, "d": 1}}
LATER = {"y": {"a": 1, "b": 1, "e": 0, "f": 0}, "z": {"a": 0, "b": 1, "e": 1, "f": 0}}


def test_the_shift_is_the_change_of_how_much_easier_a_quarter_is_than_its_anchors() -> None:
    found = {each.system: each for each in link_scores(attempts(EARLIER), attempts(LATER), ["a", "b"])}
    # S1 - A1 = 3/4 - 1/2; S2' - A2' = mean(1/2 - 1, 1/2 - 1/2) = -1/4.
    assert found["y"].shift == pytest.approx(0.25 - -0.25)
    assert found["y"].score == 0.5
    assert found["y"].linked == pytest.approx(1.0)
    assert found["y"].low <= found["y"].linked <= found["y"].high
    assert (found["z"].anchors, found["z"].tasks) == (2, 4)


def test_the_same_quarter_is_linked_to_itself_without_a_shift() -> None:
    found = link_scores(attempts(EARLIER), attempts(EARLIER), ["a", "b"])
    assert (found[0].shift, found[0].linked) == (0, 0.75)


def test_a_system_without_results_on_the_anchors_moves_nothing() -> None:
    attempts = [ScoredAttempt("a", task, True) for task in ("x", "y", "z")]
    late = [ScoredAttempt("b", "z", True)]
    (_, linked) = link_scores(attempts, [*attempts, *late], ["x", "y"])
    assert (linked.system, linked.shift) == ("b", 0.0)


def test_a_bootstrap_is_the_same_with_the_same_seed() -> None:
    one, other = (link_scores(attempts(EARLIER), attempts(LATER), ["a", "b"], seed=7) for _ in range(2))
    assert one == other


def test_without_anchors_nothing_is_linked() -> None:
    with pytest.raises(BadInput, match="1 anchor tasks"):
        link_scores(attempts(EARLIER), attempts(LATER), ["a", "c"])
