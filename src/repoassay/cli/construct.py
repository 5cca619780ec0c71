"""`repoassay construct`: tasks made of commits, kept only with proof."""

from __future__ import annotations

from typing import Unpack

import click

from repoassay.cli.construct_options import ConstructOptions, make, repo_option, task_options
from repoassay.cli.construct_output import given_text
from repoassay.cli.construct_pull_request import pull_request

__all__ = ["construct"]

FROM_COMMIT = "from-commit"


@click.group()
def construct() -> None:
    """Make tasks of what repositories hold, each with proof that it can be trusted.

    \b
    Examples:
      repoassay construct commit --repo . --solution HEAD --instruction @ask.md --bundle
      repoassay construct pull-request --repo . --base v1.2 --merged fix-1 --issue issue.md --tests from-change
    """


construct.add_command(pull_request)


@construct.command("commit")
@repo_option
@click.option("--solution", required=True, metavar="REV", help="The commit after the change.")
@click.option("--instruction", default=FROM_COMMIT, show_default=True, metavar="TEXT|@FILE|from-commit",
              help="What the agent is told; the commit's message where that is good enough.")  # fmt: skip
@task_options(FROM_COMMIT, ("repository", "pytest"))
def commit(solution: str, instruction: str, **wanted: Unpack[ConstructOptions]) -> None:
    """Make a task of two commits: what changed between them is its solution, and hidden tests decide.

    The tests run N times at the base and N times at the solution, in the sandbox that grades submissions. Those that
    fail at the base and pass at the solution every time must pass; those that pass at both are kept as guards; those
    that flip are dropped. A task without a single test of the first kind is refused with what was counted, and this
    leaves with 1. Nothing is written unless the task is sound.

    The tests of the commit run in the repository, as its maintainers run them; which Python, which packages and how it
    is installed is read off its files. Tests of your own run by themselves.

    \b
    Examples:
      repoassay construct commit --repo OWNER/NAME --solution 0f3c...
      repoassay construct commit --repo . --solution HEAD --instruction @ask.md --bundle
      repoassay construct commit --repo https://example.org/lib.git --base v1.2 --solution v1.3 --tests test_new.py
          --instruction 'Add a function that ...' --requirement 'attrs==25.3.0' --id lib-new --proofs 10
    """
    make(solution, _instruction(instruction), wanted, FROM_COMMIT)


def _instruction(text: str) -> str | None:
    return None if text == FROM_COMMIT else given_text(text)
