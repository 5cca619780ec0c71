"""Strength of tasks: survivors are found and named, what is known is not tried again, and reports tell it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner

import repoassay
from json_answers import data_of, records_of
from repoassay.cli.main import cli
from repoassay.errors import InfraFault
from repoassay.grading import Oracle, examine
from repoassay.mutants import StrengthDemand, StrengthStore, measure_strength, strength_line
from repoassay.mutants.edits import trial
from repoassay.sandbox import Cache, Sandbox, open_sandbox
from repoassay.tasks import find_suite
from repoassay.types import TaskStrength
from repoassay.workspace import lay_out

REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
TASK = """\
schema = 1
[task]
id = "{name}"
title = "Prices of many"
kind = "edit"
domain = "Software"
licence = "MIT"
[repository]
source = "bundled:shop"
licence = "MIT"
[environment]
python = ">=3.11"
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = ["test_shop.py::test_many"]
pass_to_pass = ["test_shop.py::test_few"]
"""
DIFF = """\
--- a/shop.py
+++ b/shop.py
@@ -1,2 +1,4 @@
 def price(count):
+    if count >= 10:
+        return count * 2
     return count * 3
"""
LOOP = """\
--- a/shop.py
+++ b/shop.py
@@ -1,2 +1,7 @@
 def price(count):
+    left = count
+    while left > 99:
+        left -= 1
+    if count > 9:
+        return count * 2
     return count * 3
"""
MANY = "import shop\n\ndef test_many():\n    assert shop.price(40) == 80\n    assert shop.price(101) == 202\n"
FEW = "\ndef test_few():\n    assert shop.price(2) == 6\n"
EDGES = MANY.replace("(40) == 80", "(10) == 20") + "    assert shop.price(9) == 27\n" + FEW


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tasks of this session alone, since what became of their mutants is kept from one session to the next."""
    place, session = tmp_path_factory.mktemp("suite"), uuid4().hex
    files = {
        "suite.toml": 'schema = 1\n[suite]\nname = "s"\nversion = "1"\ntitle = "Suite"\n[strength]\ntolerance = 0.95\n',
        "repositories/shop/shop.py": "def price(count):\n    return count * 3\n",
    }
    for name, diff, tests in (("strong", DIFF, EDGES), ("weak", DIFF, MANY + FEW), ("loop", LOOP, MANY + FEW)):
        files |= {
            f"tasks/{name}/task.toml": TASK.format(name=name),
            f"tasks/{name}/instruction.md": f"Ten or more cost two each.\n\nOf {session}.\n",
            f"tasks/{name}/environment/requirements.txt": REQUIREMENTS.read_text(),
            f"tasks/{name}/tests/test_shop.py": tests,
            f"tasks/{name}/solution/changes.diff": diff,
        }
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


class Scale:
    """Measures tasks of the suite."""

    def __init__(self, suite: Path) -> None:
        self.suite, self.cache = suite, Cache()
        self.sandbox: Sandbox = open_sandbox("namespaces", self.cache)
        self.oracle = Oracle(self.cache, self.sandbox)

    def __call__(self, name: str, demand: StrengthDemand | None = None) -> TaskStrength:
        found = find_suite(self.suite, only=(name,))
        layout = lay_out(found.tasks[0], found.repositories, self.cache, self.sandbox)
        return measure_strength(
            layout, self.sandbox, self.cache, self.oracle, demand or StrengthDemand(50, budget=None)
        )


@pytest.fixture(scope="module")
def scale(suite: Path) -> Iterator[Scale]:
    found = Scale(suite)
    yield found
    found.oracle.close()


@pytest.mark.long
def test_tests_at_the_edges_kill_every_mutant(scale: Scale) -> None:
    found = scale("strong")
    assert (found.share, found.survivors, found.faults) == (1.0, (), 0)
    assert found.counted == found.drawn > 8
    assert strength_line(found).startswith(f"{found.killed} of {found.drawn} mutants killed, 100% (")


@pytest.mark.long
def test_the_survivors_of_weak_tests_are_the_tests_to_write(scale: Scale) -> None:
    found = scale("weak")
    assert {(mutant.path, mutant.line, mutant.now) for mutant in found.survivors} == {
        ("shop.py", 2, "if count > 10:"), ("shop.py", 2, "if count >= 11:"), ("shop.py", 2, "if count >= 9:"),
    }  # fmt: skip
    assert "shop.py:2: no test fails when `if count >= 10:` reads `if count > 10:`." in {
        mutant.wanted for mutant in found.survivors
    }


@pytest.mark.long
def test_what_is_known_is_not_tried_again_and_is_no_verdict(scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    scale("weak")

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(trial, "examine", never)
    few = scale("weak", StrengthDemand(4))
    assert (few.drawn, few.counted) == (4, 4)
    kept = StrengthStore(scale.cache.path).get(few.task_digest)
    assert kept == few
    assert scale("weak").drawn > 4


@pytest.mark.long
def test_a_fault_of_ours_is_not_counted_and_tried_again(scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []

    def sometimes(*given: object) -> object:
        calls.append(given)
        if len(calls) == 3:
            raise InfraFault("The sandbox is gone.")
        return examine(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(trial, "_grader", lambda: "another")
    monkeypatch.setattr(trial, "examine", sometimes)
    found = scale("strong", StrengthDemand(5))
    assert (found.drawn, found.counted, found.faults) == (5, 4, 1)
    assert "1 not counted for a fault of ours" in strength_line(found)
    assert scale("strong", StrengthDemand(5)).counted == 5


@pytest.mark.exhaustive
def test_when_time_is_over_the_rest_is_told(scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_grader", lambda: "a third")
    found = scale("strong", StrengthDemand(5, budget=0.0))
    assert found.drawn == 5
    assert f"{5 - found.counted} not run, since time was over" in strength_line(found) or found.share is None


@pytest.mark.exhaustive
def test_an_endless_loop_ends_with_the_solutions_own_time(scale: Scale) -> None:
    found = scale("loop", StrengthDemand(50, budget=None))
    assert 1 <= found.timed_out < found.counted
    assert "by the time limit" in strength_line(found)


@pytest.mark.exhaustive
def test_the_command_marks_refuses_and_keeps(suite: Path) -> None:
    def run(*given: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, [*given])
        return done.exit_code, done.output

    code, told = run("tasks", "validate", str(suite), "--task", "weak", "--save-strength")
    assert code == 0
    assert "write a test: shop.py:2: no test fails when `if count >= 10:` reads `if count > 10:`." in told
    assert "1 weak (below 95%): weak" in told
    code, told = run("tasks", "validate", str(suite), "--task", "weak", "--require-strength", "0.9", "--json")
    proof = next(each for each in records_of(told, "proof") if each["proof"] == "strength")
    assert (code, proof["sound"], proof["strength"]["weak"]) == (1, False, True)
    assert "weak" in {task["task"] for task in json.loads((suite / "strength.json").read_text())["tasks"]}
    assert "to test:" in run("tasks", "show", str(suite), "weak")[1]
    code, told = run("run", str(suite), "--agent", "reference", "--task", "weak", "--out", str(suite / "runs"))
    assert "Strength of tests and criteria: median" in told
    (folder,) = (suite / "runs").iterdir()
    assert data_of(run("report", str(folder), "--json", "--no-html")[1])["strength"]["weak"] == ["weak"]
    assert "Strength of tests and criteria" in (folder / "report.html").read_text()
    told = run("report", str(folder), "--out", str(suite / "report"), "--format", "md")[1]
    assert "Strength of tests and criteria: median" in told + "".join(
        file.read_text() for file in (suite / "report").rglob("*.md")
    )
