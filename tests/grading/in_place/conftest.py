"""What tests in place share: a judge of patches, and diffs to hand in."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterator, Mapping

import pytest

from repoassay.grading.edit import grade_edit
from repoassay.grading.oracle.oracle import Oracle
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks.folder import TaskFolder
from repoassay.types import Verdict
from repoassay.workspace.preparation import lay_out


def diff(files: Mapping[str, tuple[str | None, str | None]]) -> bytes:
    """A unified diff of files: path -> before and after."""
    lines: list[str] = []
    for path, (before, after) in files.items():
        names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
        lines += difflib.unified_diff(
            (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True), *names
        )
    return "".join(lines).encode()


class Judge:
    """Grades patches on tasks of a module."""

    def __init__(self, cache: Cache) -> None:
        self.cache, self.sandbox = cache, open_sandbox("namespaces", cache)
        self.oracle = Oracle(cache, self.sandbox)

    def __call__(self, folder: TaskFolder, patch: bytes, cancel: threading.Event | None = None) -> Verdict:
        layout = lay_out(folder, None, self.cache, self.sandbox)
        return grade_edit(
            folder, patch, self.sandbox, base=layout.base, environment=layout.environment, oracle=self.oracle,
            cancel=cancel,
        )  # fmt: skip


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    found = Judge(Cache())
    yield found
    found.oracle.close()
