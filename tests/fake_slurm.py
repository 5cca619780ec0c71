"""Slurm's commands as scripts that start the tasks of an array as processes here: for tests without Slurm."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["FakeSlurm", "fake_slurm"]

_SBATCH = """\
import json, os, pathlib, subprocess, sys
place = pathlib.Path(__file__).parent
given = dict(word.partition("=")[::2] for word in sys.argv[1:-1])
(place / "submitted.json").write_text(json.dumps({"options": given, "env": dict(os.environ)}))
first, _, last = given["--array"].partition("-")
with (place / "tasks").open("a") as tasks:
    for index in range(0 if (place / "busy").exists() else int(last) + 1):
        env = os.environ | {"SLURM_ARRAY_TASK_ID": str(index)}
        log = open(pathlib.Path(given["--chdir"], given["--output"].replace("%A", "7").replace("%a", str(index))), "ab")
        task = subprocess.Popen(["bash", sys.argv[-1]], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True)
        print(task.pid, file=tasks)
print(7)
"""
_SQUEUE = """\
import pathlib
place = pathlib.Path(__file__).parent
alive = [pid for pid in (place / "tasks").read_text().split() if pathlib.Path("/proc", pid, "exe").exists()]
if alive or (place / "busy").exists():
    print(7)
"""
_SCANCEL = """\
import os, pathlib, signal
place = pathlib.Path(__file__).parent
(place / "cancelled").touch()
for pid in (place / "tasks").read_text().split():
    try:
        os.killpg(int(pid), signal.SIGTERM)
    except ProcessLookupError:
        pass
"""


class FakeSlurm:
    """Where the commands lie, with what they were told.

    Attributes:
        folder: Has `submitted.json`, the ids of `tasks`, and `cancelled`; while it has `busy`, no task is started.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name, text in (("sbatch", _SBATCH), ("squeue", _SQUEUE), ("scancel", _SCANCEL)):
            (folder / name).write_text(f"#!{sys.executable}\n{text}")
            (folder / name).chmod(stat.S_IRWXU)
        (folder / "tasks").touch()

    @property
    def tasks(self) -> list[int]:
        """Ids of the processes that were started."""
        return [int(pid) for pid in (self.folder / "tasks").read_text().split()]


@pytest.fixture
def fake_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSlurm]:
    """Slurm's commands on the path, and a working folder."""
    found = FakeSlurm(tmp_path / "slurm")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", f"{found.folder}:{os.environ['PATH']}")
    yield found
    for task in found.tasks:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(task, signal.SIGKILL)
