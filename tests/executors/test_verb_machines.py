"""`grade` and `serve` on real Ray machines, one of which is killed at work: nothing is missing, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ray_machines import RayMachines, lacking, ray_machines
from repoassay.tasks import SuiteFolder
from verbs_at_work import CLIENT, PROGRAM, here, lines_of, outcomes, outputs, suite

__all__ = ["here", "outputs", "suite"]

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(bool(lacking()), reason=f"there can be no machines here: {lacking()}"),
]


@pytest.fixture(scope="module")
def machines(here: tuple[dict[str, str], Path]) -> Iterator[RayMachines]:
    with ray_machines(2, cache=here[1]) as found:
        yield found


def killed_at_work(machines: RayMachines, begun: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Kill a machine once work is under way, and start it again."""
    end = time.monotonic() + 240
    while not begun():
        assert process.poll() is None and time.monotonic() < end, "it never began, or ended before a machine was killed"
        time.sleep(0.1)
    machines.kill(1)
    machines.start(1)


def test_outputs_a_killed_machine_had_are_graded_by_the_other(
    tmp_path: Path, machines: RayMachines, outputs: Path, here: tuple[dict[str, str], Path]
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
        machines.executor,
    ]
    with subprocess.Popen(
        machines.command(line), env=machines.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        killed_at_work(machines, lambda: len(lines_of(results)) >= 3, process)
        told, _ = process.communicate(timeout=400)
    assert process.returncode == 0, told
    assert outcomes(results) == here[0]
    assert len(lines_of(results)) == len(here[0])


def test_submissions_a_killed_machine_had_are_judged_by_the_other(
    tmp_path: Path, machines: RayMachines, suite: SuiteFolder
) -> None:
    (folder,) = (each for each in suite.tasks if each.task.id == "edit-ledger-account-prefix")
    queue = ("--queue", tmp_path / "queue.sqlite", "--no-cache")
    line: list[str | Path] = [
        PROGRAM,
        "serve",
        "--suite",
        "starter",
        "--port",
        "8765",
        *queue,
        "--executor",
        machines.executor,
    ]
    server = subprocess.Popen(machines.command(line), env=machines.env, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        while "8765" not in (told := server.stderr.readline()):
            assert told, "the server ended"
        client = machines.command([sys.executable, "-c", CLIENT, folder.solution / "changes.diff"])
        with subprocess.Popen(client, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            while process.stdout.readline() != "judged\n":
                assert process.poll() is None, process.stderr and process.stderr.read()
            machines.kill(1)
            machines.start(1)
            told, wrong = process.communicate(timeout=400)
        assert process.returncode == 0, wrong
        words, different = json.loads(told.splitlines()[-1])
        assert len(words) == different == 300
        assert words.count("passed") == 150 and "infra_fault" not in words
    finally:
        (inner,) = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        os.kill(int(inner), signal.SIGTERM)
        server.communicate(timeout=60)
