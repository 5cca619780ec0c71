"""A pass stands when everything observed is what it must be; anything else is wrong, absent or only not attested."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from repoassay.grading.oracle.compare import Mismatch, compare
from repoassay.grading.oracle.judge import OracleJudge
from repoassay.grading.oracle.language import Python
from repoassay.grading.oracle.quick_decision import DecisionQuestion
from repoassay.grading.oracle.reference import Occurrence, Reference
from repoassay.grading.oracle.rewrite import rewrite
from repoassay.sandbox.cache import Cache

SOURCE = """\
import pytest
from m import f, g

@pytest.mark.parametrize("given, expected", [(1, "one"), (2, "two")])
def test_table(given, expected):
    assert f(given) == expected

def test_plain():
    assert f(0) == ["a", 1]
    for x in f(1):
        assert x > 3
    assert f(2) == g(2)

def test_text():
    assert "needle" in f()
"""
ONE, LIST, LOOP, BOTH, TEXT = range(5)
ROWS: list[tuple[int, list[Any]]] = [(LIST, [["list", "a", 1]]), (LOOP, [4]), (LOOP, [5]), (BOTH, [7]), (BOTH, [7])]


@pytest.fixture(scope="module")
def judge() -> Iterator[Python]:
    with OracleJudge(Cache()) as found:
        yield Python(found)


@pytest.fixture(scope="module")
def reference() -> Reference:
    expected = {
        "t.py::test_table[1-one]": [(ONE, ["one", 0])],
        "t.py::test_plain": ROWS,
        "t.py::test_text": [(TEXT, ["hay needle hay"])],
    }
    return Reference(
        files={"t.py": rewrite(SOURCE)},
        inner={},
        expected={
            test: tuple(Occurrence(site=site, nodes=nodes) for site, nodes in rows) for test, rows in expected.items()
        },
    )


def found(reference: Reference, judge: Python, test: str, seen: list[tuple[int, list[Any]]]) -> Mismatch:
    return compare(reference, {test: seen}, judge)[test]


def test_what_the_reference_yields_is_right(reference: Reference, judge: Python) -> None:
    for test, rows in reference.expected.items():
        finding = found(reference, judge, test, [(one.site, one.nodes) for one in rows])
        assert finding == Mismatch()


@pytest.mark.parametrize(
    ("seen", "wrong", "absent", "attested"),
    [
        pytest.param([], [], [9, 12], False, id="nothing was observed"),
        pytest.param(ROWS[1:], [], [9], False, id="an assertion was skipped"),
        pytest.param(ROWS[:2] + ROWS[3:], [], [], False, id="a loop was shorter"),
        pytest.param([*ROWS, (LOOP, [9])], [], [], False, id="a loop was longer"),
        pytest.param([*ROWS, (LOOP, [1])], [11], [], False, id="a loop was longer, wrongly"),
        pytest.param([(LIST, [["list", "a", 2]]), *ROWS[1:]], [9], [], True, id="a wrong value"),
        pytest.param([(LIST, [["list", "a", True]]), *ROWS[1:]], [], [], True, id="a value that equals the right one"),
        pytest.param([(LIST, [["list", "a", ["float", (1.0).hex()]]]), *ROWS[1:]], [], [], True, id="so does 1.0"),
        pytest.param([(LIST, [["tuple", "a", 1]]), *ROWS[1:]], [9], [], True, id="another type"),
        pytest.param([ROWS[0], (LOOP, [40]), *ROWS[2:]], [], [], True, id="another value for which it holds"),
        pytest.param([*ROWS[:3], (BOTH, [8]), (BOTH, [8])], [], [], False, id="values that agree with each other"),
        pytest.param([*ROWS, (99, [1])], [], [], False, id="a site that is not there"),
        pytest.param([(LIST, [["object", "m.Any", "__eq__", True]]), *ROWS[1:]], [9], [], True, id="equal to all"),
        pytest.param([(LIST, [["nonsense"]]), *ROWS[1:]], [9], [], True, id="no node"),
        pytest.param([(LIST, []), *ROWS[1:]], [9], [], True, id="no operand"),
    ],
)
def test_what_is_observed_decides(
    reference: Reference, judge: Python, seen: list[Any], wrong: list[int], absent: list[int], attested: bool
) -> None:
    finding = found(reference, judge, "t.py::test_plain", seen)
    assert (finding.wrong, finding.absent) == (wrong, absent)
    if not wrong and not absent:
        assert finding.attested is attested


def test_a_row_cannot_be_chosen(reference: Reference, judge: Python) -> None:
    """`two` in row 1 would be right; the reference was in row 0."""
    finding = found(reference, judge, "t.py::test_table[1-one]", [(ONE, ["two", 1])])
    assert finding.wrong == [6]
    assert found(reference, judge, "t.py::test_table[1-one]", [(ONE, ["one", 1])]).attested is False


def test_nor_with_an_operand_too_many(reference: Reference, judge: Python) -> None:
    """Without its number of operands `two` in row 1 would be judged as it was sent."""
    assert found(reference, judge, "t.py::test_table[1-one]", [(ONE, ["two", 1, 0])]).wrong == [6]
    assert found(reference, judge, "t.py::test_plain", [*ROWS[:3], (BOTH, [7, 7, 7]), ROWS[4]]).wrong == [12]


def test_more_than_anybody_asks_is_wrong_without_a_look(reference: Reference, judge: Python) -> None:
    assert found(reference, judge, "t.py::test_plain", [*ROWS, *[(LOOP, [9])] * 1000]).wrong == []
    assert found(reference, judge, "t.py::test_plain", [*ROWS, *[(LOOP, [9])] * 20_000]).wrong == [11]


def test_as_deep_as_can_just_be_read(reference: Reference, judge: Python) -> None:
    node: Any = 1
    for _ in range(sys.getrecursionlimit()):
        node = ["list", node]
    assert found(reference, judge, "t.py::test_text", [(TEXT, [node])]).wrong == [15]
    assert found(reference, judge, "t.py::test_plain", [(LIST, [node]), *ROWS[1:]]).wrong == [9]


def test_another_text_that_holds_what_is_looked_for(reference: Reference, judge: Python) -> None:
    assert found(reference, judge, "t.py::test_text", [(TEXT, ["a needle"])]) == Mismatch()
    assert found(reference, judge, "t.py::test_text", [(TEXT, ["a pin"])]).wrong == [15]


def test_a_test_unknown_to_the_reference_is_left_alone(reference: Reference, judge: Python) -> None:
    assert found(reference, judge, "t.py::test_other", [(0, [1])]) == Mismatch(attested=False, why="no reference")


def test_the_type_of_an_exception_is_decided_here(judge: Python, monkeypatch: pytest.MonkeyPatch) -> None:
    """No judge is asked where the text does not matter."""
    site = rewrite("import pytest\ndef test():\n    with pytest.raises((KeyError, OSError)):\n        f()\n").sites[0]
    monkeypatch.setattr(OracleJudge, "decide", None)
    mro = ["builtins.KeyError", "builtins.LookupError", "builtins.Exception"]
    asked = [
        ["exc", "builtins.KeyError", mro, ["tuple", "a"], "a"],
        ["exc", "builtins.ValueError", mro[2:], ["tuple"], ""],
        ["exc", "builtins.KeyError"],
        "builtins.KeyError",
        None,
    ]
    questions = [DecisionQuestion(site, [node]) for node in asked]
    assert judge.decide(questions, "") == ["holds", "fails", "fails", "fails", "fails"]
