"""Verdicts on outputs that were made elsewhere, from Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repoassay.api.settings import Names, SuiteLike, checked_isolation, checked_reading, checked_suite, checked_workers
from repoassay.engine import GradingContext, grade_outputs
from repoassay.errors import BadInput
from repoassay.executors import find_executor
from repoassay.grading import check_packages
from repoassay.sandbox import Cache, open_sandbox
from repoassay.types import Reading, Verdict

__all__ = ["grade"]


def grade(
    suite: SuiteLike,
    *,
    outputs: str | Path,
    tasks: Names = (),
    criteria: str | Reading = "fair",
    workers: int | None = None,
    isolation: str = "namespaces",
    executor: str = "local",
) -> Iterator[Verdict]:
    """Grade `outputs/<task>/...` against a suite; yields one verdict a task, as each is ready, in the suite's order.

    A deliverable's files lie directly in its folder; an edit's diff is `changes.diff` there. What is missing,
    unreadable or too large is a verdict too. Settings are looked at before this returns.

    Args:
        suite: A bundled suite's name, a folder of tasks, or one task's folder.
        outputs: The folder that holds a folder for each task id.
        tasks: Globs over task ids; all tasks without.
        criteria: Which criteria decide: fair or published.
        workers: How many workspaces at a time, on each node of another executor than `local`; by default one a core.
        isolation: `namespaces`, or `none`, which protects nothing.
        executor: Who grades outputs: `local`, `ray[://HOST:PORT]`, `slurm://NODES` or a plug-in's (docs/clusters.md).

    Raises:
        BadInput: A setting is unknown or impossible.
        Unavailable: This machine lacks something.

    Examples:
        >>> from pathlib import Path
        >>> Path("outputs/sensor-log-daily").mkdir(parents=True)
        >>> for verdict in ra.grade("starter", outputs="outputs", tasks="sensor-log-daily"):
        ...     print(verdict.task, verdict.outcome.value)
        sensor-log-daily no_output
    """
    reading, count, kind = checked_reading(criteria), checked_workers(workers), checked_isolation(isolation)
    found = checked_suite(suite, tasks)
    check_packages(found.tasks, reading)
    folder = Path(outputs)
    if not folder.is_dir():
        raise BadInput(f"The outputs folder {folder} does not exist.", "Give the folder that holds <TASK_ID>/ folders.")
    if executor != "local":
        find_executor(executor)
    cache = Cache()
    bench = GradingContext(found.repositories, cache, open_sandbox(kind, cache), reading=reading)
    each = count if executor == "local" or workers is not None else None
    return grade_outputs(found, folder, bench, each, executor=executor)
