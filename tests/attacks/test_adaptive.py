"""A forger who learns: what it thinks of, how it searches, and that it needs to be told something."""

from __future__ import annotations

import pytest

from repoassay.attacks import AttackGround
from repoassay.attacks.adaptive import AdaptiveSearch, forge
from repoassay.attacks.guesses import guesses, literals
from repoassay.types import TestResult, Verdict


def test_guesses_begin_with_what_the_test_itself_says() -> None:
    found = guesses("python", "def test():\n    assert f('a') == ['b', 3]\n", "Return `post` for 42.")
    assert found[:2] == ["was()", "given[0]"]
    assert found.index("['b', 3]") < found.index("None") < found.index('"post"')
    assert "42" in found
    assert len(found) == len(set(found))
    assert list(literals("1 + 'x")) == ["1"]


def test_a_search_finds_values_one_call_after_the_other() -> None:
    right = ["3", "''", "True", "-1"]
    search = AdaptiveSearch(guesses("python", ""))
    for _ in range(4000):
        tried = search.propose()
        reached = next((place for place, value in enumerate(right) if tried[place] != value), len(right))
        search.learn((int(reached == len(right)), reached, 0.0))
        if reached == len(right):
            break
    assert [search.options[at] for at in search.plan][:4] == right


def test_an_answer_that_is_told_is_tried_next() -> None:
    search = AdaptiveSearch(["was()", "given[0]"])
    search.propose()
    search.learn((0, 1, 0.0))
    search.more(["'wanted'"])
    assert search.propose() == ["'wanted'"] * 12


@pytest.mark.long
def test_with_messages_it_learns_and_with_the_outcome_alone_it_does_not(grounds: dict[str, AttackGround]) -> None:
    ground = grounds["inflection-pluralize-count"]

    def silent(patch: bytes) -> Verdict:
        verdict = ground.grade(patch)
        return verdict.model_copy(
            update={"tests": tuple(TestResult(id=each.id, outcome="failed") for each in verdict.tests)}
        )

    told = forge(ground.target, ground.folder.instruction, ground.grade, 12)
    untold = forge(ground.target, ground.folder.instruction, silent, 4)
    assert told.submissions <= 12
    assert not untold.passed and not untold.spied
    assert untold.submissions == 4 and untold.reached == 0
