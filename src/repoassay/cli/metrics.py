"""`repoassay metrics`: what criteria can measure."""

from __future__ import annotations

import inspect
import json

import click

from repoassay.cli.options import json_option

__all__ = ["metrics"]


@click.command()
@click.argument("name", required=False)
@json_option
def metrics(name: str | None, as_json: bool) -> None:
    """List the metrics a criterion can use, or explain NAME.

    \b
    Examples:
      repoassay metrics
      repoassay metrics table_cells_f1
      repoassay metrics --json
    """
    from repoassay.grading.registry import all_metrics, get

    chosen = (get(name),) if name else all_metrics()
    if as_json:
        facts = [
            {"name": item.name, "unit": item.unit, "range": item.span, "better": item.better, "source": item.source,
             "needs_reference": item.needs_reference, "packages": list(item.packages)}
            for item in chosen
        ]  # fmt: skip
        click.echo(json.dumps(facts, indent=2))
    elif name:
        item = chosen[0]
        click.echo(f"{item.name}: {inspect.getdoc(item.measure)}\n")
        click.echo(f"unit {item.unit}; range {item.span}; better {item.better}; source: {item.source}")
        click.echo(f"signature: {item.name}{inspect.signature(item.measure)}")
    else:
        for item in chosen:
            summary = (inspect.getdoc(item.measure) or "").splitlines()[0]
            click.echo(f"{item.name:<24} {item.unit:<10} {item.span:<12} {summary}")
