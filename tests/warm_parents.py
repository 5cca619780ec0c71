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

__all__ = ["SMALL", "Warm", "WarmJob", "base", "run", "start", "warm"]

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
    return (json.loads(done.told) if done.told else None), done


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
