"""Grading outputs made elsewhere: `DIR/<task>/...` in, one verdict a task out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.staged_output import StagedOutput, grade_output, stage_output
from repoassay.errors import BadInput, InfraFault
from repoassay.grading import Graded, Job, fault, grade_deliverables, name_isolation, with_ending
from repoassay.sandbox import temporary_folder
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.types import TaskKind, Verdict

__all__ = ["grade_outputs"]


def grade_outputs(
    suite: SuiteFolder, outputs: Path, bench: GradingContext, workers: int | None = 1,
    places: Mapping[str, Path] | None = None, executor: str = "local",
) -> Iterator[Verdict]:  # fmt: skip
    """Yield one verdict a task in the suite's order, as each is ready.

    A deliverable's files lie directly in `outputs/<task>/`; an edit's diff is `outputs/<task>/changes.diff`, or the
    only `.diff` or `.patch` file there. What is missing, unreadable or too large is a verdict, never an error.

    Args:
        suite: The suite; `bench.reading` says which of its criteria decide.
        outputs: Folder of task folders.
        bench: Where edits are laid out and everything is run.
        workers: How many tasks at a time; on nodes, those of each, None for one a core.
        places: Task id -> folder, for outputs that do not lie in `outputs/<task>`.
        executor: `local`, or the executor whose nodes grade.

    Raises:
        BadInput: When `outputs` is not a folder, the suite's data was never fetched, or there is no such executor.
        Unavailable: When the nodes of the executor cannot be had.
    """
    if not outputs.is_dir():
        raise BadInput(
            f"The outputs folder {outputs} does not exist.", "Give the folder that holds <TASK_ID>/ folders."
        )
    suite.need_data()
    tasks = sorted(suite.tasks, key=lambda folder: folder.task.id)
    folders = {folder.task.id: (places or {}).get(folder.task.id, outputs / folder.task.id) for folder in tasks}
    with temporary_folder("outputs") as staging:
        staged = _staged(tasks, folders, Path(staging))
        if executor == "local":
            yield from _grade_here(list(staged), bench, workers or 1)
        else:
            from repoassay.engine.output_cluster import grade_on_cluster

            yield from grade_on_cluster(staged, bench, executor, workers)


def _staged(tasks: Sequence[TaskFolder], folders: Mapping[str, Path], staging: Path) -> Iterator[StagedOutput]:
    for number, folder in enumerate(tasks):
        yield stage_output(folder, folders[folder.task.id], staging / str(number) / "files")


def _grade_here(outputs: Sequence[StagedOutput], bench: GradingContext, workers: int) -> Iterator[Verdict]:
    """The verdicts in order: deliverables measured together in one sandbox, and edits each by itself beside it.

    When nobody wants more of them, what is under way is dropped.
    """
    cancel = threading.Event()
    ending = bench.ending_with(cancel)
    jobs = [Job(each.folder, each.files) for each in outputs if each.folder.task.kind is TaskKind.DELIVERABLE]
    measured = grade_deliverables(jobs, bench.sandbox, reading=bench.reading, workers=workers, cancel=cancel)
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        try:
            patched = [
                pool.submit(grade_output, each, ending, cancel) if each.folder.task.kind.changes_repository else None
                for each in outputs
            ]
            for each, future in zip(outputs, patched, strict=True):
                yield _verdict_on(each, next(measured), bench) if future is None else future.result()
        except BaseException:  # Ctrl-C, or the caller has seen enough
            cancel.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _verdict_on(output: StagedOutput, graded: Graded, bench: GradingContext) -> Verdict:
    if isinstance(graded.result, InfraFault):
        return name_isolation(fault(output.folder, graded.result, bench.reading), bench.sandbox)
    return name_isolation(with_ending(graded.result, output.submission), bench.sandbox)
