"""Arguments that helpers surely compare, and those of which nobody can know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from repoassay.grading.oracle.alteration import alter, alterables, in_loops
from repoassay.grading.oracle.bare_tests import HelperCalls, HelperFile, endings, origins_of

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

def raising(got, wanted):
    if got != wanted:
        raise ValueError(f"{got} is not {wanted}")

def given(check, got, wanted):
    check(got, wanted)
"""
CONFTEST = """\
import pytest
from tests.utils import within as loose

@pytest.fixture
def checker():
    def check(got, wanted):
        assert got == wanted
    return check

@pytest.fixture(scope="module")
def lasting():
    def check(got, wanted):
        if got != wanted:
            raise AssertionError
    yield check

@pytest.fixture
def other():
    return loose

def plain():
    def check(got, wanted):
        assert got == wanted
    return check
"""
FILES = {
    "tests/utils.py": UTILS,
    "tests/__init__.py": "from .utils import same as alike\n",
    "tests/unit/broken.py": "def (",
    "tests/conftest.py": CONFTEST,
    "tests/unit/conftest.py": "import pytest\n\n@pytest.fixture\ndef shadowed():\n    return print\n",
}
HEAD = """\
import tests.utils as others
from ..utils import arrays, early, given, passed_on, perhaps, raising, same, used, within
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

def test(checker, lasting, other, plain, shadowed, x, same_as=0):
    {call}
"""


def compared(call: str, name: str = "test", more: str = "") -> list[str]:
    text = HEAD.format(call=call) + more
    file = HelperFile("tests/unit/test_it.py", ast.parse(text), {**FILES, "tests/unit/test_it.py": text}.get)
    arguments = (argument for _, _, each in HelperCalls(file).compared({name}, in_loops) for argument in each)
    return [ast.unparse(each) for each in arguments if isinstance(each, ast.Constant | ast.List)]


@pytest.mark.parametrize("call", [
    "own(f(), 5)", "same(f(), 5)", "same(f(), wanted=5)", "same(f(), 5, 'not 6')", "passed_on(f(), 5)",
    "utils.same(f(), 5)", "alike(f(), 5)", "raising(f(), 5)", "checker(f(), 5)", "lasting(f(), wanted=5)",
    "for given in [1, 2]: same(f(given), 5)", "for given in [1]: checker(f(given), 5)",
    "if f() != 5: raise ValueError", "for given in (1, 2): x if x else x; raising(f(given), 5)",
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
    "for each in f(): same(each, 5)", "for each in [1]: same(each, 5); break", "if f() == 5: raise ValueError",
    "other(f(), 5)", "plain(f(), 5)", "shadowed(f(), 5)", "given(same, f(), 5)", "same = print; same(f(), 5)",
    "checker = print; checker(f(), 5)", "if f() != 5: x()", "x(f(), 5)",
    "with caught(): same(f(), 5)", "same(f(), 5); return 5", "self.check(f(), 5)", "others.unknown(f(), 5)",
])  # fmt: skip
def test_what_right_code_might_pass_with_both_is_none(call: str) -> None:
    assert compared(call) == []


def test_a_parameter_is_no_fixture_where_a_mark_gives_it() -> None:
    more = "def test_chosen(checker):\n    checker(f(), 5)\n"
    assert compared("pass", "test_chosen", more) == ["5"]
    for bases, wanted in (("", ["5"]), ("(Base)", [])):
        inside = f"class TestIt{bases}:\n    def test_it(self, checker):\n        checker(f(), 5)\n"
        assert compared("pass", "TestIt::test_it", inside) == wanted
    assert compared("pass", "test_chosen", f'@pytest.mark.parametrize("checker", [print])\n{more}') == []


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


INHERITED = """\
class Common(Looped):
    def test_a(self): ...
    def test_b(self): ...

class Looped(Common): ...

class First(Other, Common, TestCase): ...

class Second(First):
    def test_b(self): ...
"""


def test_tests_of_a_class_are_found_where_another_of_the_file_has_them() -> None:
    every = [
        "Common::test_a",
        "First::test_a",
        "First::test_b",
        "Looped::none",
        "Second::test_a",
        "Second::test_b",
        "x",
    ]
    origins = origins_of(ast.parse(INHERITED), every[1:])
    assert origins == {"First::test_a": "Common::test_a", "First::test_b": "Common::test_b"}
    assert origins_of(ast.parse(INHERITED), every) == {"First::test_b": "Common::test_b"}


@pytest.mark.parametrize("body", [
    "for given, wanted in [(1, 10), (2, 20)]: same(f(given), wanted)",
    "for given, wanted in [(1, 10), (2, 20)]: checker(f(given), wanted)",
    "for given, wanted in [(1, 10), (2, 20)]:\n        if f(given) != wanted: raise ValueError",
])  # fmt: skip
def test_what_a_loop_compares_is_altered_in_its_table(tmp_path: Path, body: str) -> None:
    text = HEAD.format(call="pass") + f"\ndef test_table(checker):\n    {body}\n"
    file = HelperFile("tests/unit/test_it.py", ast.parse(text), FILES.get)
    found = alterables(text, tmp_path, tests={"test_table"}, file=file)
    assert found.keys() == {"test_table"}
    for place in found["test_table"]:
        altered = alter(text, {place: 1})
        assert "[(1, 10), (2, 20)]" not in altered and "[(1," in altered and ", (2," in altered
