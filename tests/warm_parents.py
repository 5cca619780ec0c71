"""Prefork servers whose environment holds a hostile package, for tests."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repoassay.sandbox.cache import Cache, settle
from repoassay.sandbox.prefork_pool import WarmDone, WarmJob, WarmParent
from repoassay.types import Limits

__all__ = ["AT_THE_GATE", "LAUNCHER", "SMALL", "Warm", "WarmJob", "base", "run", "start", "warm"]

SMALL = Limits(seconds=20, memory=256 * 2**20, disk=16 * 2**20, processes=32)
PROGRAM = """
import json, os, sys, traceback
HELD = []

def hold(document):
    HELD.append(document)
    exec(document.get("code", ""))

def work(job, channel):
    space = {"found": sys.modules["hostile"].__dict__.get("found") if "hostile" in sys.modules else None}
    space["held"] = HELD
    try:
        exec(job["facts"]["code"], space)
    except BaseException:
        space["found"] = traceback.format_exc()
    os.write(channel, json.dumps(space["found"]).encode())
"""
LAUNCHER = """
import os, sys
kernel = sys.modules["repoassay.sandbox.launcher.kernel"]
launcher = sys.modules["repoassay.sandbox.launcher.prefork"]
drop, enter = kernel.drop_capabilities, kernel.setns
"""
AT_THE_GATE = {
    "keeps its capabilities and opens a file": (
        "kernel.drop_capabilities = lambda: open('/dev/null')",
        "at the gate",
    ),
    "keeps its capabilities and mounts": (
        "kernel.drop_capabilities = lambda: kernel.mount('none', '/tmp', 'tmpfs')",
        "at the gate",
    ),
    "keeps its capabilities and executes": (
        "kernel.drop_capabilities = lambda: os.execv('/bin/true', ['true'])",
        "at the gate",
    ),
    "makes a socket on the way": (
        "import _socket\nkernel.setns = lambda fd, kind: (enter(fd, kind), _socket.socket(16, 3, 0))",
        "at the gate",
    ),
    "keeps one capability": (
        "kernel.drop_capabilities = lambda: kernel._libc.capset(b'\\x22\\x05\\x08\\x20' + bytes(4),"
        " b'\\x00\\x00\\x20\\x00' * 2 + bytes(16))",
        "at the gate",
    ),
    "enters what is not a namespace": (
        "kernel.setns = lambda fd, kind: enter(1, kind)",
        "setns failed",
    ),
    "forks with every capability": (
        "fork = os.fork\ndef both():\n    os.fork = fork\n    fork()\nkernel.drop_capabilities = both",
        "at the gate",
    ),
    "tells of its end before it has entered": (
        "launcher._enter = lambda job, entrance, *_: os.write(entrance, bytes(32)) and os._exit(0)",
        "before it was let in|did not start it",  # whichever of its ends is seen first
    ),
    "does not come": ("launcher._enter = lambda *_: os._exit(0)", "did not start"),
}
Warm = Callable[..., WarmParent]


@contextlib.contextmanager
def start(cache: Cache, folder: Path, hostile: str = "", **options: Any) -> Iterator[WarmParent]:
    """A prefork server that has imported a package `hostile` with this code."""
    packages = folder / f"env/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    packages.mkdir(parents=True)
    (folder / "env/bin").mkdir()
    (packages / "hostile.py").write_text(hostile)
    settle(folder / "env")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    options = {"limits": SMALL, "imports": ["hostile"] if hostile else [], **options}
    with WarmParent(folder / "env", program, cache, **options) as parent:
        yield parent


def base(cache: Cache) -> Path:
    """A checkout of one file."""

    def stage(part: Path) -> None:
        (part / "here.txt").write_text("as it was\n")
        settle(part)

    return cache.entry("checkouts", "small", stage)


def run(
    parent: WarmParent, cache: Cache, code: str = "", limits: Limits = SMALL, branch: str = ""
) -> tuple[Any, WarmDone]:
    """Run code in a job; what it left in `found`, where it starts with what the hostile package left there."""
    done = parent.run(WarmJob(base(cache), None, {}, {"path": [], "code": code}, limits, branch))
    return (json.loads(done.channel) if done.channel else None), done


@pytest.fixture
def warm(cache: Cache, tmp_path: Path) -> Iterator[Warm]:
    """Start prefork servers that end with the test."""
    with contextlib.ExitStack() as stack:
        made: list[Path] = []

        def begin(hostile: str = "", **options: Any) -> WarmParent:
            folder = tmp_path / f"parent-{len(made)}"
            folder.mkdir()
            folder.chmod(0o755)
            made.append(folder)
            return stack.enter_context(start(cache, folder, hostile, **options))

        yield begin
