"""`grade` and `serve` on a real Slurm, of which a machine is killed at work: nothing is missing, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from private_slurm import PrivateSlurm, private_slurm
from repoassay.tasks import SuiteFolder
from verbs_at_work import CLIENT, PROGRAM, here, lines_of, outcomes, outputs, suite

__all__ = ["here", "outputs", "private_slurm", "suite"]

pytestmark = pytest.mark.exhaustive


def killed_and_back(slurm: PrivateSlurm) -> None:
    """Kill a machine, which comes back."""
    slurm.kill_machine("two")
    slurm.call("scontrol", "update", "NodeName=two", "State=DOWN", "Reason=test")
    slurm.start_node("two")
    slurm.call("scontrol", "update", "NodeName=two", "State=RESUME")


def nothing_is_left(slurm: PrivateSlurm, cwd: Path) -> None:
    assert not list(cwd.glob(".repoassay-slurm-*"))
    slurm.wait_for(
        [line.partition("_")[0] for line in slurm.call("squeue", "--noheader", "--format=%i").split()] or ["0"]
    )


def test_outputs_a_killed_machine_had_are_graded_by_the_other(
    tmp_path: Path, private_slurm: PrivateSlurm, outputs: Path, here: tuple[dict[str, str], Path]
) -> None:
    results = tmp_path / "r.jsonl"
    line: list[str | Path] = [
        PROGRAM,
        "grade",
        "starter",
        "--outputs",
        outputs,
        "--results",
        results,
        "--executor",
        "slurm://2",
    ]
    env = os.environ | private_slurm.env | {"REPOASSAY_CACHE": str(here[1])}
    with subprocess.Popen(
        line, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        end = time.monotonic() + 240
        while len(lines_of(results)) < 3:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.1)
        killed_and_back(private_slurm)
        told, _ = process.communicate(timeout=280)
    assert process.returncode == 0, told
    assert outcomes(results) == here[0]
    assert len(lines_of(results)) == len(here[0])
    assert "A node is lost" in told
    nothing_is_left(private_slurm, tmp_path)


def test_submissions_a_killed_machine_had_are_judged_by_the_other(
    tmp_path: Path, private_slurm: PrivateSlurm, suite: SuiteFolder, here: tuple[dict[str, str], Path]
) -> None:
    (folder,) = (each for each in suite.tasks if each.task.id == "edit-ledger-account-prefix")
    line: list[str | Path] = [
        PROGRAM, "serve", "--suite", "starter", "--port", "0", "--queue", tmp_path / "queue.sqlite", "--no-cache",
        "--executor", "slurm://2",
    ]  # fmt: skip
    env = os.environ | private_slurm.env | {"REPOASSAY_CACHE": str(here[1])}
    server = subprocess.Popen(line, env=env, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        while "http://127.0.0.1:" not in (told := server.stderr.readline()):
            assert told, "the server ended"
        program = CLIENT.replace("127.0.0.1:8765", told.partition("http://")[2].split()[0])
        client: list[str | Path] = [sys.executable, "-c", program, folder.solution / "changes.diff"]
        with subprocess.Popen(client, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            while process.stdout.readline() != "judged\n":
                assert process.poll() is None, process.stderr and process.stderr.read()
            killed_and_back(private_slurm)
            told, wrong = process.communicate(timeout=280)
        assert process.returncode == 0, wrong
        words, different = json.loads(told.splitlines()[-1])
        assert len(words) == different == 300
        assert words.count("passed") == 150 and "infra_fault" not in words
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    nothing_is_left(private_slurm, tmp_path)
