"""`repoassay compare`: systems on the same tasks, and whether one is worse."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from repoassay.completion import complete_runs
from repoassay.json_output import JsonFlag, print_document
from repoassay.options import PATH, FiniteRange

__all__ = ["compare"]


@click.command()
@click.argument("systems", nargs=-1, required=True, metavar="RUN[:AGENT]...", shell_complete=complete_runs)
@click.option(
    "--by",
    type=click.Choice(["result", "process"]),
    default="result",
    show_default=True,
    help="Compare tasks passed (TPR) or tasks executed (ECR).",
)
@click.option("--all-pairs", is_flag=True, help="Compare each system with each, instead of with the first.")
@click.option("--across-versions", is_flag=True, help="Compare tasks also where their content differs.")
@click.option(
    "--level",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the tests.",
)
@click.option(
    "--reviews",
    default="",
    metavar="DATABASE",
    help="Compare what people said of merging the attempts, too: the database of `repoassay review`.",
)
@click.option(
    "--study", default="", metavar="NAME", help="Which study of --reviews, where several ask whether to merge."
)
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 when a system is significantly worse.")
@click.option(
    "--max-drop",
    type=FiniteRange(0, 100),
    metavar="POINTS",
    help="Exit with 1 also when the rate falls by more, significant or not.",
)
@click.option("--any", "any_broken", is_flag=True, help="Exit with 1 also when any task broke.")
@click.option("--html", type=PATH, metavar="FILE", help="Write a page as well, with the attempts' pages beside it.")
@click.option("--junit", type=PATH, metavar="FILE", help="Write JUnit XML, one case a task.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    show_default=True,
    help="How it is printed.",
)
@click.option("--json", "as_json", cls=JsonFlag, is_flag=True, is_eager=True, help="The same as --format json.")
def compare(
    systems: tuple[str, ...], by: str, all_pairs: bool, across_versions: bool, level: float, reviews: str, study: str,
    fail_on_regression: bool, max_drop: float | None, any_broken: bool, html: Path | None, junit: Path | None,
    form: str, as_json: bool,
) -> None:  # fmt: skip
    """Compare systems on the tasks they have in common; the first is the baseline.

    A system is a run of one agent, or RUN:AGENT; one run of several agents, named alone, is compared within itself.
    With one attempt a task: exact McNemar test and Tango interval; with several: permutation test and Tango
    interval by task. Of more than two systems p-values are Holm's. Unknown is never false.

    Exit codes: 0 no regression, or none was asked for; 1 a regression (--fail-on-regression, --max-drop, --any), also
    when nothing could be judged; 2 the systems cannot be compared.

    \b
    Examples:
      repoassay compare runs/before runs/after
      repoassay compare latest:aider latest:codex --html compared.html
      repoassay compare latest:aider latest:codex --reviews reviews.sqlite
      repoassay compare runs/before runs/after --fail-on-regression --max-drop 5 --junit compare.xml
    """
    from repoassay.api import compare as compare_runs
    from repoassay.report import (
        RegressionGate,
        as_markdown,
        as_text,
        comparison_document,
        rule,
        write_comparison,
        write_junit,
    )

    gated = fail_on_regression or any_broken or max_drop is not None
    found = compare_runs(
        *systems, by=by, every_pair=all_pairs, across_versions=across_versions, level=level, reviews=reviews,
        study=study,
    )  # fmt: skip
    rulings = rule(found, RegressionGate(max_drop, any_broken)) if gated else None
    if as_json or form == "json":
        print_document(comparison_document(found, rulings))
    else:
        text = (as_markdown if form == "md" else as_text)(found, rulings)
        click.echo(text.encode("utf-8", "backslashreplace").decode().rstrip("\n"))
    if html is not None:
        write_comparison(found, html)
    if junit is not None:
        write_junit(junit, found, rulings or ())
    if rulings and any(one.reasons for one in rulings):
        sys.exit(1)
