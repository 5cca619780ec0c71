"""What hidden tests look at on the base commit, recorded once, and what follows for a patch that changes none of it.

Tests that never look at what a patch changes see what they saw on the base, and fail as they did there. "Look at" is
every name looked up on the way to a file, found or not, and every folder whose names were read. The state of a folder
alone (its time, its size, how many folders are in it) is not looked at by asking whether it is there: checkouts are
made anew on every machine, at another moment and on another file system, so no outcome of a task may depend on it. That
this holds of a task, and that the notes are all there is, is tried when they are made: a run in the usual way on the
base without anything that was not looked at, and with a stray file in every folder that was not read, must come to the
same.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from pydantic import Field

from repoassay.grading.test_run import HiddenTestExamination
from repoassay.types import Ended, FileEdit, Record, TestResult

__all__ = ["BaseTrace", "PathSet", "failed_by_tests", "outcomes_of", "strip_unseen"]

_MOST_BYTES = 2**20
"""What all files that a patch writes may have together; with more, a disk or memory could run full."""
_MOST_FILES = 1000
_MOST_REMOVED, _MOST_STRAY = 4000, 1000
_SPECIAL = (".pyc", ".pyo", ".dist-info", "egg-info")
_HASTE = 4.0
"""The tests' time limit must be so many times what they took on the base, and a second."""


class PathSet:
    """Paths that runs looked at, and what a change of them would be.

    Args:
        looked: Paths looked up, relative to the repository.
        listed: Folders whose names were read.
        absent: Those of `looked` that are not there.
    """

    def __init__(self, looked: Iterable[str], listed: Iterable[str], absent: Iterable[str]) -> None:
        self.looked, self.listed, self._absent = frozenset(looked), frozenset(listed), frozenset(absent)

    def sees(self, path: str) -> bool:
        """Whether a run could see that a file is made, changed or removed.

        A folder that is made for it was looked for in vain, or was not looked for. Below a folder whose names were
        read anything counts, since even their order may then be another. Byte code and what tells of installed
        distributions always counts: runs find byte code that no checkout has, and the standard library reads a folder
        for the names of distributions alone, which the tracer does not count as reading it.
        """
        parts = path.lower().split("/")
        if "__pycache__" in parts or any(part.endswith(_SPECIAL) for part in parts):
            return True
        return path in self.looked or any(each in self.listed or each in self._absent for each in _parents(path))


class BaseTrace(Record):
    """Runs of a task's tests on its base commit, and what they looked at.

    Attributes:
        looked: Paths that some run looked up and found, relative to the repository.
        absent: Those that were looked up and not there.
        listed: Folders whose names were read.
        tests: What the tests came to, the same in every run.
        wall: Seconds that the slowest run in the usual way took.
        seconds: What it took to record all this.
        unusable: Why no verdict may rest on it; empty when one may.
    """

    version: str = "1"
    looked: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    tests: tuple[TestResult, ...] = ()
    wall: float = 0.0
    seconds: float = 0.0
    unusable: str = Field(default="")

    @cached_property
    def paths(self) -> PathSet:
        """All of it, to ask about single paths."""
        return PathSet((*self.looked, *self.absent), self.listed, self.absent)

    def decides(self, edits: Mapping[str, FileEdit | None], limit: float) -> bool:
        """Whether tests with a time limit (seconds) fail with these changes because they cannot see any of them."""
        if self.unusable or not edits or len(edits) > _MOST_FILES or limit < _HASTE * self.wall + 1:
            return False
        if sum(len(edit.content) for edit in edits.values() if edit is not None) > _MOST_BYTES:
            return False
        return not any(self.paths.sees(path) for path in edits)


def failed_by_tests(examined: HiddenTestExamination) -> bool:
    """Whether a run came to its end in order, and not every test passed."""
    ran = examined.ran
    orderly = ran.exit.ended is Ended.EXITED and ran.report.complete and not examined.signs
    return orderly and any(test.outcome != "passed" for test in examined.tests)


def outcomes_of(examined: HiddenTestExamination) -> dict[str, str]:
    """What each test came to, as it was reported and as it is judged."""
    outcomes = {
        f"reported {test.id}": str(test.outcome) for test in (*examined.ran.report.tests, *examined.ran.report.others)
    }
    return outcomes | {test.id: str(test.outcome) for test in examined.tests}


def strip_unseen(base: Path, paths: PathSet) -> dict[str, FileEdit | None]:
    """Changes that nothing which saw only `paths` could see: what else there is is gone, and stray files are there."""
    removed: dict[str, FileEdit | None] = {}
    stray: dict[str, FileEdit | None] = {}
    for place, folders, files in os.walk(base):
        top = Path(place).relative_to(base).as_posix()
        below = "" if top == "." else f"{top}/"
        if not below:
            folders[:] = [name for name in folders if name != ".git"]
        links = [name for name in folders if Path(place, name).is_symlink()]
        removed |= {f"{below}{name}": None for name in (*files, *links) if not paths.sees(f"{below}{name}")}
        name = f"{below}stray-{secrets.token_hex(8)}.txt"
        if not paths.sees(name):
            stray[name] = FileEdit(b"stray\n")
    return dict([*list(removed.items())[:_MOST_REMOVED], *list(stray.items())[:_MOST_STRAY]])


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts))]
