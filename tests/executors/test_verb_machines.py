"""`grade` and `serve` on real Ray machines, one of which is killed at work: nothing is missing, nothing twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ray_machines import RayMachines, lacking, ray_machines
from repoassay.tasks import SuiteFolder, find_suite

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(bool(lacking()), reason=f"there can be no machines here: {lacking()}"),
]

PROGRAM = str(Path(sys.executable).with_name("repoassay"))
CLIENT = """
import json, sys, urllib.request
patch = open(sys.argv[1]).read()
def ask(path, data=None):
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request("http://127.0.0.1:8765/v1/" + path, body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=200))
task = "edit-ledger-account-prefix"
rows = [{"id": task, "patch": patch if each % 2 else "", "key": str(each)} for each in range(300)]
ids = [each["submission"] for each in ask("submissions", rows)["submissions"]]
words = []
for each in ids:
    answer = {"status": ""}
    while answer["status"] != "done":
        answer = ask("submissions/" + each + "?wait=60")
    words.append(answer["verdict"]["outcome"])
    print("judged", flush=True)
print(json.dumps([words, len(set(ids))]), flush=True)
"""


@pytest.fixture(scope="module")
def suite() -> SuiteFolder:
    return find_suite("starter")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory, suite: SuiteFolder) -> Path:
    """A right output of every task."""
    place = tmp_path_factory.mktemp("given")
    for folder in suite.tasks:
        source = folder.solution if folder.task.kind.changes_repository else folder.tests
        shutil.copytree(source, place / folder.task.id)
    return place


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, outputs: Path) -> tuple[dict[str, str], Path]:
    """What this machine makes of them, and its cache: nodes reach no package index."""
    place = tmp_path_factory.mktemp("here")
    line: list[str | Path] = [PROGRAM, "grade", "starter", "--outputs", outputs, "--results", place / "r.jsonl"]
    subprocess.run(line, env=os.environ | {"REPOASSAY_CACHE": str(place / "cache")}, capture_output=True, check=True)
    return outcomes(place / "r.jsonl"), place / "cache"


@pytest.fixture(scope="module")
def machines(here: tuple[dict[str, str], Path]) -> Iterator[RayMachines]:
    with ray_machines(2, cache=here[1]) as found:
        yield found


def outcomes(results: Path) -> dict[str, str]:
    return {record["task"]: record["outcome"] for record in map(json.loads, lines_of(results))}


def killed_at_work(machines: RayMachines, begun: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Kill a machine once work is under way, and start it again."""
    end = time.monotonic() + 240
    while not begun():
        assert process.poll() is None and time.monotonic() < end, "it never began, or ended before a machine was killed"
        time.sleep(0.1)
    machines.kill(1)
    machines.start(1)


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


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
