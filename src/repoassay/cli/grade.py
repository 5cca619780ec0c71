"""`repoassay grade`: verdicts on outputs made elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from repoassay.completion import complete_suites
from repoassay.json_output import print_record
from repoassay.options import (
    PATH,
    criteria_option,
    executor_option,
    isolation_option,
    json_option,
    node_workers,
    task_option,
    workers_option,
)

if TYPE_CHECKING:
    from repoassay.stats import Proportion

__all__ = ["grade"]


@click.command()
@click.argument("suite", shell_complete=complete_suites)
@click.option("--outputs", type=PATH, required=True, metavar="DIR", help="Folder with a folder for each task id.")
@click.option("--results", type=PATH, metavar="FILE", help="Where to write one JSON line a task; must not exist yet.")
@criteria_option
@task_option
@workers_option
@executor_option
@isolation_option
@json_option
def grade(
    suite: str, outputs: Path, results: Path | None, criteria: str, tasks: tuple[str, ...], workers: int,
    executor: str, isolation: str, as_json: bool,
) -> None:  # fmt: skip
    """Grade the outputs in DIR/<TASK_ID>/... against SUITE, whoever made them.

    A deliverable task's files lie in its folder; an edit task's diff is changes.diff there. Each task gets a verdict;
    what is missing, unreadable or too large is a verdict too. Every line of FILE has at least task, process, result,
    outcome, comments and criteria.

    \b
    Examples:
      repoassay grade starter --outputs ./outputs --results results.jsonl
      repoassay grade starter --outputs ./outputs --task 'pdf-*' --json
      repoassay grade gittaskbench --outputs ./output --criteria published
      repoassay grade starter --outputs ./outputs --executor ray://10.0.0.1:6379
      repoassay grade starter --outputs ./outputs --executor 'slurm://8?partition=cpu'
    """
    from repoassay.api import grade as grade_outputs
    from repoassay.stats import Rate

    verdicts = grade_outputs(
        suite, outputs=outputs, tasks=tasks, criteria=criteria, workers=node_workers(executor, workers),
        isolation=isolation, executor=executor,
    )  # fmt: skip
    stream = _fresh(results) if results is not None else None
    counts: Counter[str] = Counter()
    process: list[bool | None] = []
    result: list[bool | None] = []
    try:
        for verdict in verdicts:
            if stream is not None:
                stream.write(verdict.model_dump_json() + "\n")
                stream.flush()
            if as_json:
                print_record("verdict", verdict.model_dump(mode="json"))
            else:
                comment = f"  {verdict.comments[0]}" if verdict.comments else ""
                click.echo(f"{verdict.outcome.value:<12} {verdict.task}{comment}")
            counts[verdict.outcome.value] += 1
            process.append(verdict.process)
            result.append(verdict.result)
    finally:
        if stream is not None:
            stream.close()
            if results is not None and not counts:
                results.unlink()  # nothing was graded, and the next call would refuse a file that is there
    if not as_json:
        summary = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
        click.echo(f"{sum(counts.values())} tasks: {summary}" + (f"; written to {results}" if results else ""))
        for name, passes in (("ECR", process), ("TPR", result)):
            rate = Rate.of(passes)
            click.echo(
                f"{name}  {_share(rate.over_all)} of all; {_share(rate.over_judged)} of those that could be judged"
            )


def _fresh(results: Path) -> TextIO:
    """The file of results, opened so that none is overwritten."""
    from repoassay.errors import BadInput

    try:
        results.parent.mkdir(parents=True, exist_ok=True)
        return results.open("x")
    except FileExistsError:
        raise BadInput(f"{results} already exists.", "Results are never overwritten; choose another name.") from None
    except OSError as error:
        raise BadInput(f"{results} cannot be written: {error.strerror}.", "Choose another place.") from error


def _share(part: Proportion) -> str:
    return f"{part.successes}/{part.n}" + ("" if part.value is None else f" = {part.value:.2%}")
