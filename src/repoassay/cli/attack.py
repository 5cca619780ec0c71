"""`repoassay attack`: what a forger would get on a suite."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_suites
from repoassay.json_output import print_record
from repoassay.options import PATH, FiniteRange, json_option, task_option, workers_option

if TYPE_CHECKING:
    from repoassay.attacks import AttackGround, Pair, Trial, TrialLog
    from repoassay.engine import GradingContext, SubmissionEngine
    from repoassay.tasks import TaskFolder
    from repoassay.types import Feedback

__all__ = ["attack", "grounds_of"]


@click.command()
@click.argument("suite", shell_complete=complete_suites)
@task_option
@click.option("--family", "families", multiple=True, metavar="GLOB", help="Only families that match; may be repeated.")
@click.option("--plain/--no-plain", default=True, show_default=True, help="Whether a plain harness is asked too.")
@click.option("--spread", type=click.IntRange(1), metavar="N", help="Try each attack on N tasks drawn for it, not all.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Try N attacks of each family, not all.")
@click.option("--seed", type=int, default=0, show_default=True, help="What --spread and --sample draw with.")
@click.option("--timeout", type=FiniteRange(1), default=10.0, show_default=True, metavar="S",
              help="Seconds the tests of a patch may take.")  # fmt: skip
@click.option("--out", type=PATH, metavar="FILE", help="Where to append one JSON line an attack.")
@workers_option
@json_option
def attack(
    suite: str, tasks: tuple[str, ...], families: tuple[str, ...], plain: bool, spread: int | None, sample: int | None,
    seed: int, timeout: float, out: Path | None, workers: int, as_json: bool,
) -> None:  # fmt: skip
    """Try to be believed without being right, on every edit and pull-request task of SUITE.

    SUITE is a bundled suite, a folder of tasks, or a file of RES-Q or SWE-bench rows. Each attack is a patch; a plain
    harness, which believes exit code or report, judges it beside the submission environment. Printed is what a forger
    would get. With --out, what is there already is not tried again, so that an interrupted call goes on where it was;
    Ctrl-C keeps what is done. Leaves with 1 when the submission environment passed an attack.

    \b
    Examples:
      repoassay attack starter --task edit-ledger-monthly --sample 1
      repoassay attack pull-requests --spread 2 --out trials.jsonl
      repoassay attack demo.jsonl --family 'coin' --family 'recognising*' --no-plain
    """
    from repoassay.attacks import TrialLog, pairs, select_attacks
    from repoassay.exits import interrupt_sets

    attacks = select_attacks(families)
    cancel = threading.Event()
    keep = f"Repeat the command: {out} keeps what is done." if out else "Use --out to keep what is done."
    with TrialLog(out) as kept, grounds_of(suite, tasks, timeout, workers) as grounds, interrupt_sets(cancel, keep):
        wanted = pairs(grounds, attacks, spread=spread, sample=sample, seed=seed)
        trials = _run(wanted, kept, workers, plain, as_json, cancel)
    _print(trials, plain, as_json)
    raise SystemExit(1 if any(trial.passed for trial in trials) else 0)


@contextlib.contextmanager
def grounds_of(
    suite: str, globs: Sequence[str], timeout: float, workers: int, feedback: Feedback | None = None
) -> Iterator[list[AttackGround]]:
    """The tasks of a suite laid out to be attacked, with an engine that is closed in the end.

    Args:
        suite: See `attack`.
        globs: Which tasks; all when empty.
        timeout: Seconds the tests of a patch may take.
        workers: How many workspaces at a time.
        feedback: What forgers are told; None for everything, which then costs them nothing.
    """
    from repoassay.engine import FeedbackLedger, GradingContext, SubmissionEngine, UnlimitedLedger
    from repoassay.sandbox import Cache, open_sandbox

    cache = Cache()
    folders, repositories = _folders(suite, globs, cache.path / "rows")
    bench = GradingContext(repositories, cache, open_sandbox("namespaces", cache), timeout=timeout)
    ledger = UnlimitedLedger() if feedback is None else FeedbackLedger(feedback)
    with SubmissionEngine(folders, bench, workers, ledger=ledger) as engine:
        yield _grounds(folders, engine, bench, timeout)


def _folders(suite: str, globs: Sequence[str], place: Path) -> tuple[Mapping[str, TaskFolder], Path | None]:
    """Tasks that are graded by a patch, and where bundled repositories lie."""
    from fnmatch import fnmatchcase

    from repoassay.attacks import restrict_task
    from repoassay.errors import BadInput
    from repoassay.grading import names
    from repoassay.tasks import find_suite
    from repoassay.text import quote, suggest

    repositories = None
    if Path(suite).is_file():
        from repoassay.formats import tasks_of

        found = tasks_of(Path(suite), place)
    else:
        read = find_suite(suite, metrics=names())
        found = {folder.task.id: folder for folder in read.tasks if folder.task.kind.changes_repository}
        repositories = read.repositories
    if not found:
        raise BadInput(f"{quote(suite)} has no task that is graded by a patch.", "Name a suite of edit tasks.")
    folders = {name: restrict_task(folder) for name, folder in found.items()
             if not globs or any(fnmatchcase(name, glob) for glob in globs)}  # fmt: skip
    if not folders:
        shown = " or ".join(quote(glob) for glob in globs)
        raise BadInput(f"No task of {quote(suite)} that is graded by a patch matches {shown}.",
                       suggest(globs[0], list(found)))  # fmt: skip
    return folders, repositories


def _grounds(
    folders: Mapping[str, TaskFolder], engine: SubmissionEngine, bench: GradingContext, timeout: float
) -> list[AttackGround]:
    """Every task laid out; one that cannot be attacked here is named and left out, unless none is left."""
    from repoassay.attacks import AttackGround
    from repoassay.errors import RepoAssayError, Unavailable
    from repoassay.grading import can_run_node
    from repoassay.tasks import refuse_steps

    grounds: list[AttackGround] = []
    problems: list[RepoAssayError] = []
    for name, folder in folders.items():
        tests = folder.task.grading.tests
        try:
            if tests is not None and tests.runner == "node" and (why := can_run_node()):
                raise Unavailable(why)
            refuse_steps(folder, "an attack")
            grounds.append(AttackGround(folder, engine, bench, timeout, name))
        except RepoAssayError as error:
            problems.append(error)
            click.echo(f"left out {name}: {error}", err=True)
    if not grounds:
        raise problems[0]
    return grounds


def _run(
    wanted: Sequence[Pair], kept: TrialLog, workers: int, plain: bool, as_json: bool, cancel: threading.Event
) -> list[Trial]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from repoassay.attacks import run

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    trials: list[Trial] = []
    with Progress(*columns, console=console, disable=as_json or not console.is_terminal, transient=True) as bar:
        row = bar.add_task("attacking", total=len(wanted))
        for trial, known in run(wanted, kept, workers=workers, plain=plain, cancel=cancel):
            trials.append(trial)
            bar.advance(row)
            if as_json:
                print_record("trial", trial.model_dump(mode="json"))
            elif not console.is_terminal and not known:
                click.echo(_line(trial))
            elif console.is_terminal and trial.passed:
                bar.console.print(_line(trial), highlight=False, markup=False)
    return trials


def _line(trial: Trial) -> str:
    grade = f" [{trial.grade}, {trial.bits:g} bits]" if trial.grade and trial.bits is not None else ""
    plain = trial.plain or "-"
    return f"{trial.said + grade:<12} plain {plain:<12} {trial.task}  {trial.family}: {trial.attack}"


def _print(trials: Sequence[Trial], plain: bool, as_json: bool) -> None:
    from repoassay.attacks import by_task

    rows = by_task(trials)
    if as_json:
        for each in rows:
            print_record("task", dataclasses.asdict(each))
        return
    for each in rows:
        harness = f"{each.believed} of {each.asked} by a plain harness, " if each.asked else ""
        faults = f"; {each.faults} could not be judged" if each.faults else ""
        click.echo(f"{each.task}: {each.tried} attacks, passed: {harness}{len(each.passes)} by RepoAssay{faults}")
        if plain and not each.asked:
            click.echo("  the plain harness was not asked: it has nothing to say, or does not pass the solution")
        for name in each.passes:
            click.echo(f"  PASS {name}")
        for test, times in each.weakest:
            click.echo(f"  fooled {times} times: {test}")
    total = sum(len(each.passes) for each in rows)
    click.echo(f"{len(trials)} attacks on {len(rows)} tasks, {total} passed.")
