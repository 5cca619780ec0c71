"""Rewriting takes what is expected out of a test file, and nothing else."""

from __future__ import annotations

import ast
import textwrap

import pytest

from repoassay.grading.oracle.rewrite import HOOK, rewrite
from repoassay.grading.oracle.sites import AssertionSite, Rewritten, SiteMode

HEAD = """\
import datetime
import math
import re
import unittest
from decimal import Decimal

import pytest

from code_under_test import f, g

"""


def made(body: str) -> Rewritten:
    """The rewritten file of a body below the usual imports."""
    source = HEAD + textwrap.dedent(body)
    result = rewrite(source)
    assert result.source.count("\n") == source.count("\n"), "lines stay where they were"
    ast.parse(result.source)
    return result


def one(body: str) -> tuple[str, AssertionSite]:
    """The text of a test with one assertion, and its site."""
    result = made("def test_it():\n" + textwrap.indent(textwrap.dedent(body), "    "))
    (site,) = result.sites
    return result.source, site


WITHHELD = [
    ("assert f(1) == 5171", f"{HOOK}(0,f(1))", "_0 == 5171"),
    ("assert 5171 == f(1)", f"{HOOK}(0,f(1))", "5171 == _0"),
    ("assert f(1) == [5171, {'key': 'secret'}]", "f(1)", "_0 == [5171, {'key': 'secret'}]"),
    ("assert not f(1)", f"{HOOK}(0,not(f(1)))", "not not _0"),
    ("assert f(1)", f"{HOOK}(0,not(f(1)))", "not _0"),
    ("assert f(1) is None", f"{HOOK}(0,f(1))", "_0 is None"),
    ("assert 'secret' in f(1)", f"{HOOK}(0,f(1))", "'secret' in _0"),
    ("assert 3 < f(1) <= 5171", f"{HOOK}(0,f(1))", "3 < _0 <= 5171"),
    ("assert f(1) == 5171 and g(2) == 'secret'", f"{HOOK}(0,f(1),g(2))", "_0 == 5171 and _1 == 'secret'"),
    ("assert f(1).startswith('secret')", f"{HOOK}(0,f(1))", "_0.startswith('secret')"),
    ("assert f(1) == Decimal('5171.5')", f"{HOOK}(0,f(1))", "_0 == Decimal('5171.5')"),
    ("assert f(1) == datetime.date(2024, 1, 31)", f"{HOOK}(0,f(1))", "_0 == datetime.date(2024, 1, 31)"),
    ("assert f(1) == pytest.approx(5171.5, abs=1e-3)", f"{HOOK}(0,f(1))", "_0 == pytest.approx(5171.5, abs=0.001)"),
    ("assert f(1) == 5171, 'five thousand: secret'", f"{HOOK}(0,f(1))", "_0 == 5171"),
    ("assert f(1) == 5171  # the secret", f"{HOOK}(0,f(1))", "_0 == 5171"),
    ("assert (\n    f(1)\n    == 5171\n)", f"{HOOK}(0,", "_0 == 5171"),
    ("assert f(1) == {\n    'secret': 5171,\n}", f"{HOOK}(0,f(1)", "_0 == {'secret': 5171}"),
    ("assert math.isclose(f(1), 5171)", f"{HOOK}(0,not(math.isclose(f(1), 5171)))", "not _0"),
    ("assert re.search('secret', f(1))", f"{HOOK}(0,f(1))", "re.search('secret', _0)"),
    ("assert f(1) == ['secret', *['x'] * 5171]", f"{HOOK}(0,f(1))", "_0 == ['secret', *['x'] * 5171]"),
    ("expected = 'secret'\nassert f(1) == expected", f"{HOOK}(0,f(1))", "_0 == 'secret'"),
    ("name = f(0)\nassert f(1) == f'secret {name}'", f"{HOOK}(0,f(1), name)", "_0 == f'secret {_1}'"),
    ("with pytest.raises(ValueError, match='secret'):\n    f(1)", f"with {HOOK}.raises(0,None,Exception,0):",
     "raised(_0, ['builtins.ValueError'], 'secret')"),
    ("with pytest.raises(SystemExit):\n    f(1)", f"with {HOOK}.raises(0,None,BaseException,0):",
     "raised(_0, ['builtins.SystemExit'], None)"),
    ("with pytest.raises(g.Error, match='secret') as e:\n    f(1)", f"with {HOOK}.raises(0,None,g.Error,1) as e:",
     "raised(_0, _1, 'secret')"),
    ("pytest.raises(ValueError, f, 1)", f"{HOOK}.calls(0,None,Exception,0,f, 1)",
     "raised(_0, ['builtins.ValueError'], None)"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "inside", "check"), WITHHELD, ids=[each[0][:60] for each in WITHHELD])
def test_what_is_expected_leaves(statement: str, inside: str, check: str) -> None:
    text, site = one(statement)
    assert site.mode is SiteMode.WITHHELD
    assert inside in text
    assert site.check == check
    assert "secret" not in text
    assert site.always
    assert "5171" not in text or "isclose" in text


METHODS = [
    ("self.assertEqual(f(1), 5171)", "_0 == 5171"),
    ("self.assertEqual(5171, f(1), 'secret')", "5171 == _0"),
    ("self.assertIsNone(f(1))", "_0 is None"),
    ("self.assertTrue(f(1))", "not _0"),
    ("self.assertFalse(f(1))", "not not _0"),
    ("self.assertIn('secret', f(1))", "'secret' in _0"),
    ("self.assertAlmostEqual(f(1), 5171, places=3)", "almost(_0, 5171, 3, None)"),
    ("self.assertCountEqual(f(1), ['secret'])", "count_equal(_0, ['secret'])"),
    ("self.assertRegex(f(1), 'secret')", "searched('secret', _0)"),
    ("self.assertGreater(f(1), 5171)", "_0 > 5171"),
    ("self.assertDictEqual(f(1), {'secret': 1})", "_0 == {'secret': 1}"),
    ("self.assertRaises(ValueError, f, 1)", "raised(_0, ['builtins.ValueError'], None)"),
    ("with self.assertRaisesRegex(ValueError, 'secret'):\n    f(1)", "raised(_0, ['builtins.ValueError'], 'secret')"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "check"), METHODS, ids=[each[0][:60] for each in METHODS])
def test_methods_of_unittest(statement: str, check: str) -> None:
    body = textwrap.indent(statement, "        ")
    result = made(f"class T(unittest.TestCase):\n    def test_it(self):\n{body}\n")
    (site,) = result.sites
    assert (site.mode, site.check, site.test) == (SiteMode.WITHHELD, check, "T::test_it")
    assert "secret" not in result.source
    assert "5171" not in result.source


def test_both_sides_of_the_code_are_observed() -> None:
    text, site = one("assert f(1) == g(2)")
    assert site.mode is SiteMode.OBSERVED
    assert f"assert {HOOK}(0,f(1)) == {HOOK}(0,g(2))" in text


@pytest.mark.parametrize("mode", [SiteMode.OBSERVED, SiteMode.LEFT])
def test_what_does_not_hold_outside_can_stay_inside(mode: SiteMode) -> None:
    result = rewrite(f"{HEAD}def test_it():\n    assert f(1) == 5171\n", {0: mode})
    assert result.sites[0].mode is mode
    assert "5171" in result.source


def test_columns_of_a_table_leave() -> None:
    result = made("""\
        @pytest.mark.parametrize("given, expected", [(1, "secret"), pytest.param(2, "secret 2", id="two")])
        def test_it(given, expected):
            assert f(given) == expected

        def test_loop():
            for given, expected in ((1, "secret"), (2, "secret 2")):
                assert f(given) == expected
    """)
    assert "secret" not in result.source
    assert [site.pinned for site in result.sites] == [(1,), (1,)]
    assert "['secret', 'secret 2']" in result.definitions
    assert '[(1, 0), pytest.param(2, 1, id="two")]' in result.source


def test_a_column_that_is_needed_inside_stays() -> None:
    result = made("""\
        @pytest.mark.parametrize("given, expected", [(1, "secret"), (2, "other")])
        def test_it(given, expected):
            assert f(expected) == expected
    """)
    assert "secret" in result.source
    assert result.sites[0].mode is SiteMode.OBSERVED


def test_constants_leave_when_nothing_else_needs_them() -> None:
    result = made("""\
        ONLY = {"secret": 1}
        SHARED = "shared"
        LIST = ["kept"]

        def test_it():
            assert f(1) == ONLY
            assert f(SHARED) == SHARED + "!"
            assert f(LIST) == LIST
    """)
    assert "secret" not in result.source
    assert "shared" in result.source
    assert "kept" in result.source
    assert [site.mode for site in result.sites] == [SiteMode.WITHHELD, SiteMode.WITHHELD, SiteMode.OBSERVED]
    assert "_c_ONLY = {'secret': 1}" in result.definitions


@pytest.mark.parametrize(
    "body",
    [
        "expected = [1]\nexpected.append(2)\nassert f(1) == expected",
        "expected = [1]\nf(expected)\nassert g() == expected",
        "expected = 1\nexpected = 2\nassert f(1) == expected",
        "expected = 1\nif f(0):\n    expected = 2\nassert f(1) == expected",
        "expected = datetime.datetime.now()\nassert f(1) == expected",
    ],
)
def test_a_name_that_may_change_is_not_taken_for_a_constant(body: str) -> None:
    assert one(body)[1].mode is SiteMode.OBSERVED


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    assert f(1) == 2\nexcept AssertionError:\n    pass",
        "try:\n    assert f(1) == 2\nexcept:\n    pass",
    ],
)
def test_an_assertion_that_may_be_caught_stays(body: str) -> None:
    assert one(body)[1].mode is SiteMode.LEFT


def test_only_what_every_run_reaches_is_asked_of_every_run() -> None:
    result = made("""\
        def test_it():
            assert f(0) == 1
            for x in f(1):
                assert x == 2
            if f(2):
                assert f(2) == 3
            with open(f(3)):
                assert f(3) == 4

        def test_leaves():
            if f(1):
                return
            assert f(1) == 2
    """)
    assert [site.always for site in result.sites] == [True, False, False, True, False]


def test_documents_of_tests_leave_and_those_of_others_stay() -> None:
    result = made('''\
        def test_it():
            """Expects the secret."""
            def command():
                """Kept: it may be what is tested."""
            assert f(command) == 1
    ''')
    assert "secret" not in result.source
    assert "Kept" in result.source


def test_what_is_no_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        rewrite("def test(:\n")
