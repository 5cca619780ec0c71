"""Altered tests: every alteration, and every combination a draw makes of them, fails where the real test passes."""

from __future__ import annotations

import random
import secrets
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.grading.canary_check import can_doubt
from repoassay.grading.oracle.alteration import alter, alterables
from repoassay.grading.oracle.twins import TwinSite, TwinUnit, draw
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.types import TaskKind

EDITS = [folder for folder in find_suite("starter").tasks if folder.task.kind is TaskKind.EDIT]
BASE = Path(__file__).parent
SOURCE = textwrap.dedent(
    """
    class TestOuter:
        class TestInner:
            def test_deep(self):
                assert 1 == 1

        def test_method(self):
            assert (
                "é" * 2 + "abc"
                == "ééabc"
            ), "message"
            assert [1, "two", -3] == [1, "two", -3]

    def test_plain():
        for number in range(3):
            assert number < 3
        assert 2 in (1, 2) and "word" == "wo" + "rd"
        assert {"a": 1.5, "b": b"z"} == {"a": 1.5, "b": b"z"}
        assert {1, 2} == {2, 1}
        assert not False

    def test_table():
        for text, size in [("ab", 2), ("abc", 3)]:
            assert len(text) == size

    def test_named():
        expected = {"path": r"C:\\\\new", "line": "one\\\\ttwo"}
        assert dict(expected) != {}
        found = {"path": "C:" + chr(92) + chr(92) + "new", "line": "one" + chr(92) + "ttwo"}
        assert found == expected

    def test_words():
        wanted = "first second"
        assert " ".join(["first", "second"]) == wanted
        assert (2 > 1) is True

    def test_early(stop=True):
        if stop:
            return
        assert 1 == 1

    def test_twice():
        assert 1 == 1

    def test_twice():
        assert 2 == 2

    import unittest

    class TestUnit(unittest.TestCase):
        def runTest(self):
            pass

        def test_methods(self):
            self.assertEqual([1, 2], [1, 2])
            with self.subTest("in a block"):
                self.assertEqual("a" + "b", "ab", "message")
            self.assertTrue(
                1
            )
            self.assertIsNone(None)
            self.assertGreater(2, 1)
            self.assertAlmostEqual(1.0, 1.00000001)
    """
)
FOUND = alterables(SOURCE, BASE)


def fails(source: str, test: str) -> bool:
    """Whether the test function fails when called; `CLASS::NAME` is called on an instance."""
    space: dict[str, Any] = {"__name__": "tests"}
    exec(source, space)
    *owners, name = test.split("::")
    for owner in owners:
        space = vars(space[owner]) | {"_owner": space[owner]}
    try:
        space[name](*([space["_owner"]()] if owners else []))
    except AssertionError:
        return True
    return False


def test_assertions_that_every_passing_run_reaches_are_found() -> None:
    assert set(FOUND) == {
        "TestOuter::TestInner::test_deep", "TestOuter::test_method", "test_plain", "test_table", "test_named",
        "test_words", "TestUnit::test_methods",
    }  # fmt: skip
    assert not any("number <" in _line(SOURCE, each.statement) for each in FOUND["test_plain"])


def _line(source: str, number: int) -> str:
    return source.splitlines()[number - 1] if number else ""


@pytest.mark.parametrize("test", FOUND)
def test_every_alteration_fails_and_keeps_every_line(test: str) -> None:
    assert not fails(SOURCE, test)
    for place in FOUND[test]:
        for option in range(1, len(place.options)):
            changed = alter(SOURCE, {place: option})
            assert fails(changed, test), (place, option)
            assert changed.count("\n") == SOURCE.count("\n")
        assert alter(SOURCE, {place: 0}) == SOURCE


@pytest.mark.parametrize("test", FOUND)
def test_every_twin_that_is_drawn_fails_unless_it_is_real(test: str) -> None:
    unit = TwinUnit(
        f"t.py::{test}", (f"t.py::{test}",), tuple(TwinSite(each, (f"t.py::{test}",)) for each in FOUND[test])
    )
    for seed in range(20):
        twins = draw([unit], {"t.py": SOURCE}, 1, random.Random(seed))
        for copy, changed in zip(twins.copies, twins.altered, strict=True):
            assert fails(copy["t.py"], test) == bool(changed[unit.name])
            assert (copy["t.py"] == SOURCE) == (not changed[unit.name])


def test_an_altered_word_keeps_quotes_and_escapes() -> None:
    source = 'def test_it():\n    assert f() == (\'it\\\'s\\n\\x41\', r"\\d", b"1\\0", 1_0)\n'
    places = alterables(source, BASE)["test_it"]
    texts = {source.encode()[slice(*each.spans[0])].decode() for each in places}
    assert texts <= {"it", "s", "d", "1", "=="}
    for place in places:
        for option in range(len(place.options)):
            compile(alter(source, {place: option}), "t.py", "exec")


def test_nothing_known_is_recognised_by_what_else_the_test_says(tmp_path: Path) -> None:
    source = 'def test_it():\n    assert upper("marmalade") == "marmalade"\n    assert f(2) == "qzwx"\n'
    places = {source.encode()[slice(*each.spans[0])].decode(): each for each in alterables(source, tmp_path)["test_it"]}
    assert not places["marmalade"].telling
    assert all(len(set(each.options)) == len(each.options) for each in places.values())


@pytest.mark.parametrize("folder", EDITS, ids=lambda folder: folder.task.id)
def test_every_starter_task_can_be_doubted(folder: TaskFolder) -> None:
    assert can_doubt(folder)


@settings(deadline=None, max_examples=40)
@given(
    values=st.lists(
        st.one_of(st.integers(-9, 99), st.text(max_size=6), st.binary(max_size=4), st.booleans()),
        min_size=1,
        max_size=5,
    )
)
def test_any_true_comparison_becomes_false(values: list[object]) -> None:
    source = f"# é\ndef test_it():\n    assert {values!r} == {values!r}\n    assert {values[0]!r} == {values[0]!r}\n"
    for place in alterables(source, BASE)["test_it"]:
        for option in range(1, len(place.options)):
            assert fails(alter(source, {place: option}), "test_it")


def _centre(texts: list[str]) -> str:
    def apart(one: str) -> tuple[int, int]:
        return sum(a != b for other in texts for a, b in zip(one, other, strict=False)), secrets.randbelow(1000)

    return min(texts, key=apart)


FORGERS: dict[str, Callable[[list[str]], str]] = {
    "the first": lambda texts: texts[0],
    "the last": lambda texts: texts[-1],
    "the majority": lambda texts: Counter(texts).most_common()[0][0],
    "the rarest": lambda texts: Counter(texts).most_common()[-1][0],
    "the centre": _centre,
}
"""Ways to name the real text of a test by comparing all copies."""


@pytest.mark.exhaustive
def test_comparing_copies_does_not_tell_which_is_real() -> None:
    source = "def test_it():\n    assert f(0) == 37\n    assert f(1) == 'qzwx'\n    assert f(2) == 'kjhg'\n"
    named, tries = Counter[str](), 300
    bits = 0.0
    for _ in range(tries):  # the places as well are drawn anew: their spellings are chosen around the real one
        found = [TwinSite(each, ("t.py::test_it",)) for each in alterables(source, BASE)["test_it"]]
        unit = TwinUnit("t.py::test_it", ("t.py::test_it",), tuple(found))
        twins = draw([unit], {"t.py": source}, 1, secrets.SystemRandom())
        texts = [each["t.py"] for each in twins.copies]
        named.update(name for name, forger in FORGERS.items() if forger(texts) == source)
        bits = twins.bits[unit.name]
        counts = Counter(texts).values()
        assert max(counts) - min(counts) <= 1
    assert bits > 3
    assert max(named.values()) < tries / 4, named  # one in eleven or less, for copies of three bits and more
