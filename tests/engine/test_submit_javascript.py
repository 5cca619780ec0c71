"""The submission environment on tasks in JavaScript, beside one in Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import repoassay
from repoassay.attacks.patch_builder import diff
from repoassay.benchmarks.resq import ResqRow, read_task_row
from repoassay.engine.answer import word
from repoassay.engine.feedback import FeedbackLedger
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.errors import Unavailable
from repoassay.formats.rows import read_rows
from repoassay.grading import edit
from repoassay.records.verdicts import VerdictCache
from repoassay.resq import RESQDataset, Submission, SubmissionEnv, tasks_of
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.programs import node_program
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome

DEMO = Path(__file__).parents[2] / "examples" / "resq-demo-js"
USELESS = "--- /dev/null\n+++ b/unrelated_note.txt\n@@ -0,0 +1 @@\n+nothing of use\n"
ENDLESS = """\
const { spawn } = require('node:child_process');
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {});
spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' }).unref();
for (;;) {}
"""

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")


def bench(timeout: float | None = None, isolation: str = "namespaces") -> GradingContext:
    cache = Cache()
    return GradingContext(None, cache, open_sandbox(isolation, cache), timeout=timeout)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows; the test is skipped where the packages cannot be had."""
    out = tmp_path_factory.mktemp("demo-js") / "demo.jsonl"
    build = [sys.executable, str(DEMO.parent / "resq-demo/build.py"), "--place", str(DEMO), "--out", str(out)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the demonstration set in JavaScript cannot be built: {done.stderr.strip()[-200:]}")
    return out


@pytest.fixture(scope="module")
def tasks(data: Path) -> dict[str, TaskFolder]:
    return tasks_of(data, data.parent / "tasks")


def solution(folder: TaskFolder) -> str:
    return (folder.solution / "changes.diff").read_text()


def test_rows_come_back_as_they_were(data: Path, tasks: dict[str, TaskFolder]) -> None:
    rows = {row.name: row for row in read_rows(data) if isinstance(row, ResqRow)}
    assert rows.keys() == {"ms-compound", "yocto-queue-remove"}
    assert {name: read_task_row(folder.path) for name, folder in tasks.items()} == rows
    made = tasks["yocto-queue-remove"].task.grading.tests
    assert made is not None and made.all_ids == ("test_script.mjs::__script__",)


@pytest.mark.long
def test_solutions_pass_and_nothing_else_does_with_warm_parents_or_without(tasks: dict[str, TaskFolder]) -> None:
    given = [(name, patch) for name, folder in tasks.items() for patch in (solution(folder), "", USELESS)]
    told = []
    for workers, warm in ((3, True), (1, False)):
        with SubmissionEngine(tasks, bench(), workers=workers, warm=warm, ledger=FeedbackLedger("full")) as engine:
            answers = list(engine.grade_many(given))
            assert engine._pool is None or not engine._pool._parents  # none was started for node
        assert [word(each.verdict) for each in answers] == ["PASS", "PATCH FAILED", "FAIL"] * len(tasks), answers
        told.append([[(test.id, test.outcome) for test in each.verdict.tests] for each in answers])
    assert told[0] == told[1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("warm", [True, False])
def test_an_endless_loop_is_timed_out_and_nothing_stays(tasks: dict[str, TaskFolder], warm: bool) -> None:
    name = "ms-compound"
    known = _descendants(os.getpid())
    with SubmissionEngine(tasks, bench(timeout=2.0), warm=warm) as engine:
        old = (engine._layout(name, tasks[name]).base / "index.js").read_text()
        answer = engine.grade(name, diff("index.js", old, old + ENDLESS))
        assert word(answer.verdict) == "TIMED OUT", answer.verdict
        assert answer.verdict.process
        assert word(engine.grade(name, solution(tasks[name])).verdict) == "PASS"
    assert not [child for child in _descendants(os.getpid()) if child not in known]


def _descendants(pid: int) -> set[int]:
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        try:
            for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
                children = {int(child) for child in (task / "children").read_text().split()}
                found |= children
                waiting += children
        except OSError:
            continue  # it ended while we looked
    return found


def test_the_library_takes_them(data: Path, tmp_path: Path) -> None:
    dataset = RESQDataset.from_json(data)
    with SubmissionEnv(dataset, temp_dir=tmp_path, timeout=30, feedback="full") as env:
        wanted = [Submission(id=row.id, patch=row.solution_patch) for row in dataset]
        results = env.step_batch([*wanted, Submission(id="ms-compound", patch=USELESS)], n_workers=2)
    assert [result.message for result in results] == ["PASS", "PASS", "FAIL"]
    assert "test_script.cjs::several parts::are added up: failed" in results[2].test_suite_feedback


def test_without_node_it_is_our_error_and_not_kept(
    tasks: dict[str, TaskFolder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit, "can_run_node", lambda: "node is not installed.")
    known = VerdictCache(tmp_path / "verdicts.sqlite")
    with SubmissionEngine(tasks, bench(), known=known) as engine:
        answers = [engine.grade("ms-compound", solution(tasks["ms-compound"])) for _ in range(2)]
    for answer in answers:
        assert (word(answer.verdict), answer.cached) == ("ERROR", False)
        assert answer.verdict.outcome is Outcome.NOT_GRADABLE
        assert answer.verdict.comments == ("node is not installed.",)
        assert answer.verdict.result is None


def test_a_known_verdict_is_used_again(tasks: dict[str, TaskFolder], tmp_path: Path) -> None:
    with SubmissionEngine(tasks, bench(), known=VerdictCache(tmp_path / "verdicts.sqlite")) as engine:
        answers = [engine.grade("ms-compound", solution(tasks["ms-compound"])) for _ in range(2)]
    assert [(word(each.verdict), each.cached) for each in answers] == [("PASS", False), ("PASS", True)]


def test_the_command_takes_them(data: Path, tmp_path: Path) -> None:
    rows = [row for row in read_rows(data) if isinstance(row, ResqRow)]
    lines = [{"id": row.id, "patch": patch} for row in rows for patch in (row.solution_patch, USELESS)]
    (tmp_path / "patches.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ("--dataset", str(data), "--submissions", "patches.jsonl", "--results", "out.jsonl")
    done = repoassay("submit", *options, "--workers", "2", "--timeout", "30", cwd=tmp_path)
    found = (tmp_path / "out.jsonl").read_text().splitlines()
    assert len(found) == len(lines), done.stdout + done.stderr
    assert ["PASS" in line for line in found] == [True, False] * len(rows), found
