"""`gittaskbench grade`: verdicts on outputs, each added to its task's file of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.benchmarks.gittaskbench.cli.options import is_verbose, show, suite_option, task_ids, tell, verbose_option
from repoassay.errors import BadInput, Unavailable
from repoassay.options import PATH, isolation_option, workers_option

if TYPE_CHECKING:
    from repoassay.tasks import SuiteFolder
    from repoassay.types import Verdict

__all__ = ["grade"]

_PASSED, _NOT_PASSED, _LACKING, _FAULT = 0, 1, 3, 4


@click.command()
@click.option("--taskid", metavar="ID", help="Grade this task.")
@click.option("--all", "everything", is_flag=True, help="Grade every task of the suite.")
@click.option(
    "--output_dir", "--output-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="What to grade. With --taskid the folder of that task's files, by default output/ID; "
    "with --all the folder that has a folder for each task, by default output.",
)  # fmt: skip
@click.option(
    "--result", type=PATH, default=Path("test_results"), show_default=True, metavar="DIR",
    help="Records are added to DIR/ID/results.jsonl; made if missing.",
)  # fmt: skip
@click.option(
    "--criteria", type=click.Choice(["published", "fair"]), default="fair", show_default=True,
    help="fair: what the tasks ask for, measured correctly. published: what the benchmark's own scripts decide, "
    "their defects included, for comparing with published numbers.",
)  # fmt: skip
@suite_option
@workers_option
@isolation_option
@verbose_option
@click.pass_context
def grade(
    ctx: click.Context,
    taskid: str | None,
    everything: bool,
    output_dir: Path | None,
    result: Path,
    criteria: str,
    suite: str,
    workers: int,
    isolation: str,
) -> None:
    """Grade outputs and add one record for each task to its results.jsonl.

    A task that left no output gets a record too (Process and Result false), so that an older pass never stands for it.
    What could not be judged for no fault of the output is recorded as null, which is no pass and no failure.
    Which files are graded: those whose names the task expects (output.*, output_01.*, ...), sorted by name, the first
    that fits; -v shows what was measured of which. Each task has a time limit.

    \b
    Exit codes:
      0    every task asked for passed
      1    all were graded, and at least one did not pass
      2    bad usage, unknown task, a folder that cannot be used
      3    at least one could not be graded as this machine lacks data, weights, a package or isolation
      4    at least one could not be graded as grading itself failed
      130  interrupted

    Numbers as published: `--criteria published`. The published command gave 0 whenever grading ran.
    """
    from repoassay.benchmarks.gittaskbench.formats import Recording, ResultRecord

    if everything == (taskid is not None):
        raise click.UsageError("Give either --taskid ID or --all.")
    known = task_ids(suite)
    if taskid is not None and taskid not in known:
        raise _unknown(taskid, known)
    chosen = known if taskid is None else (taskid,)
    base = output_dir or Path("output")
    places = {task: base / task for task in chosen}
    if taskid is not None and output_dir is not None:
        places = {taskid: output_dir.resolve()}  # named by the user, who may name a link
    verbose = is_verbose(ctx)
    counts: Counter[str] = Counter()
    with Recording(result, chosen) as recording:
        for verdict in _verdicts(suite, places, criteria, workers, isolation):
            record = ResultRecord.from_verdict(verdict)
            recording.add(verdict.task, record)
            counts[verdict.outcome.value] += 1
            lines = record.comments.split("\n")
            tell(f"{verdict.outcome.value:<12} {verdict.task}", lines if verbose else lines[:1], whole=verbose)
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    show(f"{len(chosen)} {'task' if len(chosen) == 1 else 'tasks'}: {summary}; recorded in {result}")
    ctx.exit(_exit_code(counts, len(chosen)))


def _unknown(task: str, known: Sequence[str]) -> BadInput:
    from repoassay.text import join_names, quote, suggest

    hint = suggest(task, known, list_known=False) or f"The tasks are {join_names(known, 60)}."
    return BadInput(f"There is no task {quote(task)}.", hint)


def _verdicts(suite: str, places: dict[str, Path], criteria: str, workers: int, isolation: str) -> Iterator[Verdict]:
    """Verdicts as they are ready; tasks whose packages are missing come first, as not judged."""
    from repoassay.engine import GradingContext, grade_outputs
    from repoassay.grading import check_packages, fault, names
    from repoassay.sandbox import Cache, open_sandbox
    from repoassay.tasks import find_suite
    from repoassay.types import Outcome, Reading

    found = find_suite(suite, metrics=names(), only=tuple(places))
    _need_data(found)
    reading = Reading(criteria)
    ready = []
    for folder in found.tasks:
        try:
            check_packages([folder], reading)
            ready.append(folder)
        except Unavailable as error:
            yield fault(folder, error).model_copy(update={"outcome": Outcome.NOT_GRADABLE, "reading": reading})
    cache = Cache()
    bench = GradingContext(found.repositories, cache, open_sandbox(isolation, cache), reading=reading)
    yield from grade_outputs(replace(found, tasks=tuple(ready)), Path(), bench, workers, places)


def _need_data(found: SuiteFolder) -> None:
    """Data that was never fetched is something this machine lacks, not something wrong with what was given."""
    try:
        found.need_data()
    except BadInput as error:
        raise Unavailable(error.message, error.remedy) from error


def _exit_code(counts: Counter[str], total: int) -> int:
    """What could not be judged outranks what did not pass: the answer is not whole."""
    from repoassay.types import Outcome

    if counts[Outcome.INFRA_FAULT.value] or counts.total() < total:
        return _FAULT
    if counts[Outcome.NOT_GRADABLE.value]:
        return _LACKING
    return _PASSED if counts[Outcome.PASSED.value] == total else _NOT_PASSED
