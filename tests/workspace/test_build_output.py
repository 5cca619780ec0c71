"""What a build left: taken over with plain modes, by digest, and nothing that leads elsewhere."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import remove_tree
from repoassay.workspace.build_output import is_intact, take_over


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    tree = tmp_path / "tree"
    (tree / "lib/inner").mkdir(parents=True)
    (tree / "lib/inner/module.py").write_text("x = 1\n")
    (tree / "lib64").symlink_to("lib")
    (tree / "python").symlink_to(Path(sys.base_prefix, "bin/python3"))
    (tree / "program").write_text("#!/bin/sh\n")
    (tree / "program").chmod(0o6711)
    yield tree
    remove_tree(tree)  # deeper than pytest itself could


def taken(tree: Path) -> Path:
    manifest = tree.with_name("manifest")
    take_over(tree, manifest, leads_to=(Path(sys.base_prefix),))
    is_intact.cache_clear()
    return manifest


def test_modes_are_plain_and_everything_is_listed(tree: Path) -> None:
    (tree / "lib/inner/module.py").chmod(0o200)
    (tree / "lib/inner").chmod(0)
    manifest = taken(tree)
    listed = json.loads(manifest.read_text())
    assert set(listed) == {"lib/inner/module.py", "lib64", "python", "program"}
    assert (tree / "program").stat().st_mode & 0o7777 == 0o755
    assert (tree / "lib/inner/module.py").stat().st_mode & 0o7777 == 0o644
    assert (tree / "lib/inner").stat().st_uid == os.geteuid()
    assert is_intact(tree, manifest)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "../lib64/../../outside", "/", "../../tree-beside"])
def test_a_link_that_leads_outside_is_refused(tree: Path, target: str) -> None:
    (tree / "lib/link").symlink_to(target)
    with pytest.raises(InfraFault, match="leads outside: 'lib/link'"):
        taken(tree)


def test_a_chain_of_links_is_followed_to_its_end(tree: Path) -> None:
    (tree / "first").symlink_to("second")
    (tree / "second").symlink_to("..")
    with pytest.raises(InfraFault, match="leads outside"):
        taken(tree)


def test_pipes_and_sockets_are_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tree / "pipe")
    with pytest.raises(InfraFault, match="'pipe', which is neither"):
        taken(tree)
    (tree / "pipe").unlink()
    monkeypatch.chdir(tree)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
        with pytest.raises(InfraFault, match="'socket', which is neither"):
            taken(tree)


@pytest.mark.long
def test_folders_too_deep_to_handle_are_refused_and_can_be_removed(tree: Path) -> None:
    deep = "import os\nfor _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')"
    subprocess.run([sys.executable, "-I", "-S", "-c", deep], cwd=tree, check=True)
    with pytest.raises(InfraFault, match="deeper than"):
        taken(tree)
    remove_tree(tree)
    assert not tree.exists()


@pytest.mark.parametrize("how", ["written", "replaced", "added", "removed", "link", "mode"])
def test_a_change_is_seen(tree: Path, how: str) -> None:
    manifest, module = taken(tree), tree / "lib/inner/module.py"
    before = module.stat()
    if how in ("written", "replaced"):
        if how == "replaced":
            module.unlink()
        module.write_text("x = 2\n")  # as long as before, and with the same time
        os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif how == "added":
        (tree / "sitecustomize.py").write_text("")
    elif how == "removed":
        module.unlink()
    elif how == "link":
        (tree / "lib64").unlink()
        (tree / "lib64").symlink_to("lib/inner")
    else:
        module.chmod(0o755)
    assert not is_intact(tree, manifest)


def test_a_copy_with_other_times_is_the_same(tree: Path) -> None:
    manifest = taken(tree)
    os.utime(tree / "lib/inner/module.py", (1, 1))
    assert is_intact(tree, manifest)
    manifest.unlink()
    is_intact.cache_clear()
    assert not is_intact(tree, manifest)
