"""A small state task of our own, with its solution, and agents that are command lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import repoassay
from repoassay.agents.command import CommandAgent
from repoassay.engine.attempt import work
from repoassay.engine.grading_context import GradingContext
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder, read_task
from repoassay.types import Verdict

REQUIREMENTS = (
    Path(repoassay.__file__).parent / "benchmarks/starter/suite/tasks/edit-ledger-monthly/environment/requirements.txt"
)
DOCUMENT = """\
schema = 1
[task]
id = "parcel-sums"
title = "Sum the parcels"
kind = "state"
domain = "Tests"
[repository]
source = "folder:files"
licence = "Apache-2.0"
[state]
work = "/workspace"
places = ["/workspace", "/tmp", "/srv"]
folders = ["/srv/reports"]
[environment]
requirements = "environment/requirements.txt"
[grading.tests]
fail_to_pass = ["test_parcels.py::test_sum", "test_parcels.py::test_program", "test_parcels.py::test_module"]
pass_to_pass = ["test_parcels.py::test_parcels_are_kept"]
seconds = 20
[limits]
memory = "512 MB"
seconds = 30
"""
TESTS = """\
import subprocess
import sys
from pathlib import Path


def test_parcels_are_kept():
    assert Path("/workspace/data/parcels.txt").read_text() == "3\\n5\\n9\\n"


def test_sum():
    assert int(Path("sum.txt").read_text()) == 17


def test_program():
    done = subprocess.run(["python3", "/srv/reports/twice.py", "21"], capture_output=True, text=True)
    assert done.stdout.strip() == "42"


def test_module():
    sys.path.insert(0, "/workspace")
    import parcels

    assert parcels.heaviest([4, 11, 7]) == 11
    assert parcels.heaviest([2]) == 2
"""
SOLUTION = """\
awk '{s += $1} END {print s}' data/parcels.txt > sum.txt
echo 'import sys; print(2 * int(sys.argv[1]))' > /srv/reports/twice.py
printf 'def heaviest(weights):\\n    return max(weights)\\n' > parcels.py
"""


def write_task(folder: Path, **changed: str) -> Path:
    """The task's folder, with other content for files named by what stands before their dot."""
    files = {
        "task.toml": DOCUMENT,
        "instruction.md": "Write the sum of data/parcels.txt to sum.txt, and two programs.",
        "environment/requirements.txt": REQUIREMENTS.read_text(),
        "files/workspace/data/parcels.txt": "3\n5\n9\n",
        "tests/test_parcels.py": TESTS,
        "solution/solve.sh": SOLUTION,
    }
    place = folder / "parcel-sums"
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed.get(path.stem, content))
    return place


@pytest.fixture(scope="session")
def bench() -> Iterator[GradingContext]:
    cache = Cache()
    made = GradingContext(None, cache, open_sandbox("namespaces", cache))
    yield made
    made.oracle.close()


def attempt(folder: TaskFolder, bench: GradingContext, into: Path, line: str) -> Verdict:
    """The verdict on what a shell command, run as the agent, leaves."""
    return work(folder, CommandAgent(line), bench, into).verdict


def whole(place: Path) -> TaskFolder:
    """The task read again, after a proof wrote to it."""
    return read_task(place)
