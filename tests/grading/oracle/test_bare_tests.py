"""Arguments that helpers surely compare, and those of which nobody can know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from repoassay.grading.oracle.alteration import alter, alterables
from repoassay.grading.oracle.bare_tests import HelperCalls, HelperFile, endings

UTILS = """\
import numpy as np

def same(got, wanted, message=""):
    assert got == wanted, f"{message} {got} {wanted}"

def passed_on(got, wanted):
    same(got=got, wanted=wanted)

def arrays(got, wanted):
    np.testing.assert_array_equal(got, wanted)

def perhaps(got, wanted):
    if got:
        assert got == wanted

def early(got, wanted):
    if not got:
        return
    assert got == wanted

def used(got, wanted):
    wanted = wanted or [1]
    assert got == wanted

def within(got, wanted):
    assert got in wanted
"""
FILES = {
    "tests/utils.py": UTILS,
    "tests/__init__.py": "from .utils import same as alike\n",
    "tests/unit/broken.py": "def (",
}
HEAD = """\
import tests.utils as others
from ..utils import arrays, early, passed_on, perhaps, same, used, within
from .. import alike, utils
from . import broken
from elsewhere import assert_array_equal, unknown

def own(got, wanted):
    assert wanted == got

class Test:
    def check(self, got, wanted):
        self.assertEqual(got, wanted)

    def test(self):
        {call}

def test():
    {call}
"""


def compared(call: str, name: str = "test") -> list[str]:
    text = HEAD.format(call=call)
    file = HelperFile("tests/unit/test_it.py", ast.parse(text), {**FILES, "tests/unit/test_it.py": text}.get)
    arguments = (argument for _, _, each in HelperCalls(file).compared({name}) for argument in each)
    return [ast.unparse(each) for each in arguments if isinstance(each, ast.Constant | ast.List)]


@pytest.mark.parametrize("call", [
    "own(f(), 5)", "same(f(), 5)", "same(f(), wanted=5)", "same(f(), 5, 'not 6')", "passed_on(f(), 5)",
    "utils.same(f(), 5)", "alike(f(), 5)",
])  # fmt: skip
def test_what_a_helper_compares_is_found(call: str) -> None:
    assert compared(call) == ["5"]


def test_methods_and_arrays_are_helpers_too() -> None:
    assert compared("self.check(f(), 5)", "Test::test") == ["5"]
    assert compared("arrays(f(), [1, 2])") == ["[1, 2]"]
    assert compared("assert_array_equal(f(), [1, 2])") == ["[1, 2]"]


@pytest.mark.parametrize("call", [
    "perhaps(f(), 5)", "early(f(), 5)", "used(f(), 5)", "within(f(), 'abc')", "unknown(f(), 5)", "arrays(f(), 5)",
    "same(*both, 5)", "same(f(), **{'wanted': 5})", "if x: same(f(), 5)", "broken.same(f(), 5)",
    "with caught(): same(f(), 5)", "same(f(), 5); return 5", "self.check(f(), 5)", "others.unknown(f(), 5)",
])  # fmt: skip
def test_what_right_code_might_pass_with_both_is_none(call: str) -> None:
    assert compared(call) == []


def test_each_alteration_is_another_value_in_the_call(tmp_path: Path) -> None:
    text = HEAD.format(call="same(f(), [10, 20])")
    file = HelperFile("tests/unit/test_it.py", ast.parse(text), FILES.get)
    found = alterables(text, tmp_path, tests={"test"}, file=file)["test"]
    altered = {alter(text, {place: 1}).splitlines()[-1].strip() for place in found}
    assert len(altered) == 2
    assert "same(f(), [10, 20])" not in altered
    assert alterables(text, tmp_path, tests={"test"}) == {}


def test_what_serves_as_expectation_alone_is_altered_where_it_stands(tmp_path: Path) -> None:
    text = HEAD.format(call="wanted = [10, 20]; same(f(), wanted)") + (
        "\n@pytest.mark.parametrize(('given', 'wanted'), [(1, 10), (2, 20)])\n"
        "def test_rows(given, wanted):\n    same(f(given), wanted)\n"
        "\ndef test_input():\n    wanted = [10, 20]\n    same(f(wanted), wanted)\n"
    )
    file = HelperFile("tests/unit/test_it.py", ast.parse(text), FILES.get)
    found = alterables(text, tmp_path, tests={"test", "test_rows", "test_input"}, file=file)
    assert found.keys() == {"test", "test_rows"}
    for place in (*found["test"], *found["test_rows"]):
        altered = alter(text, {place: 1})
        assert "same(f(), wanted)" in altered
        assert ("[(1, 10), (2, 20)]" in altered) != (altered.count("[10, 20]; same") == 2)  # one is the method's


ENDINGS = """\
def test():
    with raises(ValueError):
        f()  # a comment

def test_short(): f()

def test_returns():
    if f():
        return
    g()

class Test:
    async def test(self):
        f()
        def inner():
            return 1

def test_twice():
    f()

def test_twice():
    f()
"""


def test_a_failure_is_put_where_every_passing_run_ends() -> None:
    names = {"test", "test_short", "test_returns", "Test::test", "test_twice"}
    found = endings(ENDINGS, names)
    assert found.keys() == {"test", "Test::test"}
    text = ENDINGS
    for (start, end), failure, _ in sorted(found.values(), reverse=True):
        text = text[:start] + failure + text[end:]
    assert "        f()\n    raise AssertionError  # a comment\n" in text
    assert "            return 1\n        raise AssertionError\n" in text
    assert endings(ENDINGS, {"test"}).keys() == {"test"}
