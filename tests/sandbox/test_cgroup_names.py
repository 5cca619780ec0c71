"""Groups of several process namespaces that share one tree, as containers of one machine do."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups, sweep_cgroups

_ELSEWHERE = """
import time
from repoassay.sandbox.cgroups import make_cgroups, sweep_cgroups
sweep_cgroups()
print(*make_cgroups(2**28, 64), flush=True)
time.sleep(60)
"""


def test_namespaces_that_count_alike_neither_share_groups_nor_sweep_each_others() -> None:
    own = make_cgroups(2**28, 64)
    if not own or os.geteuid():
        pytest.skip("no control groups can be made here")
    line = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", _ELSEWHERE]
    with contextlib.ExitStack() as ends:
        made = []
        for _ in range(2):  # in either of them it is process 1
            other = ends.enter_context(subprocess.Popen(line, stdout=subprocess.PIPE, text=True))
            ends.callback(other.kill)
            assert other.stdout is not None
            made.append(other.stdout.readline().split())
        assert all(made) and not set(made[0]) & set(made[1])
        sweep_cgroups()
        assert all(Path(folder).is_dir() for folder in [*own, *made[0], *made[1]])
    long_ago = time.time() - 2 * 3600
    for folder in [*made[0], *made[1]]:
        os.utime(folder, (long_ago, long_ago))
    sweep_cgroups()
    assert not any(Path(folder).exists() for folder in [*made[0], *made[1]])
    remove_cgroups(own)
    assert not any(Path(folder).exists() for folder in own)
