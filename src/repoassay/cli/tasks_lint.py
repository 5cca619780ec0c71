"""`repoassay tasks lint`: everything that is wrong with tasks, without running them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.completion import complete_suites
from repoassay.json_output import print_document
from repoassay.options import json_option

if TYPE_CHECKING:
    from repoassay.errors import Problem

__all__ = ["lint_tasks"]


@click.command("lint")
@click.argument("suites", nargs=-1, required=True, metavar="SUITE...", shell_complete=complete_suites)
@click.option("--files", is_flag=True, help="These are files, as of a commit: look at the task folders they lie in.")
@click.option("--strict", is_flag=True, help="Leave with 2 for advice too.")
@json_option
def lint_tasks(suites: tuple[str, ...], files: bool, strict: bool, as_json: bool) -> None:
    """Look for everything wrong with SUITE (a bundled suite's name, a folder of tasks, or one task folder).

    Each problem is printed with its file, key and remedy, and sound tasks get advice on what could be better. Nothing
    of a task is run; `repoassay tasks validate` does that. Leaves with 2 when there are problems, else with 0.

    \b
    Examples:
      repoassay tasks lint starter
      repoassay tasks lint ./my-tasks
      repoassay tasks lint ./my-tasks/csv-totals --strict
      git diff --name-only main | xargs repoassay tasks lint --files
    """
    from repoassay.tasks import Advice, changed_tasks

    places = [str(place) for place in changed_tasks([Path(name) for name in suites])] if files else list(suites)
    found = _lint_findings(places, located=files or len(places) > 1)
    every = [problem for problems in found for problem in problems]
    advice = [problem for problem in every if isinstance(problem, Advice)]
    sound = sum(all(isinstance(problem, Advice) for problem in problems) for problems in found)
    if as_json:
        facts = {"tasks": len(found), "sound_tasks": sound, "findings": [_document(problem) for problem in every]}
        print_document(facts)
    else:
        for problem in every:
            mark = click.style("advice", fg="yellow") if isinstance(problem, Advice) else click.style("error", fg="red")
            click.echo(f"{mark}: {problem}")
        some = f"problems: {len(every) - len(advice)}, pieces of advice: {len(advice)}." if every else "nothing to add."
        click.echo(f"{sound} of {len(found)} tasks are sound; {some}")
    if len(every) > len(advice) or (strict and advice):
        sys.exit(2)


def _lint_findings(places: list[str], *, located: bool) -> list[list[Problem]]:
    """What is wrong with each task of suites; where it is said of several, files are named with their suite."""
    from repoassay.grading import names
    from repoassay.tasks import lint_suite
    from repoassay.text import printable

    found = []
    for place in places:
        for problems in lint_suite(place, metrics=names()).values():
            start = f"{printable(place)}/" if located else ""
            found.append([replace(problem, file=f"{start}{problem.file}") for problem in problems])
    return found


def _document(problem: Problem) -> dict[str, str]:
    from repoassay.tasks import Advice

    severity = "advice" if isinstance(problem, Advice) else "error"
    return {
        "severity": severity,
        "file": problem.file,
        "key": problem.key,
        "what": problem.what,
        "remedy": problem.remedy,
    }
