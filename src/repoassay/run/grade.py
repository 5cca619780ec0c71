"""Grading outputs made elsewhere: `DIR/<task>/...` in, one verdict a task out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.grading.judge import DIFF, fault, judge
from repoassay.model import Kind, Submission, Verdict
from repoassay.run.attempt import Bench, describe, rejected_of
from repoassay.suites import SuiteFolder
from repoassay.tasks import TaskFolder
from repoassay.workspace import lay_out
from repoassay.workspace.launcher.collect import collect

__all__ = ["grade_outputs"]


def grade_outputs(suite: SuiteFolder, outputs: Path, bench: Bench, workers: int = 1) -> Iterator[Verdict]:
    """Yield one verdict a task in the suite's order, as each is ready.

    A deliverable's files lie directly in `outputs/<task>/`; an edit's diff is `outputs/<task>/changes.diff`, or the
    only `.diff` or `.patch` file there. What is missing, unreadable or too large is a verdict, never an error.

    Raises:
        BadInput: When `outputs` is not a folder.
    """
    if not outputs.is_dir():
        raise BadInput(
            f"The outputs folder {outputs} does not exist.", "Give the folder that holds <TASK_ID>/ folders."
        )
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        yield from pool.map(lambda folder: _grade(folder, outputs / folder.task.id, bench), _sorted(suite.tasks))


def _sorted(tasks: Sequence[TaskFolder]) -> list[TaskFolder]:
    return sorted(tasks, key=lambda folder: folder.task.id)


def _grade(folder: TaskFolder, given: Path, bench: Bench) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="repoassay-outputs-", ignore_cleanup_errors=True) as staging:
        staged = Path(staging, "files")  # not the folder itself, which nobody but its owner may enter
        staged.mkdir()
        submission = _stage(folder, given, staged)
        try:
            layout = None
            if folder.task.kind is Kind.EDIT:
                layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
            return judge(folder, layout, staged, submission, bench.sandbox)
        except (InfraFault, Unavailable) as error:
            return fault(folder, error)


def _stage(folder: TaskFolder, given: Path, staged: Path) -> Submission:
    """Copy what may be graded, following nothing, so that nobody can change it while it is being graded."""
    if not given.is_dir() or given.is_symlink():
        return Submission(rejected=rejected_of([(given.name, "there is no such folder among the outputs")]))
    task = folder.task
    rejected = collect(str(given), str(staged), task.outputs.max_bytes, 10_000, [])
    if task.kind is Kind.EDIT and not (staged / DIFF).exists():
        found = sorted(path for path in staged.iterdir() if path.suffix in (".diff", ".patch"))
        if len(found) == 1:
            found[0].rename(staged / DIFF)
        elif found:
            names = ", ".join(path.name for path in found)
            rejected.append((given.name, f"several patches ({names}); name one of them {DIFF}"))
    return Submission(files=describe(staged), rejected=rejected_of(rejected))
