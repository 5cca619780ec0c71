"""Modules of a patch are imported where others of their name could have been imported beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.grading.hidden_tests.imports import covers_imports
from repoassay.grading.hidden_tests.prefork import WarmPool
from repoassay.sandbox.cache import Cache
from repoassay.types import FileEdit
from repoassay.workspace.preparation import PreparedTask
from two_ways import laid_out, words

TESTS = "import ways\n\ndef test_it():\n    assert ways.answer() == 42\n"
REPOSITORY = {
    "ways.py": "import colorsys, sched, graphlib, inner\ndef answer(): return 41\n",
    "inner/__init__.py": "",
    "inner/sched.py": "",
    "inner/thing.own": "own = 42\n",
}
HOOKED = """\
import sys
from importlib.machinery import FileFinder, SourceFileLoader

class Own:
    def __init__(self, path):
        if not path.endswith("inner"):
            raise ImportError
        self.find_spec = FileFinder(path, (SourceFileLoader, [".own"])).find_spec

sys.path_hooks.insert(0, Own)
from inner.thing import own
def answer(): return own
"""
PATCHES = {
    "a module of the standard library's name": {
        "ways.py": "import colorsys\ndef answer(): return colorsys.own\n", "colorsys.py": "own = 42\n"},
    "a package of its name": {
        "ways.py": "from graphlib import own\ndef answer(): return own\n", "graphlib/__init__.py": "own = 42\n"},
    "one in a folder put before others": {
        "ways.py": "import os, sys\nsys.path.insert(0, os.path.dirname(__file__) + '/more')\n"
                   "from sched import own\ndef answer(): return own\n", "more/sched.py": "own = 42\n"},
    "a hook of its own for a folder": {"ways.py": HOOKED},
}  # fmt: skip


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> PreparedTask:
    return laid_out(tmp_path_factory.mktemp("suite"), REPOSITORY, TESTS)


@pytest.fixture(scope="module")
def pool(task: PreparedTask) -> Iterator[WarmPool]:
    with WarmPool(Cache(), slots=1, limits=task.folder.task.limits) as pool:
        yield pool


@pytest.mark.long
@pytest.mark.parametrize("name", PATCHES)
def test_a_solution_with_modules_of_its_own_passes(task: PreparedTask, pool: WarmPool, name: str) -> None:
    for way in (None, pool):
        assert words(task, PATCHES[name], "test_it", direct=True, pool=way) == {"test_it": "passed"}, way


def test_only_new_modules_cover_others(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("")
    (tmp_path / "environment/lib/python3.11/site-packages").mkdir(parents=True)
    (tmp_path / "environment/lib/python3.11/site-packages/thing.py").write_text("")

    def covers(path: str, *, gone: bool = False) -> bool:
        return covers_imports({path: None if gone else FileEdit(b"")}, tmp_path, tmp_path / "environment")

    assert covers("a/b/thing.py")
    assert covers("json/__init__.py")
    assert covers("queue.cpython-311-x86_64-linux-gnu.so")
    assert not any(map(covers, ("json.py", "own.py", "queue.txt", "queue/own.py", "Makefile")))
    assert not covers("thing.py", gone=True)
