"""`repoassay swebench run`: import, judge and report in one command."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.json_output import print_document
from repoassay.options import PATH, FiniteRange, isolation_option, json_option, supply_options, workers_option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from repoassay.benchmarks.swebench.evaluation import Evaluation
    from repoassay.benchmarks.swebench.predictions import Prediction
    from repoassay.formats import RowTasks
    from repoassay.types import Verdict

__all__ = ["instance_tasks", "run"]


@click.command()
@click.option(
    "--predictions",
    type=PATH,
    required=True,
    metavar="FILE",
    help="JSON or JSONL of {instance_id, model_name_or_path, model_patch}, or 'gold' for the solutions.",
)
@click.option("--dataset", type=PATH, metavar="FILE", help="Rows: JSON, JSONL, CSV, parquet, arrow, or task folders.")
@click.option("--suite", type=PATH, metavar="DIR", help="Instead: a suite that `repoassay tasks import` wrote.")
@supply_options
@click.option("--instance", "instances", multiple=True, metavar="GLOB", help="Only these instances; may be repeated.")
@click.option("--out", type=PATH, default=Path(), metavar="DIR", help="Where reports go.  [default: this folder]")
@click.option("--run-id", default="repoassay", show_default=True, metavar="NAME", help="Name of the run in reports.")
@click.option(
    "--timeout",
    type=FiniteRange(0, min_open=True),
    metavar="S",
    help="Seconds that the tests of an instance may take.  [default: 1800]",
)
@click.option("--cache/--no-cache", default=True, show_default=True, help="Whether a known verdict is used again.")
@workers_option
@isolation_option
@json_option
def run(
    predictions: Path, dataset: Path | None, suite: Path | None, mirrors: tuple[str, ...], mirrors_folder: Path | None,
    environments: Path | None, instances: tuple[str, ...], out: Path, run_id: str, timeout: float | None, cache: bool,
    workers: int, isolation: str, as_json: bool,
) -> None:  # fmt: skip
    """Judge predictions on SWE-bench's instances, each in an isolated workspace of its own, without Docker.

    Writes MODEL.RUN.json and logs/run_evaluation/RUN/MODEL/INSTANCE/report.json as SWE-bench's own tools do, and prints
    how many instances are resolved, unresolved, empty and in error. Instances that cannot be made tasks count as errors
    of their predictions and stop no other. A repeated call uses the verdicts it knows; Ctrl-C keeps what is done.
    Leaves with 1 when a prediction could not be judged.

    \b
    Examples:
      repoassay swebench run --predictions preds.jsonl --dataset rows.jsonl --environments ./environments
      repoassay swebench run --predictions preds.jsonl --suite ./verified --workers 2 --run-id june
      repoassay swebench run --predictions gold --suite ./verified --instance 'pallets__*'
    """
    from repoassay.benchmarks.swebench.evaluation import evaluate_predictions
    from repoassay.engine import GradingContext, SubmissionEngine
    from repoassay.errors import BadInput, Interrupted
    from repoassay.exits import interrupt_sets
    from repoassay.records import VerdictCache
    from repoassay.sandbox import Cache, open_sandbox
    from repoassay.text import quote

    store = Cache()
    found = instance_tasks(dataset, suite, (mirrors, mirrors_folder, environments), store.path / "rows")
    selection = _predictions(predictions, found, instances)
    try:
        out.mkdir(parents=True, exist_ok=True)  # before hours of work
    except OSError as error:
        raise BadInput(f"--out {quote(out)} cannot be made: {error.strerror}.", "Choose another folder.") from error
    bench = GradingContext(found.repositories, store, open_sandbox(isolation, store), timeout=timeout)
    known = VerdictCache(store.path / "verdicts.sqlite") if cache else None
    cancel = threading.Event()
    every = [name for name in (*found.tasks, *found.refused) if not instances or name in selection]
    progress = _Progress(len([each for each in selection.values() if not each.is_empty]))
    with SubmissionEngine(found.tasks, bench, workers, known, refused=found.refused) as engine:
        for name in selection:
            engine.check(name)
        try:
            with interrupt_sets(cancel, "Repeat the command."), progress as tell:
                done = evaluate_predictions(engine, selection, every, out, run_id, cancel=cancel, progress=tell)
        except Interrupted:
            kept = "verdicts that were reached are known" if cache else "with --no-cache all is judged anew"
            raise Interrupted(f"Stopped after {progress.reached}.", f"Repeat the command: {kept}.") from None
    assert done is not None  # else the block has raised
    _print(done, as_json)
    raise SystemExit(1 if done.unjudged else 0)


def instance_tasks(
    dataset: Path | None, suite: Path | None, supplies: tuple[tuple[str, ...], Path | None, Path | None], place: Path
) -> RowTasks:
    """The instances that are tasks, and why the others are none."""
    from repoassay.errors import BadInput
    from repoassay.formats import IMPORT_LOG, RowTasks, refused_in, supplies_of, usable_tasks
    from repoassay.tasks import find_suite

    if (dataset is None) == (suite is None):
        raise BadInput("Give either --dataset or --suite.", "One of them says which instances there are.")
    if dataset is not None:
        return usable_tasks(dataset, place, supplies_of(*supplies))
    assert suite is not None
    read = find_suite(suite)
    tasks = {folder.task.id: folder for folder in read.tasks if folder.task.kind.changes_repository}
    return RowTasks(tasks, refused_in(suite / IMPORT_LOG), read.repositories)


def _predictions(path: Path, found: RowTasks, globs: tuple[str, ...]) -> dict[str, Prediction]:
    """The predictions that are asked for, by instance."""
    from fnmatch import fnmatchcase

    from repoassay.benchmarks.swebench.predictions import GOLD, gold_predictions, read_predictions
    from repoassay.errors import BadInput
    from repoassay.text import quote

    def wanted(name: str) -> bool:
        return not globs or any(fnmatchcase(name, glob) for glob in globs)

    if str(path) == GOLD and not path.exists():
        selection = gold_predictions(found.tasks, filter(wanted, found.tasks))
    else:
        selection = {name: each for name, each in read_predictions(path).items() if wanted(name)}
    idle = [glob for glob in globs if not any(fnmatchcase(name, glob) for name in selection)]
    if not selection:
        raise BadInput(f"No prediction matches {' or '.join(map(quote, globs))}.", "Correct --instance.")
    if idle:
        click.echo(f"No prediction matches {' or '.join(map(quote, idle))}; the others are judged.", err=True)
    return selection


class _Progress:
    """One line an instance, or a bar on a terminal; on standard error, since JSON has the other one for itself."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = Console(stderr=True)
        self._plain, self._total = not self._console.is_terminal, total
        self._words: Counter[str] = Counter()
        columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self._console, disable=self._plain, transient=True)
        self._row = self._bar.add_task("judging", total=total)

    def __enter__(self) -> Callable[[Prediction, Verdict, bool], object]:
        self._bar.start()
        if self._plain:
            first = "the environment and the proof of a new one are made first, which takes minutes"
            click.echo(f"Judging {self._total} predictions; {first}.", err=True)
        return self._tell

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @property
    def reached(self) -> str:
        """How many verdicts were reached, and which."""
        words = ", ".join(f"{count} {name}" for name, count in self._words.most_common())
        return f"{self._words.total()} of {self._total} predictions{words and f' ({words})'}"

    def _tell(self, prediction: Prediction, verdict: Verdict, cached: bool) -> None:
        from repoassay.engine import word
        from repoassay.text import printable

        self._bar.advance(self._row)
        self._words[word(verdict)] += 1
        line = f"{word(verdict):<12} {printable(prediction.instance)}{'  (known)' if cached else ''}"
        if word(verdict) == "ERROR" and verdict.comments:
            line += f"  {printable(verdict.comments[0], 600)}"
        if self._plain:
            click.echo(line, err=True)
        elif word(verdict) != "PASS":
            self._bar.console.print(line, highlight=False, markup=False)


def _print(done: Evaluation, as_json: bool) -> None:
    if as_json:
        errors = [
            {"instance": name, "outcome": verdict.outcome.value, "reason": "\n".join(verdict.comments)}
            for name, verdict in sorted(done.errors.items())
        ]
        print_document({**_counts(done), "errors": errors, "report": str(done.place)})
        return
    for name, count in _counts(done).items():
        click.echo(f"{name:<12} {count:>5}")
    for why, count in done.reasons.most_common():
        click.echo(f"  {count:>4} in error: {why}")
    click.echo(f"Report: {done.place}")


def _counts(done: Evaluation) -> Mapping[str, int]:
    counts = {name: done.count(name) for name in ("total", "submitted", "completed", "resolved", "unresolved")}
    return {**counts, "empty": done.count("empty_patch"), "error": done.count("error")}
