"""What the tests of one step lay out for the next, seen when a task is proved.

Harbor runs a step's tests in the container that the next step goes on in, and some authors let them lay out what it
begins with. Here nothing of a run of tests goes on, since that could show an agent what it is judged by. Only where a
step cannot be proved otherwise, new files that it speaks of become its own, of those which the tests before it leave
alike on their untouched files and on their solution: no program of an agent's has made these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from repoassay.diffs import PatchError
from repoassay.engine import GradingContext, crossing
from repoassay.errors import InfraFault
from repoassay.grading import run_hidden
from repoassay.interchange.proof_runs import honest_tests
from repoassay.sandbox import temporary_folder
from repoassay.tasks import TaskFolder, step_place
from repoassay.types import FileEdit, TestResult
from repoassay.workspace import PreparedTask, changes_left

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
    with temporary_folder("staged") as scratch:
        with crossing(layout, Path(scratch)) as crossed:
            collect = tuple(replace(each, links=None) for each in crossed.collect)  # one could lead to the tests
            ran = run_hidden(view, layout.base, edits, bench.sandbox, layout.environment, collect=collect)
            crossed.submit(bench.sandbox)
        diff = Path(scratch, "changes.diff").read_bytes()
    try:
        after = changes_left(layout.base, diff)
    except PatchError as error:
        raise InfraFault(f"What the tests of a step of {view.task.id} leave cannot be kept: {error}") from error
    left = {
        path: edit
        for path, edit in after.items()
        if edit is not None and edits.get(path) != edit and not _LITTER & set(PurePosixPath(path).parts)
    }
    return honest_tests(ran), left


def keep_staged(step: TaskFolder, base: Path, start: Edits, staged: Mapping[str, FileEdit]) -> int:
    """Add to a step's files what the tests before it laid out for it; how many files that are.

    Args:
        step: The step, which could not be proved.
        base: Read-only checkout of the task's files.
        start: What the step begins with so far.
        staged: What the tests before it leave, whatever they judge.

    Raises:
        InfraFault: That is more than a step may begin with.
    """
    texts = "\n".join((step.instruction, *_texts(step.tests), *_texts(step.solution)))
    wanted = {
        path: edit
        for path, edit in staged.items()
        if path not in start and not (base / path).exists() and _mentions(path, step, texts)
    }
    if len(wanted) > _MOST_FILES or sum(len(edit.content) for edit in wanted.values()) > _MOST_BYTES:
        raise InfraFault(f"The tests before {step.step} leave more files than a step may begin with.")
    top = step_place(step.path, step.step) / "files"
    for path, edit in wanted.items():
        place = top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(edit.content)
        place.chmod(0o755 if edit.executable else 0o644)
    return len(wanted)


def _mentions(path: str, step: TaskFolder, text: str) -> bool:
    """Whether a text names a file, from where an agent stands too, or a folder above it that is no whole place."""
    whole, state = PurePosixPath("/", path), step.task.state
    if state is not None and whole.is_relative_to(state.work) and str(whole.relative_to(state.work)) in text:
        return True
    return any(str(each) in text for each in (whole, *whole.parents) if len(each.parts) > 2)


def _texts(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size < _MOST_BYTES:
            yield path.read_bytes().decode("utf-8", "replace")
