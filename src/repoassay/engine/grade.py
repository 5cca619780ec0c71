"""Grading outputs made elsewhere: `DIR/<task>/...` in, one verdict a task out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repoassay.engine.attempt import GradingContext, describe, rejected_of
from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.grading import Graded, Job, diff_name, fault, grade_deliverables, judge, name_isolation, with_ending
from repoassay.sandbox.launcher.collect import collect
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.types import Submission, TaskKind, Verdict
from repoassay.workspace import lay_out

__all__ = ["grade_outputs"]


def grade_outputs(
    suite: SuiteFolder, outputs: Path, bench: GradingContext, workers: int = 1, places: Mapping[str, Path] | None = None
) -> Iterator[Verdict]:
    """Yield one verdict a task in the suite's order, as each is ready.

    A deliverable's files lie directly in `outputs/<task>/`; an edit's diff is `outputs/<task>/changes.diff`, or the
    only `.diff` or `.patch` file there. What is missing, unreadable or too large is a verdict, never an error.

    Args:
        suite: The suite; `bench.reading` says which of its criteria decide.
        outputs: Folder of task folders.
        bench: Where edits are laid out and everything is run.
        workers: How many tasks at a time.
        places: Task id -> folder, for outputs that do not lie in `outputs/<task>`.

    Raises:
        BadInput: When `outputs` is not a folder, or the suite's data was never fetched.
    """
    if not outputs.is_dir():
        raise BadInput(
            f"The outputs folder {outputs} does not exist.", "Give the folder that holds <TASK_ID>/ folders."
        )
    suite.need_data()
    tasks = sorted(suite.tasks, key=lambda folder: folder.task.id)
    with tempfile.TemporaryDirectory(prefix="repoassay-outputs-", ignore_cleanup_errors=True) as staging:
        staged: dict[str, Path] = {}
        submissions: dict[str, Submission] = {}
        for number, folder in enumerate(tasks):
            task = folder.task.id
            staged[task] = Path(staging, str(number), "files")
            staged[task].mkdir(parents=True)
            submissions[task] = _stage(folder, (places or {}).get(task, outputs / task), staged[task])
        whole = [folder for folder in tasks if folder.task.kind is TaskKind.DELIVERABLE]
        jobs = [Job(folder, staged[folder.task.id]) for folder in whole]
        measured = grade_deliverables(jobs, bench.sandbox, reading=bench.reading, workers=workers)
        with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
            patched = {
                folder.task.id: pool.submit(
                    _grade_edit, folder, staged[folder.task.id], submissions[folder.task.id], bench
                )
                for folder in tasks
                if folder.task.kind.changes_repository
            }
            for folder in tasks:
                task = folder.task.id
                if folder.task.kind.changes_repository:
                    yield patched[task].result()
                else:
                    yield _told(folder, next(measured), submissions[task], bench)


def _told(folder: TaskFolder, graded: Graded, submission: Submission, bench: GradingContext) -> Verdict:
    if isinstance(graded.result, InfraFault):
        return name_isolation(fault(folder, graded.result, bench.reading), bench.sandbox)
    return name_isolation(with_ending(graded.result, submission), bench.sandbox)


def _grade_edit(folder: TaskFolder, staged: Path, submission: Submission, bench: GradingContext) -> Verdict:
    try:
        layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
        return judge(folder, layout, staged, submission, bench.sandbox, oracle=bench.oracle)
    except (InfraFault, Unavailable) as error:
        return name_isolation(fault(folder, error), bench.sandbox)


def _stage(folder: TaskFolder, given: Path, staged: Path) -> Submission:
    """Copy what may be graded, following nothing, so that nobody can change it while it is being graded."""
    if not given.is_dir() or given.is_symlink():
        return Submission(rejected=rejected_of([(given.name, "there is no such folder among the outputs")]))
    task = folder.task
    rejected = collect(str(given), str(staged), task.outputs.max_bytes, 10_000, [])
    wanted = diff_name(task.kind)
    if task.kind.changes_repository and not (staged / wanted).exists():
        found = sorted(path for path in staged.iterdir() if path.suffix in (".diff", ".patch"))
        if len(found) == 1:
            found[0].rename(staged / wanted)
        elif found:
            names = ", ".join(path.name for path in found)
            rejected.append((given.name, f"several patches ({names}); name one of them {wanted}"))
    return Submission(files=describe(staged), rejected=rejected_of(rejected))
