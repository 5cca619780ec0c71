"""Values that rewritten JavaScript tests send: with the test that was running, and right for what solves a task."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from javascript_runs import Task
from repoassay.diffs import apply_patch, read_patch
from repoassay.errors import RepoAssayError, Unavailable
from repoassay.grading.oracle.sites import SiteMode
from repoassay.resq import tasks_of
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.tasks.suite import find_suite
from repoassay.workspace.preparation import lay_out

EXAMPLES = Path(__file__).parents[3] / "examples"
CONCURRENT = """\
import assert from 'node:assert';
import { test, describe, it, beforeEach } from 'node:test';
const later = (value, ms) => new Promise((done) => setTimeout(done, ms, value));
for (const value of [1, 2]) assert.ok(value);
[3].forEach((value) => assert.equal(value, 3));
beforeEach(() => { assert.equal(later.name, 'later'); });
test('outer', async (t) => {
  await Promise.all(['a', 'b', 'c'].map((name, at) => t.test(name, async () => {
    assert.equal(await later(name, 30 - 10 * at), 'x');
    await later(0, 10 * at);
    assert.ok(at + 1);
  })));
  assert.equal(await later('outer', 1), 'outer');
});
describe('suite', () => {
  it('called back', (t, done) => { setTimeout(() => { assert.equal(t.name, 'called back'); done(); }, 5); });
  it('late', () => { setTimeout(() => assert.equal(1 + t.x, 2), 50); });
});
"""

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")


@pytest.mark.parametrize("isolation", ["namespaces", "none"])
def test_concurrent_tests_are_not_mixed(tmp_path: Path, isolation: str) -> None:
    names = ["outer", "outer::a", "outer::b", "outer::c", "suite::called back", "suite::late"]
    sandbox = open_sandbox(isolation, Cache())
    task = Task(tmp_path, {"x.test.mjs": CONCURRENT}, [f"x.test.mjs::{name}" for name in names], sandbox)
    run = task.run({})
    assert run.complete, run
    seen = {name.partition("::")[2]: [tuple(operands) for _, operands in told] for name, told in run.seen.items()}
    assert seen["outer::a"] == [("later",), ("a",), (1,)]
    assert seen["outer::b"] == [("later",), ("b",), (2,)]
    assert seen["outer::c"] == [("later",), ("c",), (3,)]
    assert seen["outer"] == [(3,), ("later",), ("outer",)]  # first to begin, with what ran outside of tests
    assert seen["suite::called back"] == [("later",), ("called back",)]
    assert seen["suite::late"] == [("later",)]


def _folders(place: Path) -> list[tuple[TaskFolder, Path | None]]:
    """Every task in JavaScript that comes with the package or its examples."""
    suite = find_suite("pull-requests", only=["pr-bytes-iec-units"])
    build = [sys.executable, str(EXAMPLES / "resq-demo/build.py"), "--place", str(EXAMPLES / "resq-demo-js")]
    done = subprocess.run([*build, "--out", str(place / "rows.jsonl")], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the demonstration set in JavaScript cannot be built: {done.stderr.strip()[-200:]}")
    made = tasks_of(place / "rows.jsonl", place / "tasks")
    return [(folder, suite.repositories) for folder in (suite.tasks[0], *made.values())]


@pytest.mark.long
def test_solutions_hold_outside_and_bases_come_to_what_they_came_to(tmp_path: Path) -> None:
    cache = Cache()
    sandbox = open_sandbox("namespaces", cache)
    modes: dict[str, list[SiteMode]] = {}
    for folder, repositories in _folders(tmp_path):
        assert folder.task.grading.tests is not None
        try:
            base = lay_out(folder, repositories, cache, sandbox).base
        except RepoAssayError as error:
            pytest.skip(f"the package cannot be had: {error}")
        tests = {path.relative_to(folder.tests).as_posix(): path.read_text() for path in folder.tests.rglob("*.*js")}
        task = Task(base, tests, folder.task.grading.tests.all_ids, sandbox)
        changes = apply_patch(read_patch((folder.solution / "changes.diff").read_bytes()), base)
        solution = task.run({name: edit.content.decode() if edit else None for name, edit in changes.edits.items()})
        assert solution.passed, solution
        assert set(task.judged(solution).values()) == {""}
        plain, outside = task.run({}, plain=True), task.attested(task.run({}), solution)
        assert {name: outcome == "passed" for name, outcome in plain.outcomes.items()} == {
            name: not why for name, why in outside.items()
        }
        modes[folder.task.id] = [site.mode for file in task.rewritten().values() for site in file.sites]
    assert {name: len(found) for name, found in modes.items()} == {
        "pr-bytes-iec-units": 35, "ms-compound": 17, "yocto-queue-remove": 14,
    }  # fmt: skip
    assert {mode for found in modes.values() for mode in found} == {SiteMode.WITHHELD}
