"""Tests that run in place: honest patches, a set-up that submissions attack, and tasks that are not proven."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest

import repoassay
from grading.in_place.conftest import Judge, diff
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.validate import validate_task
from repoassay.errors import InfraFault, Interrupted
from repoassay.grading.hidden_tests.results import HiddenTestRun
from repoassay.grading.in_place import proof
from repoassay.grading.oracle import oracle, recording_runs
from repoassay.tasks.folder import TaskFolder
from repoassay.tasks.read import read_task
from repoassay.types import Outcome
from repoassay.workspace.preparation import lay_out

REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
WRONG = "def price(count):\n    return count * 3\n"
RIGHT = "def price(count):\n    return count * 3 if count < 10 else count * 2\n"
BASE = {
    "shop/__init__.py": "",
    "shop/prices.py": WRONG,
    "setup.cfg": "[tool:pytest]\npython_files = test_*.py check_*.py\n",
    "conftest.py": (
        "import pytest\n\n@pytest.fixture\ndef price():\n    from shop.prices import price\n    return price\n"
    ),
    "tests/__init__.py": "",
    "tests/helpers.py": "LARGE = 40\n\ndef check(got, wanted):\n    assert got == wanted\n",
    "tests/check_prices.py": "from .helpers import LARGE\n\ndef test_few(price):\n    assert price(2) == 6\n",
}
CHECKS = """\
import unittest

from .helpers import LARGE

def test_few(price):
    assert price(2) == 6

def test_many(price):
    assert price(LARGE) == 80
    assert price(1000) == 2000

class TestOld(unittest.TestCase):
    def test_sub(self):
        from shop.prices import price
        for count in range(3):
            with self.subTest(count=count):
                self.assertEqual(price(count), count * 3)

def test_network():
    import urllib.request
    urllib.request.urlopen("http://localhost:1/")
"""
MUST, GUARDS = (
    "tests/check_prices.py::test_many",
    ("tests/check_prices.py::test_few", "tests/check_prices.py::TestOld::test_sub"),
)


SOLUTION = diff({"shop/prices.py": (WRONG, RIGHT)})


def make_task(place: Path, *, solution: bytes = SOLUTION, must: str = MUST, guards: tuple[str, ...] = GUARDS,
              checks: str = CHECKS, more: str = "") -> TaskFolder:  # fmt: skip
    files = {f"repository/{name}": text.encode() for name, text in BASE.items()} | {
        "environment/requirements.txt": REQUIREMENTS.read_bytes(),
        "instruction.md": b"Ten or more cost two each.\n",
        "solution/changes.diff": solution,
        "tests/test.patch": diff({"tests/check_prices.py": (BASE["tests/check_prices.py"], checks)}),
    }
    files["task.toml"] = f"""\
schema = 1
[task]
id = "{place.name}"
title = "Prices of many"
kind = "edit"
domain = "Software"
[repository]
source = "folder:repository"
licence = "MIT"
[environment]
python = ">=3.11"
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = {json.dumps([must])}
pass_to_pass = {json.dumps(guards)}
runner = "repository"
patch = "tests/test.patch"
files = ["tests/check_prices.py"]
{more}
""".encode()
    for name, content in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return read_task(place)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> TaskFolder:
    return make_task(tmp_path_factory.mktemp("tasks") / "shop")


@pytest.mark.long
def test_the_solution_passes_and_is_attested_or_doubted(judge: Judge, shop: TaskFolder) -> None:
    verdict = judge(shop, SOLUTION)
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert {test.id for test in verdict.tests} == {MUST, *GUARDS}
    assert verdict.assurance is not None
    assert verdict.assurance.grade in ("attested", "doubted")


@pytest.mark.exhaustive
def test_a_harmless_change_fails_what_the_base_fails(judge: Judge, shop: TaskFolder) -> None:
    verdict = judge(shop, diff({"NOTES": (None, "A note.\n")}))
    assert verdict.outcome is Outcome.FAILED
    assert [test.id for test in verdict.tests if test.outcome != "passed"] == [MUST]


FORGED = """\
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    result = yield
    result.get_result().outcome = "passed"
"""
OTHER_PRICE = BASE["conftest.py"].replace("return price", "return lambda count: 6 if count < 9 else 2 * count")
POINTS = {"shop.egg-info/PKG-INFO": "Name: shop\nVersion: 1\n", "shop/plugin.py": FORGED}
BREAKS_PYTEST = "LARGE = 40\nimport _pytest.runner\n_pytest.runner.check_interactive_exception = None\n"
LEAVES = "import os\nos._exit(0)\n"
ALL_PASSED = """\
import _pytest.reports
_pytest.reports.TestReport.failed = property(lambda self: False)
_pytest.reports.TestReport.passed = property(lambda self: True)
"""
CALLS_THE_PLUG_IN = f"""\
import gc
for each in gc.get_objects():
    if type(each).__name__ == "ResultSink":
        for name in ("test_many", "test_few", "TestOld::test_sub"):
            each.tell("tests/check_prices.py::" + name, "passed", 0.1, "")
{WRONG}"""
CHEATS: dict[str, dict[str, str]] = {
    "conftest at the root": {"conftest.py": BASE["conftest.py"] + FORGED},
    "conftest in the package": {"shop/conftest.py": FORGED},
    "conftest beside the tests": {"tests/conftest.py": FORGED},
    "another fixture": {"conftest.py": OTHER_PRICE},
    "settings that choose other tests": {"setup.cfg": "[tool:pytest]\naddopts = -k few\n"},
    "settings of more weight": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "settings in pyproject": {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p shop.plugin'\n", "shop/plugin.py": FORGED,
    },
    "a plug-in by entry point": {"shop.egg-info/entry_points.txt": "[pytest11]\nforged = shop.plugin\n", **POINTS},
    "helpers of other values": {"tests/helpers.py": "LARGE = 0\n"},
    "a helper that replaces pytest's": {"tests/helpers.py": BREAKS_PYTEST},
    "tests that pass": {"tests/check_prices.py": "def test_many(): pass\n"},
    "a module that shadows pytest": {"pytest.py": "def main(*a, **k): return 0\n", "_pytest.py": "A = 1\n"},
    "a module that shadows json": {"json.py": "def dumps(*a, **k): return '{}'\n"},
    "sitecustomize": {"sitecustomize.py": LEAVES, "usercustomize.py": LEAVES},
    "the package itself tells pytest": {"shop/__init__.py": ALL_PASSED},
    "the package leaves early": {"shop/prices.py": LEAVES},
    "the package calls the plug-in": {"shop/prices.py": CALLS_THE_PLUG_IN},
}  # fmt: skip


def cheat_of(name: str) -> bytes:
    """A submission that tries to be believed without being right."""
    return diff({path: (BASE.get(path), text) for path, text in CHEATS[name].items()})


@pytest.mark.by_day(5)
@pytest.mark.parametrize("cheat", CHEATS)
def test_no_cheat_on_the_set_up_passes(judge: Judge, shop: TaskFolder, cheat: str) -> None:
    verdict = judge(shop, cheat_of(cheat))
    assert verdict.result is False, (verdict.outcome, verdict.comments)


@pytest.mark.by_day(1)
@pytest.mark.parametrize("cheat", ["conftest at the root", "a plug-in by entry point", "tests that pass"])
@pytest.mark.long
def test_what_is_left_out_is_told_and_does_not_keep_a_solution_from_passing(
    judge: Judge, shop: TaskFolder, cheat: str
) -> None:
    verdict = judge(shop, SOLUTION + cheat_of(cheat))
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert any("Left out" in comment for comment in verdict.comments)


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("options", "why"), [
    ({"solution": diff({"shop/prices.py": (WRONG, WRONG + "\n# a comment\n")})}, "does not pass"),
    ({"must": "tests/check_prices.py::test_few", "guards": ()}, "base passes"),
    ({"must": "tests/check_prices.py::test_gone"}, "No such test was reported"),
    ({"guards": (GUARDS[0], "tests/check_prices.py::test_network")}, "should pass before and after"),
    ({"more": 'seconds = 0.02'}, "unproven"),
    ({"checks": CHECKS + "\nimport no_such_module\n"}, "no_such_module"),
])  # fmt: skip
@pytest.mark.long
def test_nobody_is_judged_by_a_task_that_is_not_proven(
    judge: Judge, tmp_path: Path, options: dict[str, str], why: str
) -> None:
    folder = make_task(tmp_path / "lame", **options)  # type: ignore[arg-type]
    for patch in (SOLUTION, diff({"NOTES": (None, "A note.\n")}), cheat_of("conftest at the root")):
        with pytest.raises(InfraFault, match=why):
            judge(folder, patch)


@pytest.mark.long
def test_a_proof_that_is_given_up_says_nothing_of_the_task(judge: Judge, tmp_path: Path) -> None:
    """Four runs of whole files, half an hour each at most, are not waited for by who ends a program."""
    folder = make_task(tmp_path / "given-up", checks=f"{CHECKS}\n# {uuid.uuid4()}: no proof of it is kept yet\n")
    ended = threading.Event()
    ended.set()
    with pytest.raises(InfraFault, match="given up"):
        judge(folder, SOLUTION, ended)
    assert judge(folder, SOLUTION).outcome is Outcome.PASSED


@pytest.mark.long
def test_a_proof_ends_when_the_event_is_set_that_ends_a_context(judge: Judge, tmp_path: Path) -> None:
    checks = f"{CHECKS}\nimport time\ntime.sleep(30)\n# {uuid.uuid4()}\n"
    folder = make_task(tmp_path / "slow", checks=checks)
    layout = lay_out(folder, None, judge.cache, judge.sandbox)
    ended = threading.Event()
    bench = GradingContext(None, judge.cache, judge.sandbox).ending_with(ended)
    threading.Timer(2, ended.set).start()
    with pytest.raises(Interrupted):
        bench.oracle.proof(folder, layout.base, layout.environment)


@pytest.mark.long
def test_a_fault_that_passes_is_not_kept_for_ever(
    judge: Judge, shop: TaskFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = lay_out(shop, None, judge.cache, judge.sandbox)
    environment = tmp_path / f"environment-{uuid.uuid4()}"
    for _ in range(2):  # the second time it is only remembered
        with pytest.raises(InfraFault):
            judge.oracle.proof(shop, layout.base, environment)
        environment.symlink_to(layout.environment) if not environment.is_symlink() else None
    monkeypatch.setattr("repoassay.grading.oracle.oracle._AGAIN", 0.0)
    assert judge.oracle.proof(shop, layout.base, environment).fail_to_pass


@pytest.mark.exhaustive
def test_a_test_that_the_solution_does_not_pass_here_is_excluded_by_name(judge: Judge, tmp_path: Path) -> None:
    checks = CHECKS + "".join(f"\ndef test_more_{number}(price):\n    assert price(1) == 3\n" for number in range(6))
    more = tuple(f"tests/check_prices.py::test_more_{number}" for number in range(6))
    folder = make_task(tmp_path / "net", checks=checks, guards=(*GUARDS, *more, "tests/check_prices.py::test_network"))
    layout = lay_out(folder, None, judge.cache, judge.sandbox)
    proof = judge.oracle.proof(folder, layout.base, layout.environment)
    assert list(proof.excluded) == ["tests/check_prices.py::test_network"]
    assert judge(folder, SOLUTION).outcome is Outcome.PASSED


def test_pip_does_not_ask_again_where_there_is_no_network(judge: Judge, tmp_path: Path) -> None:
    asks = '\n\ndef test_pip():\n    import os\n    assert os.environ["PIP_RETRIES"] == "0"\n'
    folder = make_task(tmp_path / "pip", checks=CHECKS + asks, guards=("tests/check_prices.py::test_pip",))
    layout = lay_out(folder, None, judge.cache, judge.sandbox)
    assert not judge.oracle.proof(folder, layout.base, layout.environment).excluded


@pytest.mark.exhaustive
def test_what_takes_too_long_with_one_hash_seed_is_not_attested_and_nobodys_failure(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = 'import os, time\n    if os.environ.get("PYTHONHASHSEED") == "2":\n        time.sleep(200)\n    '
    checks = CHECKS.replace("def test_many(price):\n    ", f"def test_many(price):\n    {slow}")
    monkeypatch.setattr(oracle, "_LEAST_SECONDS", 2.0)
    monkeypatch.setattr(oracle, "_TIMES_PROOF", 1.0)
    folder = make_task(tmp_path / "slow", checks=checks)
    verdict = judge(folder, SOLUTION)
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert verdict.assurance is not None
    assert "with the hash seed 2 its tests take longer" in verdict.assurance.open[0]
    assert judge(folder, diff({"NOTES": (None, "A note.\n")})).outcome is Outcome.FAILED


def test_a_recording_that_takes_too_long_in_all_is_given_up(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_runs, "_TIMES_LIMIT", 0.0)
    verdict = judge(make_task(tmp_path / "long", checks=CHECKS + "\n\n"), SOLUTION)
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert verdict.assurance is not None
    assert "were still not recorded" in verdict.assurance.open[0]


@pytest.mark.exhaustive
def test_tests_that_look_at_their_own_source_fail_no_solution(judge: Judge, tmp_path: Path) -> None:
    looks = """

def test_source():
    import inspect
    assert "assert price(1000) == 2000" in inspect.getsource(test_many)
"""
    folder = make_task(
        tmp_path / "looks", checks=CHECKS + looks, guards=(*GUARDS, "tests/check_prices.py::test_source")
    )
    verdict = judge(folder, SOLUTION)
    assert verdict.outcome is Outcome.PASSED, verdict.comments


ROWS = """

import pytest

@pytest.mark.parametrize("count, wanted", [(20, "40"), (2, "6"), (0, "")])
def test_label(price, count, wanted):
    assert str(price(count) or "") == wanted
"""


@pytest.mark.long
def test_rows_that_are_told_by_their_values_are_matched_by_the_order_in_which_they_ran(
    judge: Judge, tmp_path: Path
) -> None:
    """Altered rows have other ids; the row without a word to alter keeps its own, and is named by the task."""
    rows = tuple(f"tests/check_prices.py::test_label[{row}]" for row in ("20-40", "2-6", "0-"))
    folder = make_task(tmp_path / "rows", checks=CHECKS + ROWS, must=rows[0], guards=(*GUARDS, *rows[1:]))
    verdict = judge(folder, SOLUTION)
    assert verdict.outcome is Outcome.PASSED, verdict.comments


def test_a_guard_fails_a_submission_twice_or_not(judge: Judge, shop: TaskFolder) -> None:
    breaks = diff({"shop/prices.py": (WRONG, RIGHT.replace("count * 3", "count * 4"))})
    assert breaks != SOLUTION
    verdict = judge(shop, breaks)
    assert verdict.outcome is Outcome.FAILED
    assert any(comment.startswith("Run again") for comment in verdict.comments)


@pytest.mark.long
def test_unittest_is_read_in_its_own_names(judge: Judge, tmp_path: Path) -> None:
    checks = (
        "import unittest\nfrom shop.prices import price\n\nclass TestMany(unittest.TestCase):\n"
        '    def test_few(self):\n        """Few are dear."""\n        self.assertEqual(price(2), 6)\n'
        "    def test_many(self):\n        for count in (20, 30):\n            with self.subTest(count=count):\n"
        "                self.assertEqual(price(count), count * 2)\n"
    )
    must = "test_many (tests.check_prices.TestMany.test_many)"
    more = 'reader = "unittest"'
    folder = make_task(tmp_path / "old", checks=checks, must=must, guards=("Few are dear.",), more=more)
    assert judge(folder, SOLUTION).outcome is Outcome.PASSED
    verdict = judge(folder, diff({"NOTES": (None, "A note.\n")}))
    assert [test.id for test in verdict.tests if test.outcome != "passed"] == [must]


@pytest.mark.exhaustive
def test_a_set_up_that_the_solution_changes_is_the_solutions(judge: Judge, tmp_path: Path) -> None:
    conftest = BASE["conftest.py"] + "\n@pytest.fixture\ndef dear():\n    return 20\n"
    solution = SOLUTION + diff({"conftest.py": (BASE["conftest.py"], conftest)})
    checks = CHECKS + "\ndef test_dear(price, dear):\n    assert price(dear) == 40\n"
    folder = make_task(tmp_path / "dear", solution=solution, checks=checks, must="tests/check_prices.py::test_dear")
    assert judge(folder, solution).outcome is Outcome.PASSED
    assert judge(folder, SOLUTION).outcome is Outcome.PASSED
    assert judge(folder, cheat_of("conftest at the root")).outcome is Outcome.FAILED


@pytest.mark.exhaustive
def test_validate_proves_it_like_any_task(shop: TaskFolder, judge: Judge) -> None:
    proofs = validate_task(shop, GradingContext(None, judge.cache, judge.sandbox))
    assert [proof.name for proof in proofs if not proof.sound] == []
    assert {proof.name for proof in proofs} >= {"reference", "nothing", "base", "canary", "assurance"}


def word_of_seeds(odd: str, even: str) -> str:
    """A word whose hash is odd with one hash seed and even with another."""
    code = "print(*(hash(str(n)) % 2 for n in range(64)))"
    halves = [
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        for seed in (odd, even)
    ]
    pairs = list(zip(*(done.stdout.split() for done in halves), strict=True))
    return str(pairs.index((b"1", b"0")))


@pytest.mark.long
def test_a_solution_that_passes_with_some_hash_seeds_is_judged_with_such_a_seed(judge: Judge, tmp_path: Path) -> None:
    many = f"    assert price(LARGE) == 80\n    assert hash({word_of_seeds('1', '2')!r}) % 2 == 0\n"
    folder = make_task(tmp_path / "seed", checks=CHECKS.replace("    assert price(LARGE) == 80\n", many))
    layout = lay_out(folder, None, judge.cache, judge.sandbox)
    assert judge.oracle.proof(folder, layout.base, layout.environment).seed == "2"
    verdict = judge(folder, SOLUTION)
    assert verdict.outcome is Outcome.PASSED, verdict.comments
    assert judge(folder, diff({"NOTES": (None, "A note.\n")})).outcome is Outcome.FAILED


@pytest.mark.long
def test_a_solution_that_passes_by_chance_proves_nothing(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, runs = proof._run, 0

    def unlucky(folder: TaskFolder, base: Path, edits: Any, *rest: Any) -> HiddenTestRun:
        nonlocal runs
        runs += 1
        return real(folder, base, edits if runs > 1 else {}, *rest)

    monkeypatch.setattr(proof, "_run", unlucky)
    folder = make_task(tmp_path / "chance", checks=f"{CHECKS}\n# {uuid.uuid4()}\n")
    with pytest.raises(InfraFault, match="unproven, by chance"):
        judge(folder, SOLUTION)


@pytest.mark.long
def test_no_variable_of_a_task_lets_a_submission_in_before_the_program_that_tells_results(
    judge: Judge, tmp_path: Path
) -> None:
    asks = '\n\ndef test_path():\n    import os\n    assert os.environ["PYTHONPATH"] == "/workspace/repo"\n'
    variables = '[environment.variables]\nPYTHONPATH = "/workspace/repo"\n'
    guards = (*GUARDS, "tests/check_prices.py::test_path")
    folder = make_task(tmp_path / "path", checks=CHECKS + asks, guards=guards, more=variables)
    verdict = judge(folder, cheat_of("a module that shadows json"))
    assert verdict.result is False, (verdict.outcome, verdict.comments)
    assert judge(folder, SOLUTION).outcome is Outcome.PASSED
