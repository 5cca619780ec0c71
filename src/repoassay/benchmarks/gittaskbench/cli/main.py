"""The command `gittaskbench`: the published benchmark's own command line and result files, over our grader."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from repoassay.benchmarks.gittaskbench.cli.grade import grade
from repoassay.benchmarks.gittaskbench.cli.options import is_verbose, show, suite_option, task_ids, tell, verbose_option
from repoassay.errors import BadInput
from repoassay.exits import exit_with
from repoassay.options import PATH

__all__ = ["cli", "main"]

_FAULT = 4


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        import repoassay

        click.echo(f"gittaskbench (repoassay {repoassay.__version__})")
        ctx.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
              help="Show the version and exit.")  # fmt: skip
@verbose_option
def cli() -> None:
    """Grade outputs of GitTaskBench's 54 tasks and evaluate its result files.

    Works in any folder. To run agents on these tasks, see `repoassay run gittaskbench`.

    \b
    Examples:
      gittaskbench grade --taskid Trafilatura_01
      gittaskbench grade --all --output_dir ./outputs --result ./test_results
      gittaskbench eval --result ./test_results
    """


@cli.command(name="eval")
@click.option(
    "--result", type=PATH, default=Path("test_results"), show_default=True, metavar="DIR",
    help="Folder with ID/results.jsonl for each task, published ones included.",
)  # fmt: skip
@click.option(
    "--output_file", "--output-file", type=PATH, metavar="FILE",
    help="Where to write the report; must not exist. By default evaluation_report_<time>.txt in this folder.",
)  # fmt: skip
@suite_option
@verbose_option
@click.pass_context
def evaluate(ctx: click.Context, result: Path, output_file: Path | None, suite: str) -> None:
    """Count the records of a results folder, print the report and write it to a file.

    The last readable record of each task counts. Rates are given over all tasks of the suite, where a task without a
    record is no success and is listed as missing, and over the recorded ones. Whatever was not counted is listed with
    the reason. With -v the last comments of every recorded task follow.

    \b
    Exit codes:
      0    the report was written, whatever the rates
      2    bad usage, no results folder, no record of any task in it, or the report exists
      4    anything else that failed
    """
    from repoassay.benchmarks.gittaskbench.formats import read_results, render_report, write_report
    from repoassay.text import printable

    found = read_results(result, task_ids(suite))
    if not found.records:
        raise BadInput(
            f"{printable(str(result), 500)} holds no readable record of any of the {len(found.tasks)} tasks.",
            "Grade first, or name the folder that holds <TASK>/results.jsonl with --result.",
        )
    now = datetime.now(UTC)
    text = render_report(found, now)
    place = write_report(
        text, output_file or Path(f"evaluation_report_{now:%Y%m%d_%H%M%S}.txt"), exactly=output_file is not None
    )
    show(text)
    if is_verbose(ctx):
        for task, record in found.records.items():
            tell(f"{task}  {record.time_point[:40]}", record.comments.split("\n")[:50], whole=True)
    show(f"Report written to {place}")


cli.add_command(grade)


def main() -> None:
    """Run the command line and leave with its exit code."""
    # 1 is kept for outputs that did not pass
    exit_with("gittaskbench", lambda: cli.main(prog_name="gittaskbench", standalone_mode=False), fault=_FAULT)
