"""What the tests of one step lay out for the next, seen when a task is proved.

Harbor runs a step's tests in the container that the next step goes on in, and some authors let them lay out what it
begins with. Here nothing of a run of tests goes on. So files are told apart that the tests leave alike on the step's
untouched start and on its solution: no program of the agent can have made these, and they become the next step's own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.engine import GradingContext, crossing
from repoassay.errors import InfraFault
from repoassay.grading import run_hidden
from repoassay.interchange.proof_runs import honest_tests
from repoassay.tasks import TaskFolder, step_place
from repoassay.types import FileEdit, TestResult
from repoassay.workspace import PreparedTask

__all__ = ["TestsRun", "keep_staged", "run_tests_of_step"]

_LITTER = frozenset({"__pycache__", ".pytest_cache", ".hypothesis"})
_MOST_FILES, _MOST_BYTES = 2000, 64 * 2**20

Edits = Mapping[str, FileEdit | None]
TestsRun = tuple[list[TestResult], Mapping[str, FileEdit]]
"""What tests came to, and the files that they left, by path below the root folder."""


def run_tests_of_step(view: TaskFolder, layout: PreparedTask, edits: Edits, bench: GradingContext) -> TestsRun:
    """Run a step's tests on changed files.

    Raises:
        InfraFault: They would call honest work tampering.
    """
    with tempfile.TemporaryDirectory(prefix="repoassay-staged-", ignore_cleanup_errors=True) as scratch:
        with crossing(layout, Path(scratch)) as crossed:
            ran = run_hidden(view, layout.base, edits, bench.sandbox, layout.environment, collect=crossed.collect)
            crossed.submit(bench.sandbox)
        diff = Path(scratch, "changes.diff").read_bytes()
    after: Edits = {}
    if diff.strip():
        try:
            after = apply_patch(read_patch(diff), layout.base).edits
        except PatchError as error:
            raise InfraFault(f"What the tests of a step of {view.task.id} leave cannot be kept: {error}") from error
    left = {
        path: edit
        for path, edit in after.items()
        if edit is not None and edits.get(path) != edit and not _LITTER & set(PurePosixPath(path).parts)
    }
    return honest_tests(ran), left


def keep_staged(
    folder: TaskFolder, following: str, untouched: Mapping[str, FileEdit], solved: Mapping[str, FileEdit]
) -> int:
    """Add to the files of the following step what the tests before it leave alike, whatever they judge; how many.

    Raises:
        InfraFault: That is more than a step may begin with.
    """
    staged = {path: edit for path, edit in solved.items() if untouched.get(path) == edit}
    if len(staged) > _MOST_FILES or sum(len(edit.content) for edit in staged.values()) > _MOST_BYTES:
        raise InfraFault(f"The tests before {following} leave more files than a step may begin with.")
    top, added = step_place(folder.path, following) / "files", 0
    for path, edit in staged.items():
        place = top / path
        if not place.exists():  # what the step itself lays there comes later
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(edit.content)
            place.chmod(0o755 if edit.executable else 0o644)
            added += 1
    return added
