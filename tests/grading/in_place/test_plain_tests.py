"""Tests in place that assert nothing themselves: right patches, and ones that would pass as their process says."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.in_place.conftest import Judge, diff
from grading.in_place.test_in_place import GUARDS, MUST, RIGHT, SOLUTION, WRONG, make_task
from repoassay.tasks.folder import TaskFolder
from repoassay.types import Outcome

BY_HELPER = """\
import pytest

from .helpers import check
from shop.prices import price

def test_few(price):
    assert price(2) == 6

def test_many(price):
    check(price(40), 80)
    check(price(1000), 2000)

@pytest.mark.xfail
def test_later(price):
    assert price(3) == 0
"""
WITHOUT = BY_HELPER.replace("check(price(40), 80)", "assert_right(price)").replace("    check(price(1000), 2000)\n", "")
WITHOUT += (
    "\ndef assert_right(price):\n    for count in (40, 1000):\n        if price(count) != 2 * count: raise ValueError\n"
)
IN_LOOPS = BY_HELPER.replace(
    "def test_many(price):\n    check(price(40), 80)\n    check(price(1000), 2000)\n",
    """\
@pytest.fixture
def right():
    def right(got, wanted):
        if got != wanted:
            raise ValueError(got)
    return right

def test_many(price, right):
    for count, wanted in [(40, 80), (1000, 2000)]:
        right(price(count), wanted)
    if price(30) != 60:
        raise ValueError(price)
""",
)
LATER = "tests/check_prices.py::test_later"
IN_CALLS = "def price(count):\n    if count < 10: return count * 3\n"
ENDS: dict[str, str] = {
    "as an expected failure": f"import pytest\n{IN_CALLS}    pytest.xfail('later')\n",
    "by a mark": f"""\
import pytest, sys
{IN_CALLS}    frame = sys._getframe()
    while frame:
        item = frame.f_locals.get('item')
        if hasattr(item, 'add_marker'): item.add_marker(pytest.mark.xfail)
        frame = frame.f_back
""",
    "whatever is raised": f"""\
import _pytest.python
real = _pytest.python.Function.runtest
def runs(self):
    try: real(self)
    except Exception: pass
_pytest.python.Function.runtest = runs
{IN_CALLS}""",
    "by a report": f"""\
import _pytest.reports
_pytest.reports.TestReport.failed = property(lambda self: False)
_pytest.reports.TestReport.passed = property(lambda self: True)
{IN_CALLS}""",
}
SPOILS: dict[str, str] = {
    "a helper without its code": f"""\
import sys
{IN_CALLS}    sys.modules['tests.helpers'].check.__code__ = (lambda got, wanted: None).__code__
""",
    "another helper": f"import sys\n{IN_CALLS}    sys._getframe(1).f_globals['check'] = lambda got, wanted: None\n",
    "what equals everything": f"class Right:\n    def __eq__(self, other): return True\n{IN_CALLS}    return Right()\n",
    "what the call says": f"""\
import linecache, sys
{IN_CALLS}    frame = sys._getframe(1)
    return int(linecache.getline(frame.f_code.co_filename, frame.f_lineno).split(', ')[1].strip(') \\n'))
""",
}
SPOILS_LOOPS: dict[str, str] = {
    "what a fixture gives": f"""\
import sys
{IN_CALLS}    frame = sys._getframe(1)
    frame.f_locals['right'].__code__ = (lambda got, wanted: None).__code__
    return 60
""",
    "what differs from nothing": f"""\
class Right:
    def __ne__(self, other): return False
{IN_CALLS}    return Right()
""",
}
HONEST = "def price(count):\n    each = 3\n    if count >= 10:\n        each = 2\n    return each * count\n"


@pytest.fixture(scope="module")
def helped(tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    return make_task(tmp_path_factory.mktemp("tasks") / "helped", checks=BY_HELPER, guards=(GUARDS[0], LATER))


@pytest.fixture(scope="module")
def looped(tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    return make_task(tmp_path_factory.mktemp("tasks") / "looped", checks=IN_LOOPS, guards=(GUARDS[0], LATER))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    return make_task(tmp_path_factory.mktemp("tasks") / "bare", checks=WITHOUT, guards=(GUARDS[0], LATER))


def code(text: str) -> bytes:
    return diff({"shop/prices.py": (WRONG, text)})


@pytest.mark.long
def test_right_code_passes_tests_that_assert_by_a_helper_and_is_doubted(judge: Judge, helped: TaskFolder) -> None:
    assert helped.task.grading.tests is not None
    for patch in (SOLUTION, code(HONEST)):
        verdict = judge(helped, patch)
        assert verdict.outcome is Outcome.PASSED, verdict.comments
        assert verdict.assurance is not None
        assert verdict.assurance.grade == "doubted"
        assert verdict.assurance.doubt > 0
        assert {test.id for test in verdict.tests} == {MUST, GUARDS[0], LATER}


@pytest.mark.long
def test_right_code_passes_tests_without_assertions_and_stays_plain(judge: Judge, bare: TaskFolder) -> None:
    for patch in (SOLUTION, code(HONEST)):
        verdict = judge(bare, patch)
        assert verdict.outcome is Outcome.PASSED, verdict.comments
        assert verdict.assurance is not None
        assert verdict.assurance.grade == "plain"


@pytest.mark.by_day(2)
@pytest.mark.parametrize("way", [*ENDS, *SPOILS])
def test_no_test_by_a_helper_is_passed_as_its_process_says(judge: Judge, helped: TaskFolder, way: str) -> None:
    verdict = judge(helped, code({**ENDS, **SPOILS}[way]))
    assert verdict.result is False, (verdict.outcome, verdict.comments)


@pytest.mark.long
@pytest.mark.by_day(2)
def test_tables_fixtures_and_tests_that_raise_are_doubted(judge: Judge, looped: TaskFolder) -> None:
    verdict = judge(looped, code(HONEST))
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert verdict.assurance is not None
    assert verdict.assurance.grade == "doubted"
    for way in SPOILS_LOOPS.values():
        verdict = judge(looped, code(way))
        assert verdict.outcome is Outcome.TAMPERING, (verdict.outcome, verdict.comments)


@pytest.mark.by_day(2)
@pytest.mark.parametrize("way", ENDS)
def test_who_makes_every_test_pass_is_found_where_none_asserts(judge: Judge, bare: TaskFolder, way: str) -> None:
    verdict = judge(bare, code(ENDS[way]))
    assert verdict.result is False, (verdict.outcome, verdict.comments)


def test_a_failure_is_expected_where_the_solutions_is(judge: Judge, helped: TaskFolder) -> None:
    """A guard that the maintainers mark as failing is one on both sides, and nobody's fault."""
    verdict = judge(helped, code(RIGHT.replace("count * 3", "count * 4")))
    outcomes = {test.id: test.outcome for test in verdict.tests}
    assert outcomes == {MUST: "passed", GUARDS[0]: "failed", LATER: "passed"}


@pytest.mark.long
@pytest.mark.parametrize("way", ["decorator", "attribute", "private exception"])
def test_unittests_own_ways_out_pass_no_test(judge: Judge, tmp_path: Path, way: str) -> None:
    checks = (
        "import unittest\nfrom .helpers import check\nfrom shop.prices import price\n\n"
        "class TestMany(unittest.TestCase):\n    def test_few(self):\n        self.assertEqual(price(2), 6)\n"
        "    def test_many(self):\n        check(price(40), 80)\n"
        "    @unittest.expectedFailure\n    def test_later(self):\n        self.assertEqual(price(3), 0)\n"
    )
    names = [f"tests/check_prices.py::TestMany::{name}" for name in ("test_many", "test_few", "test_later")]
    more, place = 'reader = "unittest"', tmp_path / way.partition(" ")[0]
    folder = make_task(place, checks=checks, must=names[0], guards=tuple(names[1:]), more=more)
    assert judge(folder, SOLUTION).outcome is Outcome.PASSED
    marks = "'outcome' in frame.f_locals: frame.f_locals['outcome'].expecting_failure = True"
    if way == "decorator":
        marks = "'self' in frame.f_locals: frame.f_locals['self'].__unittest_expecting_failure__ = True"
    walk = f"    frame = sys._getframe()\n    while frame:\n        if {marks}\n        frame = frame.f_back\n"
    if way == "private exception":
        walk = "    from unittest.case import _ShouldStop\n    raise _ShouldStop\n"
    verdict = judge(folder, code(f"import sys\n{IN_CALLS}{walk}"))
    assert verdict.result is False, (verdict.outcome, verdict.comments)
