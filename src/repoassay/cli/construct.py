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
      repoassay construct commit --repo . --solution HEAD --tests from-commit --instruction @ask.md --bundle
      repoassay construct pull-request --repo . --base v1.2 --merged fix-1 --issue issue.md --tests from-change
    """


construct.add_command(pull_request)


@construct.command("commit")
@repo_option
@click.option("--solution", required=True, metavar="REV", help="The commit after the change.")
@click.option("--instruction", metavar="TEXT|@FILE|from-commit",
              help="What the agent is told; the commit's message where that is good enough.")  # fmt: skip
@task_options(FROM_COMMIT)
def commit(solution: str, instruction: str | None, **wanted: Unpack[ConstructOptions]) -> None:
    """Make a task of two commits: what changed between them is its solution, and hidden tests decide.

    The tests run N times at the base and N times at the solution, in the sandbox that grades submissions. Those that
    fail at the base and pass at the solution every time must pass; those that pass at both are kept as guards; those
    that flip are dropped. A task without a single test of the first kind is refused with what was counted, and this
    leaves with 1. Nothing is written unless the task is sound.

    \b
    Examples:
      repoassay construct commit --repo . --solution HEAD --tests from-commit --instruction @ask.md --bundle
      repoassay construct commit --repo https://example.org/lib.git --base v1.2 --solution v1.3 --tests test_new.py
          --instruction 'Add a function that ...' --requirement 'attrs==25.3.0' --id lib-new --proofs 10
    """
    make(solution, _instruction(instruction), wanted, FROM_COMMIT)


def _instruction(given: str | None) -> str | None:
    from repoassay.errors import BadInput

    if given is None:
        raise BadInput(
            "No --instruction says what the agent is to do.",
            f"Write it as --instruction TEXT or @FILE; `--instruction {FROM_COMMIT}` takes the commit's message.",
        )
    return None if given == FROM_COMMIT else given_text(given)
