"""`repoassay import`: runs and tasks of other tools."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_suites
from repoassay.json_output import print_document
from repoassay.options import PATH, FiniteRange, isolation_option, json_option, workers_option

if TYPE_CHECKING:
    from repoassay.engine import GradingContext
    from repoassay.interchange import ImportedRun, ImportedSuite, StateProof, TaskRefusal
    from repoassay.tasks import SuiteFolder

__all__ = ["import_verb"]

_SHOWN = 8
_REASONS = 25


@click.command("import")
@click.argument("source", type=PATH, metavar="SOURCE")
@click.option(
    "--as", "kind", metavar="FORMAT", help="A format of `repoassay formats`.  [default: what SOURCE looks like]"
)
@click.option(
    "--out", "folder", type=PATH, required=True, metavar="RUN|SUITE", help="Folder of the run or suite that is made."
)
@click.option(
    "--suite",
    metavar="SUITE",
    shell_complete=complete_suites,
    help="The tasks that a run was made on, where they are at hand.",
)
@click.option("--judge", is_flag=True, help="Judge what was handed in against --suite, here and now.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Of tasks: take N of them, drawn by --seed.")
@click.option("--seed", default="0", show_default=True, metavar="TEXT", help="Of tasks: what --sample draws by.")
@click.option("--dataset", metavar="NAME@VERSION", help="Of a registry of Harbor: the data set.")
@click.option(
    "--git", "urls", multiple=True, metavar="URL", help="Of a registry: a git repository that may be fetched."
)
@click.option("--prove", is_flag=True, help="Of tasks: run the tests on the untouched files, and each solution.")
@click.option(
    "--timeout",
    type=FiniteRange(min=1),
    default=900.0,
    show_default=True,
    metavar="S",
    help="Of --prove: seconds that the proof of one task may take, its packages included.",
)
@workers_option
@isolation_option
@json_option
def import_verb(
    source: Path, kind: str | None, folder: Path, suite: str | None, judge: bool, sample: int | None, seed: str,
    dataset: str | None, urls: tuple[str, ...], prove: bool, timeout: float, workers: int, isolation: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Read SOURCE, a run or tasks of another tool, as a run folder or a suite.

    Of a run it keeps what the other tool reports, as a report: verdicts name it as their grader, tokens and dollars
    are its own. Then report, compare, show, diagnose and review take it like any run, and say so. With --suite and
    --judge its patches are judged here, which replaces what was reported; Ctrl-C keeps what is judged, and the same
    call goes on. Tasks become tasks of a suite, each as far as it is understood; with --prove their solutions are seen
    to pass, and here, too, Ctrl-C keeps what is proved, and the same call goes on. A data set of a registry is fetched
    from the git repositories that --git names, and from no other. Of what cannot be read, and of data that is missing,
    it says how much and why. Leaves with 1 when nothing could be taken.

    \b
    Examples:
      repoassay import ./trajectories --as mini-swe-agent --out runs/theirs
      repoassay import ./trajectories --out runs/theirs --suite ./verified --judge
      repoassay import ./tasks --as harbor --out ./suite --sample 20 --seed 1 --prove
      repoassay import registry.json --dataset hello-world@1.0 --git https://example.org/tasks.git --out ./suite
      repoassay formats
    """
    if judge and suite is None:
        raise click.UsageError("--judge needs the tasks: give --suite SUITE.")
    from repoassay.interchange import find_importer

    gives = find_importer(kind, source)[1].gives
    if gives == "suite":
        if suite is not None:
            raise click.UsageError("--suite and --judge are for runs, and these are tasks.")
        limit = timeout if prove else None
        with _tasks_of(source, folder, dataset, urls, sample, seed) as (tasks, absent):
            left = None if dataset else sample
            _tasks(kind, tasks, folder, left, seed, absent, limit, workers, isolation, as_json)
        return
    if sample is not None or prove or dataset:
        raise click.UsageError("--sample, --prove and --dataset are for tasks, and this is a run.")
    _run(kind, source, folder, suite, judge, workers, isolation, as_json)


def _run(
    kind: str | None,
    source: Path,
    folder: Path,
    suite: str | None,
    judge: bool,
    workers: int,
    isolation: str,
    as_json: bool,
) -> None:
    from repoassay.interchange import ImportedRun, begun_run
    from repoassay.tasks import find_suite

    found = find_suite(suite) if suite else None
    begun = begun_run(folder, source, found) if judge and found is not None else None
    if begun is not None:
        count = sum(1 for _ in begun.finished())
        origin = begun.plan.origin
        done = ImportedRun(begun, count, count, missing=origin.missing if origin else ())
    else:
        done = _import(kind, source, folder, found, as_json)
    judged = 0
    if judge and found is not None:
        from repoassay.engine import GradingContext
        from repoassay.exits import interrupt_sets
        from repoassay.interchange import judge_run
        from repoassay.sandbox import Cache, open_sandbox

        cache, cancel = Cache(), threading.Event()
        bench = GradingContext(found.repositories, cache, open_sandbox(isolation, cache))
        notice = f"{folder} keeps what is judged; the same call goes on where it was."
        with interrupt_sets(cancel, notice), _progress("judged", as_json) as count_up:
            judged = judge_run(
                done.run, found, bench, workers=workers, cancel=cancel, progress=lambda _, verdict: count_up(None)
            )
    _print_run(done, judged, as_json)


def _import(kind: str | None, source: Path, folder: Path, suite: SuiteFolder | None, as_json: bool) -> ImportedRun:
    from repoassay.interchange import import_run

    with _progress("attempts read", as_json) as count_up:
        return import_run(kind, source, folder, suite=suite, progress=count_up)


@contextmanager
def _progress(what: str, as_json: bool) -> Iterator[Callable[[int | None], None]]:
    """A counter on a terminal, for what has no known end; it is told how many there are now, or None for one more."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.completed:.0f} {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=as_json or not console.is_terminal, transient=True) as bar:
        shown = bar.add_task(what, total=None)
        yield lambda done: bar.advance(shown) if done is None else bar.update(shown, completed=done)


def _print_run(done: ImportedRun, judged: int, as_json: bool) -> None:
    if as_json:
        print_document(
            {
                "run": str(done.run.path),
                "found": done.found,
                "attempts": done.attempts,
                "judged": judged,
                "refused": dict(done.refused),
                "missing": list(done.missing),
            }
        )
        return
    from repoassay.text import printable

    click.echo(f"{done.attempts} of {done.found} attempts are in {done.run.path}; {judged} were judged here.")
    for task, why in list(done.refused.items())[:_SHOWN]:
        click.echo(f"  refused: {printable(task, 200)}: {printable(why, 300)}")
    for line in done.missing:
        click.echo(f"  {line}")


@contextmanager
def _tasks_of(
    source: Path, folder: Path, wanted: str | None, urls: Sequence[str], sample: int | None, seed: str
) -> Iterator[tuple[Path, Sequence[TaskRefusal]]]:
    """The folder of tasks that is read: SOURCE, or those that a registry names, and which of them cannot be had."""
    if wanted is None:
        yield source, ()
        return
    from repoassay.interchange import find_dataset, open_dataset

    dataset = find_dataset(source, wanted)
    if sample is not None:
        dataset.draw(sample, seed)
    with open_dataset(dataset, urls, folder.absolute().parent) as place:
        yield place, dataset.refused


def _tasks(
    kind: str | None, source: Path, folder: Path, sample: int | None, seed: str, absent: Sequence[TaskRefusal],
    timeout: float | None, workers: int, isolation: str, as_json: bool,
) -> None:  # fmt: skip
    from repoassay.interchange import import_suite

    with ExitStack() as stack:

        @functools.cache
        def open_bench() -> GradingContext:
            from repoassay.engine import GradingContext
            from repoassay.sandbox import Cache, open_sandbox

            cache = Cache()
            bench = GradingContext(None, cache, open_sandbox(isolation, cache))
            stack.callback(bench.oracle.close)
            return bench

        done = import_suite(
            kind, source, folder, open_bench, sample=sample, seed=seed, resume=timeout is not None,
            progress=_progress_reporter(as_json),
        )  # fmt: skip
        done = replace(done, found=done.found + len(absent), refused=[*absent, *done.refused])
        proofs = [] if timeout is None else _prove(done, open_bench(), workers, timeout, as_json)
    if as_json:
        print_document(
            {
                "suite": str(done.path),
                "found": done.found,
                "converted": list(done.tasks),
                "refused": [asdict(refusal) for refusal in done.refused],
                "unreached_hosts": done.unreached(),
                "no_tasks": [asdict(refusal) for refusal in done.no_tasks],
                "proofs": [asdict(proof) for proof in proofs],
            }
        )
    else:
        _print_tasks(done, proofs)
    if not done.tasks:
        raise SystemExit(1)


def _progress_reporter(as_json: bool) -> Callable[[int, int], None]:
    """Progress on the error stream, for people alone."""

    def told(count: int, total: int) -> None:
        if not as_json and (count == total or count % 10 == 0):
            click.echo(f"  {count} of {total} tasks read", err=True)

    return told


def _prove(done: ImportedSuite, bench: GradingContext, workers: int, seconds: float, as_json: bool) -> list[StateProof]:
    """Proofs of all tasks: those that an earlier call kept, and the others."""
    from repoassay.exits import interrupt_sets
    from repoassay.interchange import keep_proof, kept_proofs, prove_state_tasks
    from repoassay.text import printable

    kept = kept_proofs(done.path)
    left = [name for name in done.tasks if name not in kept]
    if kept and not as_json:
        click.echo(f"  {len(kept)} of {len(done.tasks)} are proved already", err=True)
    cancel, count = threading.Event(), len(kept)

    def told(proof: StateProof) -> None:
        nonlocal count
        count += 1
        keep_proof(done.path, proof)
        if not as_json:
            place = f"[{count}/{len(done.tasks)}]"
            click.echo(f"  {place} {proof.task}: {proof.state} {printable(proof.why, 300)}".rstrip(), err=True)

    def heartbeat(what: str) -> None:
        if not as_json:
            click.echo(f"  at work: {printable(what, 300)}", err=True)

    with interrupt_sets(cancel, f"{done.path} keeps what is proved; the same call goes on where it was."):
        proofs = prove_state_tasks(
            [done.path / "tasks" / name for name in left], bench, workers=workers, seconds=seconds, cancel=cancel,
            progress=told, heartbeat=heartbeat,
        )  # fmt: skip
    return [kept[name] for name in done.tasks if name in kept] + proofs


def _print_tasks(done: ImportedSuite, proofs: Sequence[StateProof]) -> None:
    from repoassay.text import printable

    click.echo(f"{len(done.tasks)} of {done.found} tasks are converted, in {done.path}.")
    if unreached := done.unreached():
        hosts = " ".join(dict.fromkeys(host for each in unreached.values() for host in each))
        click.echo(
            f"  {len(unreached)} of them must fetch from hosts that builds here may not reach:"
            f" REPOASSAY_PACKAGE_HOSTS='{hosts}' allows it"
        )
    for why, count in list(done.reasons.items())[:_REASONS]:
        first = next(refusal for refusal in done.refused if refusal.why == why)
        line = f":{first.line}" if first.line else ""
        place = printable(f"{first.task}/{first.file}{line}", 200)
        click.echo(f"  refused {count}: {printable(why, 300)} ({place})")
    if len(done.reasons) > _REASONS:
        click.echo(f"  and for {len(done.reasons) - _REASONS} more reasons: --json has each with its line")
    for why, count in Counter(refusal.why for refusal in done.no_tasks).most_common():
        click.echo(f"  beside them {count} folders are no tasks: {printable(why, 300)}")
    for state, count in Counter(proof.state for proof in proofs).most_common():
        click.echo(f"  {state}: {count}")
