"""JavaScript that wants to be believed: whatever its process claims, the values that reach the host are not right."""

from __future__ import annotations

import pytest

from javascript_forgeries import FORGERIES, HEAP, HIDDEN, IDS, INSPECTED, RIGHT, SCRIPT, WRONG
from javascript_runs import Observed, Task
from repoassay.errors import Unavailable
from repoassay.grading.oracle.sites import Mode
from repoassay.workspace import Cache, open_sandbox
from repoassay.workspace.programs import node_program

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    base = tmp_path_factory.mktemp("base")
    (base / "index.js").write_text(WRONG)
    (base / "package.json").write_text("{}")
    tests = {"test/hidden.test.js": HIDDEN, "check.mjs": SCRIPT}
    return Task(base, tests, IDS, open_sandbox("namespaces", Cache()))


@pytest.fixture(scope="module")
def reference(task: Task) -> Observed:
    return task.run({"index.js": RIGHT})


def test_the_solution_is_attested_and_the_base_is_not(task: Task, reference: Observed) -> None:
    assert reference.passed, reference
    assert {site.mode for file in task.rewritten().values() for site in file.sites} == {Mode.WITHHELD}
    assert set(task.judged(reference).values()) == {""}
    assert set(task.attested(task.run({"index.js": RIGHT.replace("found", "result")}), reference).values()) == {""}
    base = task.run({})
    assert base.passed  # the process has nothing to be wrong by
    assert all(task.attested(base, reference).values())


def test_nothing_of_what_is_expected_is_inside(task: Task) -> None:
    sources = "".join(file.source for file in task.rewritten().values())
    for answer in ("hello-world", "a-b", "trim-me", "22 }", "SyntaxError", "bad pair", "38", "RangeError", "59", "some-words", "80"):
        assert answer not in sources
    for name, file in task.rewritten().items():
        assert file.source.count("\n") == task.tests[name].count("\n")


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_never_attested(task: Task, reference: Observed, name: str) -> None:
    run = task.run({"index.js": f"{WRONG}{FORGERIES[name]}\n"})
    if run.signs or not run.complete:
        return
    assert all(task.attested(run, reference).values()), run


def test_a_process_wholly_taken_over_says_passed_and_is_not_believed(task: Task, reference: Observed) -> None:
    """Nothing in it is a secret: whoever finds the mark makes claims, but has no values."""
    run = task.run({"index.js": f"{WRONG}{HEAP}\n"})
    assert set(run.outcomes.values()) == {"passed"}, run
    assert all(task.attested(run, reference).values())


def test_no_signal_starts_an_inspector(task: Task) -> None:
    run = task.run({"index.js": f"{WRONG}{INSPECTED}\n"})
    assert run.seen["test/hidden.test.js::numbers::later"][0] == (4, [["array", ["ECONNREFUSED"] * 2]])
