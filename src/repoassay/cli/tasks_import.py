"""`repoassay tasks import`: the rows of a data set as a suite."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.json_output import print_document
from repoassay.options import PATH, json_option, supply_options

if TYPE_CHECKING:
    from repoassay.formats import ImportedRow, ImportReport

__all__ = ["import_tasks"]

_SHOWN = 8
"""Ids that are printed of one reason."""


@click.command("import")
@click.argument("dataset", type=PATH, metavar="FILE")
@click.option("--out", "suite", type=PATH, required=True, metavar="SUITE", help="Folder of the suite; made if need be.")
@supply_options
@click.option("--only", multiple=True, metavar="GLOB", help="Rows whose id matches; may be repeated.")
@json_option
def import_tasks(
    dataset: Path, suite: Path, mirrors: tuple[str, ...], mirrors_folder: Path | None, environments: Path | None,
    only: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Write the rows of FILE (JSON, JSONL, parquet, arrow, or a folder of SWE-bench's task folders) as the suite SUITE.

    A row that cannot be used stops no other: how many of the rows are tasks now is printed, and why the others are
    not, grouped by reason; import.jsonl in SUITE has a line for every row. Nothing is fetched or run: repositories and
    environments are made when a task is first used. A repeated call keeps the tasks that are there; Ctrl-C keeps what
    is done. Leaves with 1 when no row is a task.

    \b
    Examples:
      repoassay tasks import rows.jsonl --out ./verified --environments ./environments
      repoassay tasks import rows.parquet --out ./suite --mirrors ./repositories --only 'pallets__*'
      repoassay tasks import rows.jsonl --out ./suite --mirror psf/requests=requests.bundle --json
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from repoassay.exits import interrupt_sets
    from repoassay.formats import import_rows, supplies_of

    cancel = threading.Event()
    console = Console(stderr=True)
    columns = (TextColumn("importing"), BarColumn(), MofNCompleteColumn())
    with (
        interrupt_sets(cancel, f"Repeat the command: {suite} keeps what is done."),
        Progress(*columns, console=console, disable=as_json or not console.is_terminal, transient=True) as bar,
    ):
        line = bar.add_task("importing", total=None)

        def told(_row: ImportedRow, total: int) -> None:
            bar.update(line, advance=1, total=total)

        supplies = supplies_of(mirrors, mirrors_folder, environments)
        report = import_rows(dataset, suite, supplies, only=only, cancel=cancel, progress=told)
        _print(report, as_json)
    raise SystemExit(0 if report.tasks else 1)


def _print(report: ImportReport, as_json: bool) -> None:
    from repoassay.formats import IMPORT_LOG
    from repoassay.text import join_names, printable

    if as_json:
        found = {
            "suite": str(report.suite),
            "rows": len(report.rows),
            "tasks": [row.task for row in report.tasks],
            "kept": [row.task for row in report.tasks if row.kept],
            "refused": {reason: list(names) for reason, names in report.refused.items()},
            "notes": {row.name: list(row.notes) for row in report.rows if row.notes},
            "stopped": report.stopped,
        }
        print_document(found)
        return
    kept = sum(row.kept for row in report.tasks)
    before = f", {kept} of them from before" if kept else ""
    click.echo(f"{len(report.tasks)} of {len(report.rows)} rows are tasks of {report.suite}{before}.")
    for reason, names in report.refused.items():
        click.echo(f"  {len(names):>4}  {printable(reason, 300)}\n        {join_names(names, _SHOWN)}")
    if any(row.notes for row in report.rows):
        click.echo(
            f"Notes on {sum(bool(row.notes) for row in report.rows)} of them are in {report.suite / IMPORT_LOG}."
        )
