"""A build that writes more to the host's disk than it may is ended."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repoassay.sandbox.cache import Cache, settle
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Access, Command, Mount
from repoassay.workspace.disk_limit import Growth

BUILDS = """
import sys
from pathlib import Path
from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Command
from repoassay.workspace.building import run_build

cache = Cache(Path("cache"))
for count in (1, 2):
    tree = Path(f"disk/{count}")
    tree.mkdir()
    command = Command(argv=("/bin/sh", "-c", f"head -c {count * 50_000_000} /dev/zero > /made/file; exit 1"))
    try:
        run_build("It failed", tree, "/made", command, cache, NamespaceSandbox(cache))
    except InfraFault as fault:
        print(type(fault).__name__)
"""


@pytest.mark.long
def test_a_build_that_writes_without_end_is_ended(tmp_path: Path, cache: Cache, sandbox: NamespaceSandbox) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    tmp_path.chmod(0o755)
    settle(tree)
    script = "i=0; while true; do i=$((i+1)); head -c 1000000 /dev/urandom > /made/$i; sleep 0.1; done"
    with Growth(tree, 5_000_000) as growth:
        done = sandbox.run(
            Command(argv=("/bin/sh", "-c", script), mounts=(Mount(tree, "/made", Access.WRITE),)), growth.exceeded
        )
    assert growth.exceeded.is_set() and done.exit.ended == "cancelled"


def test_what_is_linked_twice_counts_once(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "file").write_bytes(b"x" * 1_000_000)
    for number in range(10):
        (tmp_path / f"inner/{number}").hardlink_to(tmp_path / "file")
    assert Growth(tmp_path, 1_500_000)._fits() and not Growth(tmp_path, 900_000)._fits()


@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="mounts a disk as root")
def test_a_build_that_failed_on_a_full_disk_is_told_from_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "disk").mkdir()
    (tmp_path / "builds.py").write_text(BUILDS)
    script = 'mount -t tmpfs -o size=120m,mode=755 none disk && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "builds.py"], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["InfraFault", "DiskFull"], done.stderr
