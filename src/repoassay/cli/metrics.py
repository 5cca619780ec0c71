"""`repoassay metrics`: what criteria can measure."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING

import click

from repoassay.json_output import print_document
from repoassay.options import json_option

if TYPE_CHECKING:
    from repoassay.grading import Metric

__all__ = ["metrics"]


@click.command()
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="A table for documentation.")
@json_option
def metrics(name: str | None, markdown: bool, as_json: bool) -> None:
    """List the metrics a criterion can use, or explain NAME.

    \b
    Examples:
      repoassay metrics
      repoassay metrics table_cells_f1
      repoassay metrics --json
    """
    from repoassay.grading import all_metrics, get

    chosen = (get(name),) if name else all_metrics()
    if as_json:
        facts = [
            {"name": item.name, "unit": item.unit, "range": item.span, "better": item.better, "source": item.source,
             "needs_reference": item.needs_reference, "packages": list(item.packages)}
            for item in chosen
        ]  # fmt: skip
        print_document(facts)
    elif markdown:
        click.echo("| metric | unit | range | better | reference | what it measures | source |\n|" + "---|" * 7)
        for item in chosen:
            reference = "yes" if item.needs_reference else ""
            cells = (f"`{item.name}`", item.unit, item.span, item.better, reference, _summary(item), item.source)
            click.echo(f"| {' | '.join(fact.replace('|', chr(92) + '|') for fact in cells)} |")
    elif name:
        item = chosen[0]
        click.echo(f"{item.name}: {inspect.getdoc(item.measure)}\n")
        click.echo(f"unit {item.unit}; range {item.span}; better {item.better}; source: {item.source}")
        click.echo(f"signature: {item.name}{inspect.signature(item.measure)}")
    else:
        if sys.stdout.isatty():
            click.secho(f"{'metric':<24} {'unit':<10} {'range':<12} what it measures", bold=True)
        for item in chosen:
            click.echo(f"{item.name:<24} {item.unit:<10} {item.span:<12} {_summary(item)}")


def _summary(item: Metric) -> str:
    return (inspect.getdoc(item.measure) or "").partition("\n\n")[0].replace("\n", " ")
