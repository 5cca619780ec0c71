"""`repoassay doctor`: what this machine offers."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from repoassay.json_output import print_document
from repoassay.options import json_option

__all__ = ["doctor"]

_MARKS = {"ok": ("✓", "green"), "degraded": ("~", "yellow"), "missing": ("✗", "red")}


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Look at what a run needs on this machine by trying it; say what degrades and the remedy.

    Leaves with 3 when something that a run needs is missing, else with 0.

    \b
    Examples:
      repoassay doctor
      repoassay doctor --json
    """
    from repoassay.sandbox import examine
    from repoassay.workspace import interpreter_findings

    findings = [*examine(), *interpreter_findings()]
    if as_json:
        print_document([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark, colour = _MARKS[finding.state]
            click.echo(f"{click.style(mark, fg=colour)} {finding.name:<14} {finding.state:<9} {finding.detail}")
            if finding.remedy:
                click.echo(f"  {'':<14} {'':<9} remedy: {finding.remedy}")
    if any(finding.state == "missing" for finding in findings):
        sys.exit(3)
