"""`repoassay construct pull-request`: a pull-request task of an issue and the change that closed it."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from repoassay.cli.construct_options import ConstructOptions, make, repo_option, task_options
from repoassay.cli.construct_output import given_text
from repoassay.options import PATH

__all__ = ["pull_request"]

FROM_CHANGE = "from-change"


@click.command("pull-request")
@repo_option
@click.option("--merged", required=True, metavar="REV", help="The commit with the merged change.")
@click.option("--issue", required=True, type=PATH, metavar="FILE", help="The issue's text, which the agent is told.")
@click.option("--rules", type=PATH, metavar="FILE",
              help="Contribution rules.  [default: the repository's CONTRIBUTING file]")  # fmt: skip
@click.option("--description", type=PATH, metavar="FILE",
              help="Description of the reference pull request.  [default: the merged commit's message]")  # fmt: skip
@click.option("--check", "checks", multiple=True, metavar="COMMAND",
              help="A command contributors run, such as 'ruff check .'; may be repeated.")  # fmt: skip
@task_options(FROM_CHANGE, ("repository", "pytest", "node"))
def pull_request(
    merged: str, issue: Path, rules: Path | None, description: Path | None, checks: tuple[str, ...],
    **wanted: Unpack[ConstructOptions],
) -> None:  # fmt: skip
    """Make a pull-request task of an issue and the merged change that closed it.

    The whole change, with its own tests and documentation, becomes the human reference; the hidden tests are those of
    the change or files of yours. They run N times at the base and N times with the change, in the sandbox that grades
    submissions, and only a task whose tests tell the two apart every time is kept; else this leaves with 1 and nothing
    is written. Tests for node lie where the change has them; a file of yours goes to the repository's test/
    or tests/, or its root where it has neither.

    \b
    Examples:
      repoassay construct pull-request --repo . --base v1.2 --merged fix-1 --issue issue.md
      repoassay construct pull-request --repo OWNER/NAME --merged 0f3c... --issue issue.md --tests hidden.test.mjs
          --runner node --rules contributing.md --check 'node --test' --bundle
    """
    from repoassay.construct import Proposal

    proposal = Proposal(rules=_text(rules), description=_text(description), checks=checks)
    make(merged, _text(issue), wanted, FROM_CHANGE, proposal)


def _text(file: Path | None) -> str | None:
    return None if file is None else given_text(f"@{file}")
