"""Doubting by twins: honest submissions stand, whoever reports passes at will must name every real copy."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import repoassay
from repoassay.grading.canary_check import doubt_tests
from repoassay.grading.edit import grade_edit
from repoassay.grading.oracle.oracle import Oracle
from repoassay.grading.oracle.reference import Reference
from repoassay.grading.test_run import HiddenTestSubject
from repoassay.grading.twin_check import Doubt
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome
from repoassay.types.files import FileEdit
from repoassay.workspace.preparation import PreparedTask, lay_out

REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
TESTS = """\
import unittest
from pathlib import Path

import pytest

from calc import add


def test_numbers():
    assert add(20, 37) == 57
    assert add(-4, 9) == 5
    assert add(0.25, 0.5) == 0.75


def test_words():
    assert add("mar", "mot") == "marmot"
    assert add(["qua"], ["zar"]) == ["qua", "zar"]
    assert add("x", "kjhg") == "xkjhg"


@pytest.mark.parametrize(("first", "second", "expected"), [(3, 4, 7), (11, 31, 42), (65, 28, 93)])
def test_table(first, second, expected):
    assert add(first, second) == expected


class TestMore(unittest.TestCase):
    def test_loop(self):
        for first, expected in [(31, 64), (44, 77)]:
            self.assertEqual(add(first, 33), expected)

    def test_beside(self):
        self.assertEqual((Path(__file__).parent / "data" / "kept.txt").read_text(), "kept\\n")
"""
DOCUMENT = """\
schema = 1
[task]
id = "doubted-add"
title = "Repair addition"
kind = "edit"
domain = "Tests"
[repository]
source = "bundled:calc"
licence = "MIT"
[environment]
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = [
    "test_calc.py::test_numbers", "test_calc.py::test_words", "test_calc.py::test_table[3-4-7]",
    "test_calc.py::test_table[11-31-42]", "test_calc.py::test_table[65-28-93]", "test_calc.py::TestMore::test_loop",
]
pass_to_pass = ["test_calc.py::TestMore::test_beside"]
seconds = 10
[limits]
memory = "256 MB"
"""
FORGER = WRONG + textwrap.dedent(
    """
    import ast, collections, glob, random
    import _pytest.runner as runner
    kept = runner.CallInfo.from_call.__func__

    def part(path, name):
        source = open(path).read()
        tree = ast.parse(source)
        node = next(each for each in ast.walk(tree) if getattr(each, "name", "") == name)
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        return "\\n".join(source.split("\\n")[first - 1:node.end_lineno])

    chosen = {}
    def real(item):
        name, here = item.originalname if hasattr(item, "originalname") else item.name, str(item.path)
        places = glob.glob("/tests/*/test_calc.py")
        if not places:
            return CHANCE
        parts = [part(each, name) for each in places]
        if name not in chosen:
            chosen[name] = choose(parts, name)
        return part(here, name) == chosen[name]

    def from_call(cls, func, when, reraise=None):
        if when != "call":
            return kept(cls, func, when, reraise)
        items = [cell.cell_contents for cell in func.__closure__ if hasattr(cell.cell_contents, "nodeid")]
        def no():
            assert False
        return kept(cls, (lambda: None) if decide(items[0]) else no, when, reraise)

    runner.CallInfo.from_call = classmethod(from_call)
    CHANCE = True
    decide = real
    """
)
CHOICES = {
    "everything passes": "decide = lambda item: True",
    "a coin for every copy": "decide = lambda item: not glob.glob('/tests/*/*.py') or random.random() < 0.3",
    "any copy": "choose = lambda parts, name: random.choice(parts)",
    "the first copy": "choose = lambda parts, name: parts[0]",
    "the majority": "choose = lambda parts, name: collections.Counter(parts).most_common()[0][0]",
    "the centre": """
def choose(parts, name):
    return min(parts, key=lambda one: sum(a != b for each in parts for a, b in zip(one, each)))
""",
    "what the other tests say": """
import re
def choose(parts, name):
    words = re.findall(r"[a-z0-9]+", open(glob.glob("/tests/*/test_calc.py")[0]).read())
    return max(parts, key=lambda one: sum(words.count(each) for each in re.findall(r"[a-z0-9]+", one)))
""",
    "the quotes": """
def choose(parts, name):
    return max(parts, key=lambda one: (one.count('"'), -one.count("'"), len(one)))
""",
    "one assertion disarmed": """
import unittest
unittest.TestCase.assertEqual = lambda *rest, **named: None
runner.CallInfo.from_call = classmethod(kept)
def add(a, b):
    return a + b
""",
}


def diff(new: str) -> bytes:
    lines = difflib.unified_diff(
        WRONG.splitlines(keepends=True), new.splitlines(keepends=True), "a/calc/__init__.py", "b/calc/__init__.py"
    )
    return ("diff --git a/calc/__init__.py b/calc/__init__.py\n" + "".join(lines)).encode()


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> PreparedTask:
    suite = tmp_path_factory.mktemp("suite")
    files = {
        "suite.toml": 'schema = 1\n[suite]\nname = "calc"\nversion = "1"\ntitle = "Calc"\n',
        "repositories/calc/calc/__init__.py": WRONG,
        "tasks/doubted-add/task.toml": DOCUMENT,
        "tasks/doubted-add/instruction.md": "Repair `add`.",
        "tasks/doubted-add/environment/requirements.txt": REQUIREMENTS.read_text(),
        "tasks/doubted-add/tests/test_calc.py": TESTS,
        "tasks/doubted-add/tests/data/kept.txt": "kept\n",
        "tasks/doubted-add/solution/changes.diff": diff(RIGHT).decode(),
    }
    for name, content in files.items():
        (suite / name).parent.mkdir(parents=True, exist_ok=True)
        (suite / name).write_text(content)
    found = find_suite(str(suite))
    return lay_out(found.tasks[0], found.repositories, Cache(), sandbox)


@pytest.fixture(scope="module")
def oracle(sandbox: Sandbox) -> Iterator[Oracle]:
    made = Oracle(Cache(), sandbox)
    yield made
    made.close()


@pytest.fixture(scope="module")
def reference(task: PreparedTask, oracle: Oracle) -> Reference:
    found = oracle.reference(task.folder, task.base, task.environment)
    assert found is not None
    return found


def doubt(
    task: PreparedTask, sandbox: Sandbox, source: str, reference: Reference | None, wall: float | None = None, *,
    direct: bool = False,
) -> Doubt:  # fmt: skip
    """Doubt all tests after a first run that reports nothing but passes."""
    edits = {"calc/__init__.py": FileEdit(source.encode())}
    subject = HiddenTestSubject(task.folder, task.base, task.environment, edits, sandbox, direct=direct)
    first = subject.run()
    assert first.report.passed
    if wall is not None:
        first = replace(first, exit=first.exit.model_copy(update={"wall": wall}))
    return doubt_tests(subject, subject.ids, first, reference.twins if reference else None)


def test_the_reference_proves_what_can_be_doubted(task: PreparedTask, reference: Reference) -> None:
    assert task.folder.task.grading.tests is not None
    doubted = {test for unit in reference.twins.values() for test in unit.ids}
    assert doubted == set(task.folder.task.grading.tests.all_ids)
    table = reference.twins["test_calc.py::test_table"]
    assert any(set(site.fails) == set(table.ids) for site in table.sites)


@pytest.mark.by_day(1)
@pytest.mark.parametrize("proven", [True, False])
def test_an_honest_submission_stands_up_to_it(
    task: PreparedTask, sandbox: Sandbox, reference: Reference, proven: bool
) -> None:
    right = "def add(first, second):\n    return first + second\n"  # most tests are run without a session
    found = doubt(task, sandbox, right, reference if proven else None, direct=proven)
    assert not found.sign
    assert not found.failed
    assert found.tests >= {"test_calc.py::test_numbers", "test_calc.py::test_table[11-31-42]"} or not proven
    assert "test_calc.py::test_words" in found.tests
    assert found.bits > 5


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    ("choice", "proven"),
    [  # every choice, and both kinds of twins, are among the quick tests; every pair is not
        pytest.param(choice, proven, marks=[] if proven is bool(number % 2) else pytest.mark.exhaustive)
        for number, choice in enumerate(CHOICES)
        for proven in (True, False)
    ],
)
def test_whoever_reports_passes_at_will_is_not_believed(
    task: PreparedTask, sandbox: Sandbox, reference: Reference, choice: str, proven: bool
) -> None:
    found = doubt(task, sandbox, FORGER + CHOICES[choice], reference if proven else None)
    assert found.sign or found.failed or not found.tests


@pytest.mark.long
def test_state_that_copies_share_is_no_fault(task: PreparedTask, sandbox: Sandbox, reference: Reference) -> None:
    state = "seen = []\ndef add(a, b):\n    seen.append(a)\n    assert len(seen) < 40\n    return a + b\n"
    found = doubt(task, sandbox, state, reference)
    assert not found.sign
    assert not found.failed
    assert "test_calc.py::test_numbers" in found.tests


@pytest.mark.exhaustive
def test_what_fails_when_run_again_fails(task: PreparedTask, sandbox: Sandbox, reference: Reference) -> None:
    code = RIGHT + (
        "import glob\nplaces = glob.glob('/tests/**/test_calc.py', recursive=True)\n"
        f"if len(places) > 1 or open(places[0]).read() != {TESTS!r}:\n    add = None\n"
    )
    found = doubt(task, sandbox, code, reference)
    assert found.sign or found.failed


@pytest.mark.exhaustive
def test_a_doubting_run_that_does_not_end_is_the_submissions(
    task: PreparedTask, sandbox: Sandbox, reference: Reference
) -> None:
    code = RIGHT + "import glob, time\nif glob.glob('/tests/*/test_calc.py'):\n    time.sleep(600)\n"
    assert doubt(task, sandbox, code, reference, wall=0.0).timed_out


def test_a_verdict_says_what_was_doubted(task: PreparedTask, sandbox: Sandbox, oracle: Oracle) -> None:
    verdict = grade_edit(
        task.folder, diff(RIGHT.replace("a + b", "sum_(a, b)") + "def sum_(a, b):\n    return a + b\n"), sandbox,
        base=task.base, environment=task.environment, oracle=oracle,
    )  # fmt: skip
    assert verdict.outcome is Outcome.PASSED
    assert verdict.assurance is not None
    assert verdict.assurance.grade in ("doubted", "attested")
