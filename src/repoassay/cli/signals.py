"""`repoassay signals`: evidence on the changes that a run left, computed on base and head, kept beside each attempt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.diagnose_options import runs_option
from repoassay.completion import complete_runs
from repoassay.json_output import print_document
from repoassay.options import isolation_option, json_option, task_option, workers_option

if TYPE_CHECKING:
    from repoassay.engine import MeasuredChange, MeasuredOutcome
    from repoassay.records import RunFolder

__all__ = ["signals"]


@click.command()
@click.argument("where", metavar="RUN|ATTEMPT", shell_complete=complete_runs)
@runs_option
@task_option
@click.option("--reference", is_flag=True, help="Measure the reference of each task too; it must be silent.")
@click.option("--again", is_flag=True, help="Measure what was measured before again, and replace it.")
@workers_option
@isolation_option
@click.option("--width", type=click.IntRange(40, 10_000), default=160, show_default=True, help="Letters of a text.")
@json_option
def signals(
    where: str, runs: Path, tasks: tuple[str, ...], reference: bool, again: bool, workers: int, isolation: str,
    width: int, as_json: bool,
) -> None:  # fmt: skip
    """Measure what attempts changed in repositories: evidence for reviewers, never a verdict (docs/signals.md).

    Of a RUN (a folder, its name below ./runs, or `latest`) every attempt that counts and left a change is measured; an
    ATTEMPT is an id, or its beginning or end, alone or after its run. What is found is kept as signals.json beside the
    attempt, where `repoassay review` takes it from; what was measured before is shown and not measured again.

    Exit codes: 0 done; 1 something could not be measured, or a reference is not silent; 2 bad input.

    \b
    Examples:
      repoassay signals latest
      repoassay signals latest/01K9Z5T7 --again
      repoassay signals runs/nightly --reference --json
    """
    from repoassay.engine import NothingToMeasure, measure
    from repoassay.sandbox import Cache, open_sandbox

    run, changes, passed_over, whole = _changes(where, runs, tasks, reference)
    cache = Cache()
    sandbox = open_sandbox(isolation, cache)
    with _Watching(len(changes), live=as_json or whole) as watching:
        found = measure(run, changes, sandbox, cache, workers=workers, again=again, on_measured=watching.show)
    if not whole and found[0].problem is not None:
        raise found[0].problem
    failed = [one for one in found if one.problem is not None and not isinstance(one.problem, NothingToMeasure)]
    loud = [one for one in found if not one.change.attempt and _findings(one)]
    if as_json:
        _print_document(run, found, passed_over)
    else:
        _print_lines(found, passed_over, width, whole=whole)
    if failed or loud:
        sys.exit(1)


def _changes(
    where: str, runs: Path, tasks: tuple[str, ...], reference: bool
) -> tuple[RunFolder, list[MeasuredChange], int, bool]:
    """The run, what is to be measured, how many attempts change no repository, and whether a whole run is meant.

    Raises:
        BadInput: When nothing is called that, or nothing of it changes a repository.
    """
    from fnmatch import fnmatchcase

    from repoassay.cli.diagnose_options import find_subjects
    from repoassay.engine import MeasuredChange
    from repoassay.errors import BadInput

    run, subjects, whole = find_subjects(where, runs)
    subjects = [one for one in subjects if not tasks or any(fnmatchcase(one.task, glob) for glob in tasks)]
    changes = [
        MeasuredChange(one.planned, one.attempt, one.agent, one.number)
        for one in subjects
        if one.planned is not None and one.planned.kind.changes_repository
    ]
    if not changes:
        what = f"{where} holds no finished attempt" if whole else f"Attempt {where} is not"
        kind = f"at {' or '.join(tasks)} " if tasks else ""
        raise BadInput(
            f"{what} {kind}of a task that changes a repository.", "Signals are of pull requests and edits alone."
        )
    if reference:
        planned = {change.planned.id: change.planned for change in changes}
        changes += [MeasuredChange(task) for task in planned.values()]
    return run, changes, len(subjects) - sum(bool(change.attempt) for change in changes), whole


class _Watching:
    """Tells of each change as it is done: below a bar on a terminal, plain lines anywhere else."""

    def __init__(self, total: int, *, live: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._total, self._done = total, 0
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        self._live = live and console.is_terminal
        self._bar = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._row = self._bar.add_task("measuring", total=total)

    def __enter__(self) -> _Watching:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, one: MeasuredOutcome) -> None:
        """One change is done."""
        from repoassay.report import short

        self._done += 1
        self._bar.advance(self._row)
        line = f"[{self._done:>{len(str(self._total))}}/{self._total}] {short(one)}"
        if self._bar.disable:
            click.echo(line, err=True)
        elif self._live:
            self._bar.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _findings(one: MeasuredOutcome) -> int:
    return sum(each.state.value == "finding" for each in one.measured.signals) if one.measured is not None else 0


def _print_document(run: RunFolder, found: list[MeasuredOutcome], passed_over: int) -> None:
    from repoassay.report.signal_lines import document

    fields: dict[str, Any] = {
        "schema": "repoassay/signals/1", "run": str(run.path), "passed_over": passed_over,
        "changes": [document(one) for one in found],
    }  # fmt: skip
    print_document(fields)


def _print_lines(found: list[MeasuredOutcome], passed_over: int, width: int, *, whole: bool) -> None:
    from repoassay.report.signal_lines import lines

    for one in found:
        click.echo("\n".join(lines(one, width)).encode("utf-8", "backslashreplace").decode())
    if not whole:
        return
    measured = [one for one in found if one.measured is not None]
    summary = f"{len(measured)} changes measured, {sum(_findings(one) > 0 for one in measured)} with findings"
    summary += f", {sum(one.before for one in measured)} from before" if any(one.before for one in measured) else ""
    summary += f"; {len(found) - len(measured)} not measured" if len(measured) < len(found) else ""
    summary += f"; {passed_over} attempts passed over that change no repository" if passed_over else ""
    loud = sum(_findings(one) > 0 for one in found if not one.change.attempt)
    summary += f"; {loud} references are not silent" if loud else ""
    click.echo(f"\n{summary}.")
