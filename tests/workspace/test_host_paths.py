"""Where we, our interpreter and the cache lie on the host is nobody's business inside."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import repoassay
from repoassay.sandbox.cache import Cache, settle
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Access, Completed, Mount

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]

COMMAND_LINES = """
import glob, os
for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/task/*/cmdline"):
    print(path.split("/")[2], open(path, "rb").read())
print(dict(os.environ))
"""
OPTIONS = """
for line in open("/proc/self/mountinfo"):
    print(line.split()[4], *line.partition(" - ")[2].split())
"""


@pytest.mark.every_sandbox
def test_no_process_shows_a_path_of_ours(inside: Inside) -> None:
    shown = inside(COMMAND_LINES).stdout.decode()
    assert "1 b'repoassay.sandbox.launcher" in shown
    for place in (Path(repoassay.__file__).parent.parent, Path(sys.prefix)):
        assert str(place) not in shown


def test_a_copy_on_write_mount_does_not_say_what_it_copies(inside: Inside, tmp_path: Path) -> None:
    tree = tmp_path / "a:b,c\\d"  # also what overlay's options would have to escape
    tree.mkdir()
    (tree / "file").write_text("content")
    settle(tree)
    mounts = (Mount(tree, "/workspace/repo", Access.COPY_ON_WRITE),)
    code = OPTIONS + "print(open('/workspace/repo/file').read()); open('/workspace/repo/new', 'w')"
    done = inside(code, mounts=mounts)
    assert done.stdout.endswith(b"content\n"), done.stderr
    assert str(tmp_path).encode() not in done.stdout and not (tree / "new").exists()


def test_no_option_of_a_mount_says_where_the_cache_lies(tmp_path: Path, inside: Inside) -> None:
    cache = Cache(tmp_path / "secret-place")
    (cache.path / "base").mkdir()
    settle(cache.path / "base")
    mounts = (
        Mount(cache.path / "base", "/workspace/repo", Access.COPY_ON_WRITE),
        Mount(cache.path / "base", "/workspace/inputs"),
    )
    done = inside(OPTIONS, within=NamespaceSandbox(cache), mounts=mounts)
    assert b"/workspace/repo overlay" in done.stdout
    assert b"secret-place" not in done.stdout
