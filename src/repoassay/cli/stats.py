"""`repoassay stats`: what a repository, a suite or a data set is made of, in numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.stats_results import results
from repoassay.completion import complete_suites
from repoassay.json_output import print_document
from repoassay.options import PATH, json_option

if TYPE_CHECKING:
    from repoassay.formats import DatasetStats, Spread
    from repoassay.survey import Composition, Share, Survey

__all__ = ["stats"]

_MOST_PROBLEMS = 20
"""Problems printed; `--json` has all of them."""


@click.group()
def stats() -> None:
    """Say what a repository, a suite or a data set is made of.

    \b
    Examples:
      repoassay stats repo ./my-repository
      repoassay stats suite starter
      repoassay stats dataset rows.jsonl
      repoassay stats results results.jsonl --k 1,5
    """


stats.add_command(results)


@stats.command()
@click.argument("path", type=PATH)
@json_option
def repo(path: Path, as_json: bool) -> None:
    """Count files, lines, classes, functions, imports, calls and tokens of the Python code below the folder PATH.

    A table with each measure's definition on a terminal; elsewhere a heading and one line a measure, with a tab
    between its name and number. Nothing is run or imported. .py files that are too large, in no known encoding or do
    not parse are listed on standard error with the reason. .git and __pycache__ folders, links (also such as are
    stored as text) and, in a git working tree, what git ignores are left out; vendored code is not.

    \b
    Measures:
      files             files whose name ends in .py
      lines             all their lines
      code_lines        lines that are neither blank nor only a comment
      classes           class definitions
      functions         function definitions, methods included
      imports           names imported
      internal_imports  pairs of files of which one imports the other
      calls             call expressions
      tokens            lexical tokens, as Python's tokenize module cuts them
      model_tokens      tokens of a language model (cl100k_base); needs the extra `tokens`
      python_bytes      bytes of the .py files
      bytes             bytes of all files

    \b
    Examples:
      repoassay stats repo .
      repoassay stats repo ./my-repository --json
    """
    from repoassay.errors import MissingExtra
    from repoassay.survey import DEFINITIONS, MODEL_TOKENISER, TOKENISER, model_token_counter, survey_repository

    missing, counter = "", None
    try:
        counter = model_token_counter()
    except MissingExtra as error:
        missing = f"model_tokens are not counted: {error.message} {error.remedy}"
    survey = survey_repository(path, model_tokens=counter)
    measures = asdict(survey.measures)
    if as_json:
        facts = {
            "path": str(path),
            "tokeniser": TOKENISER,
            "model_tokeniser": MODEL_TOKENISER if counter else None,
            "measures": measures,
            "problems": [asdict(problem) for problem in survey.problems],
        }
        print_document(facts)
        return
    if sys.stdout.isatty():
        rows = [
            (name, "-" if measures[name] is None else f"{measures[name]:,}", meaning)
            for name, meaning in DEFINITIONS.items()
        ]
        _table(("measure", "count", "definition"), "lrl", rows)
        click.echo(f"tokeniser: {TOKENISER}")
    else:
        click.echo("measure\tcount")
        for name in DEFINITIONS:
            click.echo(f"{name}\t{'' if measures[name] is None else measures[name]}")
        click.echo(f"tokeniser\t{TOKENISER}")
    if missing:
        click.echo(missing, err=True)
    _say_problems(survey)


def _say_problems(survey: Survey) -> None:
    from repoassay.text import printable

    for problem in survey.problems[:_MOST_PROBLEMS]:
        click.echo(f"{problem.kind}: {printable(problem.path, 200)}: {problem.reason}", err=True)
    if len(survey.problems) > _MOST_PROBLEMS:
        click.echo(f"and {len(survey.problems) - _MOST_PROBLEMS} more; --json lists all of them.", err=True)


@stats.command()
@click.argument("suite", shell_complete=complete_suites)
@json_option
def suite(suite: str, as_json: bool) -> None:
    """Count the tasks of SUITE (a bundled suite's name or a folder) by domain, subdomain and modality.

    Each with its percentage of all tasks and the market value its tasks state, in US dollars: mean, lowest, highest
    and sum. A percentage is rounded for itself, so that several need not sum to 100. A table on a terminal; elsewhere
    a heading and one line each with tabs between level, domain, name, tasks, percentage, mean, low, high, sum and the
    number of tasks that state a value.

    \b
    Examples:
      repoassay stats suite starter
      repoassay stats suite ./my-tasks --json
    """
    from repoassay.survey import survey_suite
    from repoassay.tasks import find_suite
    from repoassay.text import printable

    found = find_suite(suite, metrics=None)
    composition = survey_suite([folder.task for folder in found.tasks])
    if as_json:
        print_document({"suite": found.suite.name, **_facts(composition)})
    elif sys.stdout.isatty():
        _suite_table(composition)
    else:
        click.echo("\t".join(("by", "domain", "name", "tasks", "percent", "mean", "low", "high", "sum", "valued")))
        for level, shares in _levels(composition):
            for share in shares:
                cells = (level, printable(share.domain, 200), printable(share.name, 200), *_cells(share))
                click.echo("\t".join(cells))


def _levels(composition: Composition) -> Iterable[tuple[str, Sequence[Share]]]:
    yield "domain", composition.domains
    yield "subdomain", composition.subdomains
    yield "modality", composition.modalities
    yield "total", (composition.total,)


def _cells(share: Share) -> tuple[str, ...]:
    """Tasks, percentage, mean, low, high, sum, tasks with a value; empty where no task states one."""
    counted = str(share.tasks), str(share.percent)
    if share.worth is None:
        return *counted, "", "", "", "", "0"
    worth = share.worth
    return *counted, *map(_dollars, (worth.mean, worth.low, worth.high, worth.total)), str(worth.tasks)


def _dollars(amount: Decimal) -> str:
    return str(amount.quantize(Decimal("0.01"), ROUND_HALF_UP))


def _facts(composition: Composition) -> dict[str, Any]:
    """The composition for programs; amounts of money are text with two decimals, as they are decimal fractions."""
    return {
        "tasks": composition.total.tasks,
        "domains": [{"domain": share.name, **_numbers(share)} for share in composition.domains],
        "subdomains": [
            {"domain": share.domain, "subdomain": share.name or None, **_numbers(share)}
            for share in composition.subdomains
        ],
        "modalities": [{"modality": share.name or None, **_numbers(share)} for share in composition.modalities],
        "value": _numbers(composition.total)["value"],
    }


def _numbers(share: Share) -> dict[str, Any]:
    _, _, mean, low, high, total, tasks = _cells(share)
    value = {"tasks": int(tasks), "mean": mean, "low": low, "high": high, "sum": total} if share.worth else None
    return {"tasks": share.tasks, "percent": float(share.percent), "value": value}


def _suite_table(composition: Composition) -> None:
    rows: list[tuple[str, ...]] = []
    for level, shares in _levels(composition):
        rows += [("",) * 7] if rows else []
        for share in shares:
            name = " / ".join((share.domain, share.name or "(none)")) if share.domain else share.name or "(none)"
            rows.append((level, "" if level == "total" else name, *_cells(share)[:6]))
    _table(("by", "name", "tasks", "%", "mean, $", "low, $", "high, $", "sum, $"), "llrrrrrr", rows)


@stats.command()
@click.argument("file", type=PATH)
@click.option("--mirror", "mirrors", multiple=True, metavar="URL=PATH", help="Where a row's repository is; repeatable.")
@click.option("--fetch", is_flag=True, help="Fetch repositories that no --mirror names.")
@json_option
def dataset(file: Path, mirrors: tuple[str, ...], fetch: bool, as_json: bool) -> None:
    """Say how large the tasks of the data set FILE are: RES-Q or SWE-bench rows as .json, .jsonl or .parquet.

    For each measure the number n of rows it could be taken of, smallest, quartiles, largest and mean. Quartiles are
    interpolated linearly between the closest ranks. A table on a terminal; elsewhere a heading and one line a
    measure, with tabs between name, n, min, q1, median, q3, max and mean. What could not be measured is listed on
    standard error.

    \b
    Measures:
      repository_files       .py files of the repository (with --mirror or --fetch)
      repository_code_lines  their lines that are neither blank nor only a comment
      levenshtein            characters to change in the modified files
      modified_lines         lines the solution adds and lines it removes
      modified_files         files the solution changes
      instruction_tokens     tokens of the instruction
      patch_tokens           tokens of the solution patch

    A token is a run of word characters, or one other character that is no white space.

    \b
    Examples:
      repoassay stats dataset rows.jsonl
      repoassay stats dataset rows.json --mirror https://github.com/me/it=./it --json
    """
    from repoassay.formats import DEFINITIONS, QUARTILES, TOKENISER, BaseTrees, dataset_stats, read_mirrors, read_rows

    trees = BaseTrees(read_mirrors(mirrors), fetch)
    found = dataset_stats(read_rows(file), trees.find_or_say)
    if as_json:
        facts = {
            "file": str(file),
            "rows": len(found.tasks),
            "tokeniser": TOKENISER,
            "quartiles": QUARTILES,
            "measures": {name: asdict(spread) for name, spread in found.spreads.items()},
            "tasks": {name: asdict(measures) for name, measures in found.tasks.items()},
            "problems": [{"id": name, "reason": reason} for name, reason in found.problems],
        }
        print_document(facts)
        return
    if sys.stdout.isatty():
        spreads = [
            (name, f"{item.n} of {len(found.tasks)}", *_five(item), DEFINITIONS[name])
            for name, item in found.spreads.items()
        ]
        titles = ("measure", "n", "min", "q1", "median", "q3", "max", "mean", "definition")
        _table(titles, "lrrrrrrrl", spreads)
        click.echo(f"tokeniser: {TOKENISER}\nquartiles: {QUARTILES}")
    else:
        click.echo("\t".join(("measure", "n", "min", "q1", "median", "q3", "max", "mean")))
        for name, item in found.spreads.items():
            click.echo("\t".join((name, str(item.n), *_five(item))))
        click.echo(f"tokeniser\t{TOKENISER}\nquartiles\t{QUARTILES}")
    _say_unmeasured(found)


def _five(spread: Spread) -> tuple[str, ...]:
    """Min, quartiles, max and mean; empty where nothing could be measured."""
    values = (spread.min, spread.q1, spread.median, spread.q3, spread.max, spread.mean)
    return tuple("" if value is None else f"{value:.2f}".removesuffix(".00") for value in values)


def _say_unmeasured(found: DatasetStats) -> None:
    from repoassay.text import printable

    for name, reason in found.problems[:_MOST_PROBLEMS]:
        click.echo(f"{printable(name, 100)}: {printable(reason, 400)}", err=True)
    if len(found.problems) > _MOST_PROBLEMS:
        click.echo(f"and {len(found.problems) - _MOST_PROBLEMS} more; --json lists all of them.", err=True)


def _table(titles: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from repoassay.text import printable

    table = Table(box=None, pad_edge=False)
    for title, side in zip(titles, sides, strict=True):
        table.add_column(title, justify="right" if side == "r" else "left", overflow="fold", no_wrap=side == "r")
    for row in rows:
        table.add_row(*(Text(printable(cell, 200)) for cell in row))
    Console().print(table)
