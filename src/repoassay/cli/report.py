"""`repoassay report`: what a run came to, or several; tables and plots in every format."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_runs
from repoassay.json_output import print_document
from repoassay.options import PATH, json_option

if TYPE_CHECKING:
    from rich.console import Console

    from repoassay.api import Run
    from repoassay.economics import Quality
    from repoassay.report import ReportTables, ReviewedAttempts, TableSelection

__all__ = ["print_report", "report"]

_FORMATS = ("md", "tex", "csv", "json", "svg", "png")


@click.command()
@click.argument("runs", type=PATH, nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@json_option
@click.option(
    "--html", type=PATH, metavar="PATH", help="Where to write the page of one run.  [default: RUN/report.html]"
)
@click.option("--no-html", is_flag=True, help="Write no page of one run.")
@click.option("--out", type=PATH, metavar="DIR", help="Write every table and plot, and a page with all of them, there.")
@click.option("--format", "formats", metavar="FORMATS", default=",".join(_FORMATS), show_default=True,
              help="What --out writes beside the page.")  # fmt: skip
@click.option("--scores", type=PATH, metavar="FILE",
              help="Scores of models on other benchmarks (CSV or TOML: model, benchmark, score).")  # fmt: skip
@click.option("--sizes", type=PATH, metavar="FILE",
              help="Sizes of repositories (CSV or TOML: repository, measure, value).")  # fmt: skip
@click.option(
    "--reviews",
    metavar="DATABASE",
    help="What people said of the attempts, mergeable or their quality: the database of `repoassay review`.",
)
@click.option(
    "--study", default="", metavar="NAME", help="Which study of --reviews, where several ask whether to merge."
)
@click.option("--beside", default="auto", show_default=True, type=click.Choice(["auto", "published", "none"]),
              help="Published figures beside these: of the runs' own suites, of all, or none.")  # fmt: skip
@click.option("--cut-off", "cut_offs", multiple=True, metavar="MODEL=DATE",
              help="A model's cut-off date: rates before and after it, side by side; may be repeated.")  # fmt: skip
@click.option("--diagnose", type=click.IntRange(0), default=1000, show_default=True, metavar="N",
              help="Failed attempts to diagnose at most; of more, a sample.")  # fmt: skip
def report(
    runs: tuple[Path, ...], as_json: bool, html: Path | None, no_html: bool, out: Path | None, formats: str,
    scores: Path | None, sizes: Path | None, reviews: str | None, study: str, beside: str,
    cut_offs: tuple[str, ...], diagnose: int,
) -> None:  # fmt: skip
    """Show what RUN (a run folder, or `latest` below ./runs) came to; of several, tables over all of them.

    One RUN alone: prints rates over all and over judged attempts with their intervals, domains and every attempt, and
    writes an HTML page that says which system is best, and why attempts failed; each attempt has a page with its steps
    in a folder beside it. Both are derived from the run folder and may be overwritten.

    With several, or --out: tables of frameworks and models, outcomes, domains, sweeps, alpha, errors, tokens,
    repository sizes and pass@1 against other benchmarks. They are printed, and with --out written in every format,
    with their plots and a page (DIR/index.html). Plots as files need the extra `plots`, p-values of correlations the
    extra `stats`.

    \b
    Examples:
      repoassay report latest
      repoassay report runs/20260101-120000-starter-reference-ab12 --no-html
      repoassay report latest --json > report.json
      repoassay report latest --out report
      repoassay report runs/* --out report --format md,csv,svg --scores humaneval.csv
      repoassay report latest --reviews review.sqlite
      repoassay report latest --cut-off openai/gpt-4.1=2024-06-01
      repoassay report runs/a runs/b --beside published --json > tables.json
    """
    from repoassay.api import load_run
    from repoassay.engine import locate

    folders = [locate(run) for run in runs]
    wanted_files = out is not None or len(folders) > 1 or bool(cut_offs)
    if html is not None and no_html:
        raise click.UsageError("--html and --no-html contradict each other; give one.")
    if wanted_files and (html is not None or no_html):
        raise click.UsageError("--html and --no-html are of one run without --out; --out names a folder for the page.")
    options = (scores is not None, sizes is not None, beside != "auto")
    if not wanted_files and any(options):
        raise click.UsageError("--scores, --sizes and --beside need several runs or --out DIR.")
    if study and not reviews:
        raise click.UsageError("--study names a study of --reviews.")
    quality, reviewed = _reviewed(reviews, study) if reviews else ({}, None)
    if not wanted_files:
        print_report(load_run(folders[0]), as_json=as_json, html=html, page=not no_html, reviews=reviewed)
        return
    chosen = _formats(formats)
    wanted = replace(_table_selection(scores, sizes, beside, cut_offs, diagnose), quality=quality, reviewed=reviewed)
    _set(folders, out, chosen, wanted, as_json)


def _formats(text: str) -> tuple[str, ...]:
    chosen = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [part for part in chosen if part not in _FORMATS]
    if unknown:
        raise click.UsageError(f"--format has no {unknown[0]!r}; it takes {', '.join(_FORMATS)}.")
    return chosen


def _table_selection(
    scores: Path | None, sizes: Path | None, beside: str, cut_offs: tuple[str, ...], diagnose: int
) -> TableSelection:
    from repoassay.report import TableSelection, offered_tables, read_cut_offs, read_scores, read_sizes

    suites = {"auto": None, "none": (), "published": tuple(offered_tables())}
    return TableSelection(
        scores=read_scores(scores) if scores else {},
        sizes=read_sizes(sizes) if sizes else {},
        published=suites[beside],
        diagnosed=diagnose,
        cut_offs=read_cut_offs(cut_offs),
    )


def _reviewed(where: str, study: str) -> tuple[Mapping[str, Quality], ReviewedAttempts | None]:
    from repoassay.errors import BadInput
    from repoassay.report import read_reviews, reviewed_qualities

    reviewed, quality = read_reviews(where, study), reviewed_qualities(where)
    if reviewed is None and not quality:
        raise BadInput(
            f"No study in {where} asks whether to merge, or for quality.",
            "Make one with the rubric `mergeable` or `quality`.",
        )
    return quality, reviewed


def _set(
    folders: Sequence[Path], out: Path | None, formats: Sequence[str], wanted: TableSelection, as_json: bool
) -> None:
    from repoassay.report import figure_out, read_rows, write_figured

    rows = read_rows(folders, lambda done, total: _progress("reading attempts", done, total))
    _progress("working out", 0, 1)
    figured = figure_out(rows, wanted)
    written_files = write_figured(figured, out, formats, _progress) if out is not None else None
    _progress("", 1, 1)
    _print_set(figured, as_json)
    if written_files is not None:
        if written_files.without_plots:
            click.echo(f"Plots are not written: {written_files.without_plots}", err=True)
        click.echo(f"HTML: {written_files.page} ({len(written_files.files)} files written)", err=as_json)


def _print_set(figured: ReportTables, as_json: bool) -> None:
    if as_json:
        from repoassay.report import table_document
        from repoassay.report.writers.json_file import SCHEMA

        runs = {row.run.id: row.run for row in figured.rows}
        document = {
            "schema": SCHEMA,
            "runs": [{"id": run.id, "title": run.title, "suite": run.suite, "version": run.suite_version}
                     for run in runs.values()],
            "tables": [table_document(table) for table in figured.tables.values()],
        }  # fmt: skip
        print_document(document)
        return
    from rich.console import Console as Terminal

    from repoassay.report import print_tables

    print_tables(list(figured.tables.values()), Terminal())


def _progress(what: str, done: int, total: int) -> None:
    """One line that is written over, on a terminal alone."""
    if not sys.stderr.isatty():
        return
    left = f"{what} {done:,} of {total:,}" if total > 1 else what
    sys.stderr.write(f"\r\x1b[K{left}" if what and done < total else "\r\x1b[K")
    sys.stderr.flush()


def print_report(
    run: Run,
    console: Console | None = None,
    *,
    as_json: bool = False,
    html: Path | None = None,
    page: bool = True,
    reviews: ReviewedAttempts | None = None,
) -> Path | None:
    """Print a run as table or JSON on standard output and write its page.

    Args:
        run: The run, finished or not.
        console: Where the table goes; standard output when None.
        as_json: Print JSON instead of the table.
        html: Where the page goes; `report.html` in the run folder when None.
        page: Whether to write the page.
        reviews: What people said of merging its attempts, to stand beside the rates.

    Returns:
        Where the page is; None when none was wanted.

    Raises:
        BadInput: When an attempt cannot be read back or the page cannot be written.
    """
    from rich.console import Console as Terminal

    from repoassay.report import (
        encoded_attempts,
        print_table,
        print_tables,
        reviewed_tables,
        summary_document,
        write_html,
    )

    summary = run.summary()
    if as_json:
        document = summary_document(summary) | {"attempts": encoded_attempts(summary)}
        if reviews:  # only then is there a database, which is an extra
            from repoassay.report import reviews_document

            document |= {"reviews": reviews_document(reviews, summary.results)}
        print_document(document)
    else:
        terminal = console or Terminal()
        print_table(summary, terminal)
        print_tables(reviewed_tables(summary.results, reviews), terminal)
    path = None
    if page:
        path = write_html(summary, html, reviews)
        click.echo(f"HTML: {path}", err=as_json)
    return path
