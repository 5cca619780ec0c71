"""Cores that this process may use: by its affinity, and by the limits of the control groups it is in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repoassay.sandbox import usable_cores

EVERY = len(os.sched_getaffinity(0))


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    "limits",
    [
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"},
        {"proc/self/cgroup": "0::/pod/box\n", "sys/fs/cgroup/pod/cpu.max": "100000 100000\n",
         "sys/fs/cgroup/pod/box/cpu.max": "max 100000\n"},
        {"proc/self/cgroup": "0::/docker/0a1b\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"},
        {"proc/self/cgroup": "3:memory:/\n2:cpu,cpuacct:/box\n0::/\n",
         "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "100000\n",
         "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n"},
        {"proc/self/cgroup": "1:cpu:/box\n", "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "1000\n",
         "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n"},
    ],
)  # fmt: skip
def test_the_least_limit_of_a_group_and_those_above_counts(limits: dict[str, str], tmp_path: Path) -> None:
    assert usable_cores(tree(tmp_path, limits)) == 1


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"proc/self/cgroup": "0::/\n"},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "10000000 100000\n"},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "what\n"},
        {"proc/self/cgroup": "1:cpu:/\n2:memory:/box\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
         "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n", "sys/fs/cgroup/memory/box/cpu.cfs_quota_us": "1\n"},
        {"proc/self/cgroup": "nonsense\n"},
    ],
)  # fmt: skip
def test_without_a_limit_every_core_counts(limits: dict[str, str], tmp_path: Path) -> None:
    assert usable_cores(tree(tmp_path, limits)) == EVERY


def test_workers_are_as_many_as_the_cores_a_process_is_let_have() -> None:
    one = str(min(os.sched_getaffinity(0)))
    line = ["taskset", "-c", one, sys.executable, "-m", "repoassay", "submit", "--help"]
    told = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert "How many workspaces at a time. [default: 1;" in " ".join(told.split())
