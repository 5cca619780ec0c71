"""Tasks in JavaScript over HTTP's queue: verdicts as offline, beside tasks in Python."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.errors import Unavailable
from repoassay.sandbox.programs import node_program
from repoassay.server.metrics import PrometheusMetrics
from repoassay.server.queue import New, Queue
from repoassay.server.workers import Workers
from repoassay.tasks import TaskFolder, read_task
from server.serving import solution

PYTHON = "edit-ledger-account-prefix"
TOML = """\
schema = 1
[task]
id = "add"
title = "Repair addition"
kind = "edit"
domain = "Tests"
[repository]
source = "folder:repository"
licence = "MIT"
[grading.tests]
runner = "node"
fail_to_pass = ["test_script.cjs::__script__"]
"""
FIXED = (
    "--- a/index.js\n+++ b/index.js\n@@ -1 +1 @@\n-exports.add = (a, b) => a - b;\n+exports.add = (a, b) => a + b;\n"
)

try:
    node_program()
except Unavailable:
    pytestmark = pytest.mark.skip("node is not installed")
else:
    pytestmark = pytest.mark.exhaustive


@pytest.fixture
def script(tmp_path: Path) -> TaskFolder:
    for name, text in {
        "task.toml": TOML,
        "instruction.md": "Addition subtracts.\n",
        "repository/index.js": "exports.add = (a, b) => a - b;\n",
        "tests/test_script.cjs": "require('assert').equal(require('./index.js').add(2, 3), 5);\n",
        "solution/changes.diff": FIXED,
    }.items():
        (tmp_path / "add" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "add" / name).write_text(text)
    return read_task(tmp_path / "add")


def test_both_languages_in_one_queue(
    queue: Queue, tasks: dict[str, TaskFolder], bench: GradingContext, script: TaskFolder
) -> None:
    given = [("add", FIXED), (PYTHON, solution(PYTHON)), ("add", ""), ("add", FIXED.replace("+ b;", "* b;"))]
    stored, _ = queue.add("", [New(task, patch.encode()) for task, patch in given], 100)
    ended = threading.Semaphore(0)
    engine = SubmissionEngine({**tasks, "add": script}, replace(bench), 2)
    workers = Workers(queue, engine, PrometheusMetrics(), lambda ulid: ended.release())
    workers.start()
    try:
        for _ in given:
            assert ended.acquire(timeout=60)
        found = [queue.get("", each.ulid) for each in stored]
        assert [each.word for each in found if each] == ["PASS", "PASS", "PATCH FAILED", "FAIL"]
    finally:
        workers.stop(30)
