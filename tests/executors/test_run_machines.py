"""A run of agents on real Ray machines: one is killed at work, one cannot work, and the run is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.metering import ASSETS, SOLVE, said, shell, write_dialogue
from ray_machines import RayMachines, lacking, ray_machines

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(bool(lacking()), reason=f"there can be no machines here: {lacking()}"),
]

PROGRAM = str(Path(sys.executable).with_name("repoassay"))


@pytest.fixture(scope="module")
def machines() -> Iterator[RayMachines]:
    with ray_machines(2) as found:
        yield found


def events(runs: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for journal in runs.glob("*/journal.jsonl")
        for line in journal.read_text().splitlines()
        if line.endswith("}")
    ]


def until(runs: Path, event: str, number: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 240
    while Counter(each["event"] for each in events(runs))[event] < number:
        assert process.poll() is None, f"It ended with {process.returncode}."
        assert time.monotonic() < end, f"{event} did not come {number} times."
        time.sleep(0.1)


def line_of(tmp_path: Path, seconds: int, attempts: int) -> list[str]:
    dialogue = write_dialogue(tmp_path, [shell(f"sleep {seconds}"), shell(SOLVE), said()])
    return [
        PROGRAM, "run", str(ASSETS / "suites" / "mini"), "--task", "sum-ledger", "--agent", "command",
        "--agent-dir", str(ASSETS / "agents"), "--agent-command", "python {agent}/tiny.py", "--model", "scripted/any",
        "--dialogue", str(dialogue), "--attempts", str(attempts), "--out", str(tmp_path / "runs"), "--json",
    ]  # fmt: skip


def test_a_killed_machine_costs_its_attempts_and_an_interrupted_run_goes_on(
    tmp_path: Path, machines: RayMachines
) -> None:
    runs, secret = tmp_path / "runs", "sk-that-nobody-writes-down"
    line = [*line_of(tmp_path, 4, 6), "--executor", machines.executor]
    env = {**machines.env, "OPENAI_API_KEY": secret}
    with subprocess.Popen(machines.command(line), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:  # fmt: skip
        until(runs, "started", 2, process)
        machines.start(3, REPOASSAY_CACHE="/proc/nowhere")  # which can do nothing, and must not stop the others
        machines.kill(1)
        machines.start(1)
        until(runs, "dropped", 1, process)
        until(runs, "finished", 2, process)
        (inner,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for _ in range(2):
            os.kill(int(inner), signal.SIGINT)
            time.sleep(0.5)
        told, _ = process.communicate(timeout=120)
    assert process.returncode == 130, told
    before = Counter(each["event"] for each in events(runs))
    assert 2 <= before["finished"] < 6 and before["interrupted"] == 1, before
    (run,) = runs.iterdir()
    machines.kill(3)
    done = machines.run([PROGRAM, "resume", run, "--json", "--executor", machines.executor], check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    finished = [each for each in events(runs) if each["event"] == "finished"]
    assert sorted(each["number"] for each in finished) == [1, 2, 3, 4, 5, 6]
    assert {each["outcome"] for each in finished} == {"passed"}
    assert not [path for path in run.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    for each in finished:
        assert (run / "attempts" / each["attempt"] / "submission" / "totals.csv").is_file()
        assert len((run / "attempts" / each["attempt"] / "usage.jsonl").read_text().splitlines()) == 3
