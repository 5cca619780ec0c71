"""Changed tests: every way a bundled edit task's tests can be changed still parses, and changes one assertion."""

from __future__ import annotations

import ast
import random
import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repoassay.grading.doubt import can_doubt
from repoassay.grading.hidden.canary import Site
from repoassay.model import Kind
from repoassay.suites import find_suite
from repoassay.tasks import TaskFolder

EDITS = [folder for folder in find_suite("starter").tasks if folder.task.kind is Kind.EDIT]
CHANCE = random.Random(7)


@pytest.mark.parametrize("folder", EDITS, ids=lambda folder: folder.task.id)
def test_every_site_of_a_starter_task_changes_one_assertion(folder: TaskFolder) -> None:
    tests = folder.task.grading.tests
    assert tests is not None
    assert can_doubt(folder)
    for test in tests.fail_to_pass:
        file, _, inner = test.partition("::")
        source = (folder.tests / file).read_text(encoding="utf-8")
        for site in sites(source, inner):
            changed = mutate(source, site, CHANCE)
            before, after = _asserts(source), _asserts(changed)
            assert changed.count("\n") == source.count("\n")
            assert [line for line, _ in before] == [line for line, _ in after]
            assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def _asserts(source: str) -> list[tuple[int, str]]:
    return [(n.lineno, ast.dump(n.test)) for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Assert)]


def _fails(source: str, test: str) -> bool:
    """Whether the test function fails when called; `CLASS::NAME` is called on an instance."""
    space: dict[str, Any] = {}
    exec(source, space)
    first, _, second = test.partition("::")
    found = getattr(space[first](), second) if second else space[first]
    try:
        found()
    except AssertionError:
        return True
    return False


SOURCE = textwrap.dedent(
    """
    class TestOuter:
        class TestInner:
            def test_deep(self):
                assert 1 == 1

        def test_method(self):
            assert (
                "é" * 2
                == "éé"
            ), "message"
            assert [1, 2] == [1, 2]

    def test_plain():
        for _ in range(3):
            assert True
        assert 2 in (1, 2) and "x" == "x"
        assert {"a": 1.5, "b": b"z"} == {"a": 1.5, "b": b"z"}
        assert not False

    def test_plain_twice():
        assert True

    def test_none():
        pass

    import unittest

    class TestUnit(unittest.TestCase):
        def runTest(self):
            pass

        def test_methods(self):
            self.assertEqual([1, 2], [1, 2])
            self.assertEqual("a" + "b", "ab", "message")
            self.assertTrue(
                1
            )
            self.assertIsNone(None)
            self.assertGreater(2, 1)
            self.assertAlmostEqual(1.0, 1.00000001)
            self.assertDictEqual({}, {})
            print("not an assertion")
    """
)


@pytest.mark.parametrize(
    ("test", "kinds"),
    [
        ("test_plain", ["inverted", "inverted", "altered", "inverted"]),
        ("test_plain[1-2]", ["inverted", "inverted", "altered", "inverted"]),
        ("TestOuter::test_method", ["inverted", "altered", "inverted", "altered"]),
        ("TestOuter::TestInner::test_deep", ["inverted", "altered"]),
        ("test_none", []),
        (
            "TestUnit::test_methods",
            ["inverted", "altered"] * 2 + ["inverted"] * 3 + ["inverted", "altered", "inverted"],
        ),
        ("test_absent", []),
        ("TestAbsent::test_deep", []),
    ],
)
def test_sites_are_the_assertions_at_the_top_of_the_test(test: str, kinds: list[str]) -> None:
    assert [site.kind for site in sites(SOURCE, test)] == kinds


@pytest.mark.parametrize("test", ["test_plain", "TestOuter::test_method", "TestUnit::test_methods"])
def test_a_changed_test_fails_where_the_real_one_passes(test: str) -> None:
    assert not _fails(SOURCE, test)
    for site in sites(SOURCE, test):
        for seed in range(5):
            assert _fails(mutate(SOURCE, site, random.Random(seed)), test), site


def test_two_sites_of_one_file_can_be_changed_one_after_the_other() -> None:
    first, second = Site("test_plain_twice", 0, "inverted"), Site("test_plain", 0, "inverted")
    changed = SOURCE
    for site in (first, second):
        changed = mutate(changed, sites(changed, site.test)[0], CHANCE)
    assert _fails(changed, "test_plain")
    assert _fails(changed, "test_plain_twice")
    assert not _fails(changed, "TestOuter::test_method")


def test_a_script_is_changed_at_its_top() -> None:
    script = "import sys\n\nassert sys.path == sys.path\nassert 3 == 1 + 2, 'sum'\n"
    found = sites(script, "__script__")
    assert [(site.line, site.kind) for site in found] == [(3, "inverted"), (4, "inverted"), (4, "altered")]
    for site in found:
        with pytest.raises(AssertionError):
            exec(mutate(script, site, CHANCE), {})


@given(
    values=st.lists(
        st.one_of(st.integers(-9, 9), st.text(max_size=6), st.binary(max_size=4), st.booleans()), min_size=1, max_size=5
    ),
    seed=st.integers(0, 99),
)
def test_any_true_comparison_becomes_false(values: list[object], seed: int) -> None:
    source = f"# é\ndef test_it():\n    assert {values!r} == {values!r}\n    assert {values[0]!r} == {values[0]!r}\n"
    for site in sites(source, "test_it"):
        changed = mutate(source, site, random.Random(seed))
        assert _fails(changed, "test_it")
        assert changed.count("\n") == source.count("\n")
