"""Our tasks in Inspect, by its own command and its own reader of logs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai")
from inspect_ai.log import EvalLog, read_eval_log

from repoassay.interchange import import_run
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import find_suite
from repoassay.types import Outcome
from shared_data import SWEBENCH, needs_swebench
from small_edits import small_edit

PLUG_IN = ("Inspect: sandbox, tasks of suites and scorer (`inspect eval repoassay/starter`)", "inspect-ai")
EDIT, FILES = "edit-ledger-monthly", "sensor-log-daily"


def evaluate(task: str, solver: str, place: Path, *more: str) -> EvalLog:
    """The log that `inspect eval` writes."""
    words = ["eval", task, "--model", "none", "--solver", solver, "--log-dir", str(place), "--display", "none", *more]
    done = subprocess.run(
        [Path(sys.executable).with_name("inspect"), *words], capture_output=True, text=True, check=False, timeout=1500,
        env={**os.environ, "INSPECT_LOG_FORMAT": "eval"}, cwd=place.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    (path,) = place.glob("*.eval")
    return read_eval_log(str(path))


def accuracy(log: EvalLog) -> float:
    assert log.status == "success" and log.results, log.error
    return float(log.results.scores[0].metrics["accuracy"].value)


@pytest.mark.long
def test_the_solutions_pass_and_come_back_as_a_run(tmp_path: Path) -> None:
    log = evaluate("repoassay/starter", "repoassay/reference", tmp_path / "logs", "-T", f"tasks={EDIT},{FILES}")
    assert accuracy(log) == 1.0
    samples = {sample.id: sample for sample in log.samples or ()}
    assert samples.keys() == {EDIT, FILES}
    solution = find_suite("starter", only=[EDIT]).tasks[0].solution / "changes.diff"
    added = [line[1:] for line in solution.read_text().splitlines() if line.startswith("+    ") and len(line) > 30]
    sample = samples[EDIT]
    shown = sample.model_dump_json(include={"input", "messages", "metadata", "target", "sandbox", "store"})
    assert added and not any(line.strip() in shown for line in added)
    score = (sample.scores or {})["verdict"]
    assert "assurance: attested" in (score.explanation or "") and score.metadata
    assert score.metadata["repoassay"]["assurance"]["bits"] > 20
    found = {one.attempt.task: one for one in import_run(None, tmp_path / "logs", tmp_path / "run").run.finished()}
    assert {task: one.verdict.outcome for task, one in found.items()} == {EDIT: Outcome.PASSED, FILES: Outcome.PASSED}
    assert b"diff --git" in (found[EDIT].folder / "submission" / "changes.diff").read_bytes()


@pytest.mark.exhaustive
def test_a_task_that_cannot_be_laid_out_counts_for_nobody_and_ends_nothing(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    small_edit(suite, open_sandbox("namespaces", Cache()), {"calc.py": "one = 2\n"},
               "import calc\n\ndef test_one():\n    assert calc.one == 1\n", ["test_one"],
               solution="--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-one = 2\n+one = 1\n")  # fmt: skip
    broken = suite / "tasks" / "a-broken"
    shutil.copytree(suite / "tasks" / "small", broken)
    document = (broken / "task.toml").read_text()
    (broken / "task.toml").write_text(document.replace('id = "small"', 'id = "a-broken"'))
    (broken / "environment" / "requirements.txt").write_text(f"six==1.16.0 --hash=sha256:{'0' * 64}\n")
    log = evaluate("repoassay/suite", "repoassay/reference", tmp_path / "logs", "-T", f"suite={suite}")
    assert accuracy(log) == 1.0
    samples = {sample.id: sample for sample in log.samples or ()}
    assert samples["small"].error is None
    fault = samples["a-broken"].error
    assert fault and "six" in fault.message
    assert not samples["a-broken"].scores


CHEAT = '''
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

HOOK = """
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    call.excinfo = None
"""

@solver
def cheat():
    async def solve(state, generate):
        box = sandbox()
        for place in ("conftest.py", "tests/conftest.py", "ledger/conftest.py"):
            await box.write_file(f"/workspace/repo/{place}", HOOK)
        await box.write_file("/workspace/repo/sitecustomize.py", "import os; os._exit(0)")
        await box.exec(["/bin/sh", "-c", "setsid sh -c 'while :; do echo > /workspace/repo/x; sleep 0.1; done' &"])
        done = await box.exec(["python3", "-c", "import socket; socket.create_connection(('1.1.1.1', 53), 3)"])
        assert not done.success
        state.metadata["found"] = (await box.exec(["find", "/", "-name", "task.toml"])).stdout
        return state
    return solve
'''


@pytest.mark.exhaustive
def test_a_model_that_cheats_gains_nothing(tmp_path: Path) -> None:
    (tmp_path / "cheat.py").write_text(CHEAT)
    log = evaluate("repoassay/starter", "cheat.py@cheat", tmp_path / "logs", "-T", f"tasks={EDIT}")
    assert accuracy(log) == 0.0
    assert log.samples
    (sample,) = log.samples
    assert sample.metadata["found"] == "" and sample.error is None
    assert (sample.scores or {})["verdict"].value == "I"


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_all_of_the_starter_suite(tmp_path: Path) -> None:
    assert accuracy(evaluate("repoassay/starter", "repoassay/reference", tmp_path / "logs")) == 1.0
    log = evaluate("repoassay/suite", "repoassay/reference", tmp_path / "none", "-T", "suite=starter",
                   "-S", "agent=nothing")  # fmt: skip
    assert accuracy(log) == 0.0


@needs_swebench
@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_the_solutions_of_real_rows_pass(tmp_path: Path) -> None:
    mirrors = SWEBENCH.with_name("repositories")
    log = evaluate(
        "repoassay/rows", "repoassay/reference", tmp_path / "logs", "-T", f"dataset={SWEBENCH / 'rows.jsonl'}",
        "-T", f"mirrors={mirrors}", "-T", f"environments={SWEBENCH / 'environments'}", "-T", "tasks=pallets__*",
    )  # fmt: skip
    assert accuracy(log) == 1.0
