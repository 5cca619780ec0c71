"""`repoassay submit`: patches graded by the submission environment."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.cli.slurm import SlurmChoice, slurm_options
from repoassay.cli.submit_shares import (
    collect_parts,
    cut_submissions,
    hand_over_shares,
    parts_lock,
    required_results,
)
from repoassay.json_output import print_record
from repoassay.options import (
    PATH,
    FiniteRange,
    assurance_options,
    isolation_option,
    json_option,
    node_workers,
    shares_executor_option,
    supply_options,
    workers_option,
)

if TYPE_CHECKING:
    from repoassay.api import Grader
    from repoassay.engine import GradedSubmission
    from repoassay.formats import PatchSubmission, ResultLog, SubmissionBacklog
    from repoassay.types import Feedback

__all__ = ["submit"]


@click.command()
@click.option("--dataset", type=PATH, metavar="FILE", help="Rows of tasks: JSON, JSONL, parquet or arrow.")
@click.option("--suite", metavar="SUITE", help="Instead: the edit tasks of a bundled suite or a folder of tasks.")
@click.option("--submissions", type=PATH, required=True, metavar="FILE", help="JSON or JSONL of {id, patch}.")
@click.option("--results", type=PATH, metavar="FILE", help="Where to append one JSON line a submission.")
@supply_options
@click.option(
    "--timeout", type=FiniteRange(0, min_open=True), metavar="S", help="Seconds a submission's tests may take."
)
@click.option("--repeat", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N",
              help="Grade each submission N times and say which are unstable.")  # fmt: skip
@click.option("--lenient", is_flag=True, help="Let up to 2 lines of context at either end of a hunk differ.")
@assurance_options
@click.option("--cache/--no-cache", default=True, show_default=True, help="Whether a known verdict is used again.")
@click.option("--run-always", is_flag=True, help="Run tests even on patches that change nothing they look at.")
@click.option(
    "--share", metavar="I/N", help="Only the I-th (from 0) of N shares; kept beside --results, see --collect."
)
@click.option("--collect", is_flag=True, help="Take what shares have judged into --results, and grade nothing.")
@click.option("--junit", type=PATH, metavar="FILE", help="Write a JUnit XML report too.")
@workers_option
@shares_executor_option
@slurm_options
@isolation_option
@json_option
def submit(
    dataset: Path | None, suite: str | None, submissions: Path, results: Path | None, mirrors: tuple[str, ...],
    mirrors_folder: Path | None, environments: Path | None, timeout: float | None, repeat: int, lenient: bool,
    cache: bool, junit: Path | None, workers: int, executor: str, isolation: str, as_json: bool, feedback: Feedback,
    require_attested: float, run_always: bool, share: str | None, collect: bool, slurm_shares: int,
    slurm_option: tuple[str, ...], slurm_dry_run: bool,
) -> None:  # fmt: skip
    """Grade patches, each in an isolated workspace of its own, and print PASS, FAIL, PATCH FAILED or TIMED OUT.

    With --results, what is there already is not graded again, so that an interrupted call goes on where it was; Ctrl-C
    keeps what is done. ERROR means that we failed, never the submission. Leaves with 0 when every submission was
    judged, with 1 when one could not be.

    \b
    Examples:
      repoassay submit --dataset demo.jsonl --submissions patches.jsonl --results results.jsonl
      repoassay submit --suite starter --submissions patches.jsonl --workers 4 --json
      repoassay submit --dataset demo.jsonl --submissions patches.jsonl --repeat 5 --no-cache
      repoassay submit --dataset demo.jsonl --submissions patches.jsonl --executor ray://10.0.0.1:6379
      repoassay submit --dataset demo.jsonl --submissions patches.jsonl --results results.jsonl --share 0/40
    """
    from repoassay.api import Grader
    from repoassay.errors import BadInput
    from repoassay.exits import interrupt_sets
    from repoassay.formats import ResultLog, SubmissionBacklog, read_mirrors, read_submissions
    from repoassay.records import WorkShare

    if (dataset is None) == (suite is None):
        raise BadInput("Give either --dataset or --suite.", "One of them says which tasks there are.")
    if collect:
        raise SystemExit(_collect(submissions, required_results(results), junit, as_json))
    entries = read_submissions(submissions) if share or executor == "slurm" else []
    cut = cut_submissions(entries, results, WorkShare.parse(share)) if share else None
    later = executor == "slurm"
    here = "local" if later else executor
    results = cut.part if cut else results
    cancel = threading.Event()
    with (
        Grader(
            dataset, suite=suite, mirrors=read_mirrors(mirrors), mirrors_folder=mirrors_folder,
            environments=environments, workers=node_workers(here, workers), executor=here, timeout=timeout,
            repeat=repeat, lenient=lenient, feedback=feedback, require_attested=require_attested, cache=cache,
            isolation=isolation, run_always=run_always,
        ) as grader,
        ResultLog(results) as kept,
    ):  # fmt: skip
        for each in entries:
            grader.check(each.id)
        if later:
            hand_over_shares(submissions, results, SlurmChoice(slurm_shares, slurm_option, slurm_dry_run))
            return
        if cut:
            grader.remember(cut.earlier)
        else:
            collect_parts(submissions, kept, results)
        backlog = SubmissionBacklog(cut.given if cut else submissions, kept, grader.check)
        keep = (
            f"Repeat the command: {results} keeps what is done." if results else "Use --results to keep what is done."
        )
        with interrupt_sets(cancel, keep):
            counts = _grade(grader, backlog, kept, junit, as_json, cancel, run_always)
    if not as_json:
        summary = ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"
        click.echo(f"{backlog.count} submissions: {summary}" + (f"; written to {results}" if results else ""))
    raise SystemExit(1 if counts["ERROR"] else 0)


def _grade(
    grader: Grader, backlog: SubmissionBacklog, kept: ResultLog, junit: Path | None, as_json: bool,
    cancel: threading.Event, run_always: bool,
) -> Counter[str]:  # fmt: skip
    """Grade what has no result yet; returns how many results have each message, those that were there among them."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from repoassay.formats import JUnitSpool, result_case

    kept.prepare()
    counts: Counter[str] = Counter(kept.counts)
    console = Console(stderr=True)
    with JUnitSpool("repoassay submit") as cases:
        for record in kept.judged() if junit is not None else ():
            cases.add(result_case(record))
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, disable=as_json or not console.is_terminal, transient=True) as bar:
            row = bar.add_task("grading", total=backlog.count, completed=backlog.count - backlog.left)
            under_way: deque[PatchSubmission] = deque()
            for answer in grader.submit_many(_noted(backlog, under_way), cancel=cancel):
                each = under_way.popleft()
                record = _record(each, answer, _repository(grader, each.id), run_always)
                kept.add(record)
                backlog.graded(str(record["message"]))
                counts[str(record["message"])] += 1
                bar.advance(row)
                if junit is not None:
                    cases.add(result_case(record))
                if as_json:
                    print_record("submission", record)
                elif not console.is_terminal:
                    click.echo(_line(record))
                elif record["message"] != "PASS":
                    bar.console.print(_line(record), highlight=False, markup=False)
        backlog.note()
        if junit is not None:
            cases.write(junit)
    return counts


def _noted(backlog: SubmissionBacklog, under_way: deque[PatchSubmission]) -> Iterator[tuple[str, str]]:
    """What is to be graded, each noted as under way, since answers come in the same order."""
    for each in backlog:
        under_way.append(each)
        yield each.id, each.patch


def _collect(submissions: Path, results: Path, junit: Path | None, as_json: bool) -> int:
    """Take over what shares have judged; returns 1 when something is missing yet."""
    from repoassay.formats import JUnitSpool, ResultLog, SubmissionBacklog, result_case

    with parts_lock(results), ResultLog(results) as kept, JUnitSpool("repoassay submit") as cases:
        kept.prepare()
        new = collect_parts(submissions, kept, results)
        backlog = SubmissionBacklog(submissions, kept, lambda name: None)
        if junit is not None:
            for record in kept.judged():
                cases.add(result_case(record))
            cases.write(junit)
    if as_json:
        print_record("collection", {"submissions": backlog.count, "collected": new, "left": backlog.left})
    else:
        click.echo(
            f"{backlog.count} submissions: {new} collected, {backlog.left} without a verdict; written to {results}"
        )
    return 1 if backlog.left else 0


def _repository(grader: Grader, name: str) -> str:
    """Where a task's repository lies; empty for a row that is no task."""
    return grader.task(name).task.repository.source if name in grader.tasks else ""


def _record(each: PatchSubmission, answer: GradedSubmission, repository: str, run_always: bool) -> dict[str, object]:
    from repoassay.engine import word
    from repoassay.engine.answer import failure_feedback

    verdict = answer.verdict
    record: dict[str, object] = {
        "id": each.id,
        "number": each.number,
        "model": each.model,
        "repository": repository,
        "patch_sha256": each.sha256,
        "success": bool(verdict.result),
        "message": word(verdict),
        "test_suite_feedback": failure_feedback(verdict),
        "comments": list(verdict.comments),
        "outcome": verdict.outcome.value,
        "seconds": verdict.seconds,
        "cached": answer.cached,
        "task_digest": verdict.task_digest,
        "grader": verdict.grader,
        "tests": {test.id: test.outcome for test in verdict.tests},
        "assurance": None if verdict.assurance is None else verdict.assurance.model_dump(mode="json"),
        "isolation": None if verdict.isolation is None else verdict.isolation.model_dump(mode="json"),
        "basis": verdict.basis,
        "run_always": run_always,
    }
    if answer.verdicts:
        record["repeats"] = [word(one) for one in answer.verdicts]
        record["stable"] = answer.stable
    return record


def _line(record: dict[str, object]) -> str:
    first = str(record["test_suite_feedback"]).partition("\n")[0][:160]
    return f"{record['message']:<12} {record['id']}  {first}".rstrip()
