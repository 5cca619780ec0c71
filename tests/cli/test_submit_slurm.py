"""`repoassay submit --executor slurm`: scripts as bash runs them, and a real Slurm with a node that dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from command_line import repoassay
from fake_slurm import FakeSlurm, fake_slurm
from private_slurm import PrivateSlurm, private_slurm
from repoassay.api import evaluate
from repoassay.errors import Unavailable
from repoassay.tasks.suite import find_suite
from repoassay.types import TaskKind

__all__ = ["fake_slurm", "private_slurm"]

FOLDER = next(folder for folder in find_suite("starter").tasks if folder.task.kind is TaskKind.EDIT)
USELESS = "--- /dev/null\n+++ b/note.txt\n@@ -0,0 +1 @@\n+{}\n"


def write_patches(cwd: Path, count: int) -> None:
    solution = (FOLDER.path / "solution/changes.diff").read_text()
    rows = [{"id": FOLDER.task.id, "patch": solution if n % 3 else USELESS.format(n)} for n in range(count)]
    (cwd / "my patches.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def submit(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return repoassay(
        "submit", "--suite", "starter", "--submissions", "my patches.jsonl", "--results", "it's results.jsonl",
        "--executor", "slurm", *arguments, cwd=cwd, env=env,
    )  # fmt: skip


def words(cwd: Path) -> list[str]:
    lines = (cwd / "it's results.jsonl").read_text().splitlines()
    return [record["message"] for record in sorted(map(json.loads, lines), key=lambda each: each["number"])]


def wanted(count: int) -> list[str]:
    return ["PASS" if n % 3 else "FAIL" for n in range(count)]


def job_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["data"]
    return found


@pytest.mark.long
def test_the_scripts_do_the_work_wherever_bash_runs_them(tmp_path: Path) -> None:
    write_patches(tmp_path, 4)
    first = job_of(submit(tmp_path, "--slurm-dry-run", "--slurm-shares", "3", "--json", "--timeout", "50"))
    assert (first["shares"], first["jobs"]) == (3, [])
    script = Path(first["script"])
    assert "--timeout=50" in script.read_text()
    for index in (0, 2):
        env = os.environ | {"SLURM_ARRAY_TASK_ID": str(index), "REPOASSAY_EXECUTOR": "slurm"}
        subprocess.run(["/bin/bash", script], env=env, check=True, cwd="/", capture_output=True)
    early = subprocess.run(["/bin/bash", first["collect_script"]], check=False, capture_output=True, text=True)
    assert early.returncode == 1
    assert "1 without a verdict" in early.stdout
    second = submit(tmp_path, "--slurm-dry-run", "--slurm-shares", "3")
    assert "sbatch --array=1 " in second.stdout  # what is missing, and nothing else
    subprocess.run(["/bin/bash", script], env=os.environ | {"SLURM_ARRAY_TASK_ID": "1"}, check=True)
    subprocess.run(["/bin/bash", first["collect_script"]], check=True, capture_output=True)
    assert words(tmp_path) == wanted(4)
    assert "Nothing is left to do" in submit(tmp_path, "--slurm-dry-run").stderr


def test_without_a_results_file_or_with_an_address_it_is_refused(tmp_path: Path) -> None:
    write_patches(tmp_path, 1)
    plain = ("submit", "--suite", "starter", "--submissions", "my patches.jsonl")
    assert "need a results file" in repoassay(*plain, "--executor", "slurm", cwd=tmp_path).stderr
    assert repoassay(*plain, "--executor", "slurm://host", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("verb", ["grade starter --outputs .", "serve --suite starter"])
@pytest.mark.parametrize("env", [{}, {"REPOASSAY_EXECUTOR": "slurm"}], ids=["option", "variable"])
def test_a_machine_without_slurm_is_told_before_anything_is_written(
    tmp_path: Path, verb: str, env: dict[str, str]
) -> None:
    without = env | {"PATH": str(Path(sys.executable).parent)}
    done = repoassay(*verb.split(), *([] if env else ["--executor", "slurm"]), cwd=tmp_path, env=without)
    assert done.returncode != 0
    assert "There is no sbatch here" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_program_hears_it_before_a_run_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    with pytest.raises(Unavailable, match="no sbatch here"):
        evaluate("starter", agent="reference", tasks="sensor-log-daily", out=tmp_path / "runs", executor="slurm")
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_with_nodes_it_waits_for_them_and_judges_as_here(tmp_path: Path, fake_slurm: FakeSlurm) -> None:
    write_patches(tmp_path, 4)
    plain = ("submit", "--suite", "starter", "--submissions", "my patches.jsonl", "--results", "it's results.jsonl")
    done = repoassay(*plain, "--executor", "slurm://2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert words(tmp_path) == wanted(4)
    assert not (tmp_path / "it's results.jsonl.parts").exists()


@pytest.mark.long
def test_a_run_is_made_by_nodes_and_is_the_run_of_one_machine(tmp_path: Path, fake_slurm: FakeSlurm) -> None:
    line = ("run", "starter", "--agent", "reference", "--task", "sensor-log-daily", "--attempts", "2")
    done = repoassay(*line, "--executor", "slurm://2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    verdicts = [json.loads(path.read_text())["outcome"] for path in run.glob("attempts/*/verdict.json")]
    assert verdicts == ["passed", "passed"]
    assert not (run / "parts").exists() and not list(tmp_path.glob(".repoassay-slurm-*"))


@pytest.mark.exhaustive
def test_a_real_slurm_judges_each_patch_once_though_a_node_dies(tmp_path: Path, private_slurm: PrivateSlurm) -> None:
    count = 40
    write_patches(tmp_path, count)
    job = job_of(submit(tmp_path, "--slurm-shares", "4", "--no-cache", "--json", env=private_slurm.env))
    assert job["shares"] == 4
    busy = submit(tmp_path, "--slurm-shares", "4", env=private_slurm.env)
    assert (busy.returncode, "still at work" in busy.stderr) == (2, True), busy.stderr + busy.stdout
    parts = tmp_path / "it's results.jsonl.parts"
    while not any(parts.glob("*.jsonl")):
        time.sleep(0.2)
    private_slurm.kill_node("two")
    private_slurm.call("scancel", f"{job['jobs'][0]}_3")  # and one is cancelled by hand
    private_slurm.call("scontrol", "update", "NodeName=two", "State=DOWN", "Reason=test")
    private_slurm.start_node("two")
    private_slurm.call("scontrol", "update", "NodeName=two", "State=RESUME")
    private_slurm.wait_for(job["jobs"])
    again = submit(tmp_path, "--slurm-shares", "4", "--no-cache", "--json", env=private_slurm.env)
    if again.stdout:  # shares were lost for good
        private_slurm.wait_for(job_of(again)["jobs"])
        assert "Nothing is left to do" in submit(tmp_path, env=private_slurm.env).stderr
    assert words(tmp_path) == wanted(count)


@pytest.mark.exhaustive
def test_what_slurm_refuses_is_said_in_a_sentence(tmp_path: Path, private_slurm: PrivateSlurm) -> None:
    write_patches(tmp_path, 1)
    done = submit(tmp_path, "--slurm-option=--partition=none", env=private_slurm.env)
    assert (done.returncode, "sbatch refused" in done.stderr) == (2, True), done.stderr
