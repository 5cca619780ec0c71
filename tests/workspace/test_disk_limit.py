"""A build that writes more to the host's disk than it may is ended."""

from __future__ import annotations

from pathlib import Path

from repoassay.sandbox.cache import Cache, settle
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Access, Command, Mount
from repoassay.workspace.disk_limit import Growth


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
