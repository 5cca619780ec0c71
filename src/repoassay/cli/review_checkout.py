"""`repoassay review checkout`: an item's branch in a folder, and its tests in a sandbox."""

from __future__ import annotations

import glob
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.cli.judge_output import open_study
from repoassay.options import PATH

if TYPE_CHECKING:
    from repoassay.engine import ItemBranch, ItemSandbox
    from repoassay.sandbox import Cache

__all__ = ["checkout_item"]


@click.command("checkout")
@click.argument("item")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--database", metavar="URL", required=True, envvar="REPOASSAY_REVIEW_DATABASE", show_envvar=True,
              help="Where ratings lie: a file of SQLite, or postgresql://...")  # fmt: skip
@click.option("--study", default="", metavar="NAME", help="Which study, where the database has several.")
@click.option("--suite", default="", metavar="NAME|FOLDER",
              help="Suite with the item's task.  [default: as the study's run names it]")  # fmt: skip
@click.option("--into", type=PATH, metavar="DIR", help="Folder to make.  [default: ./ITEM, without --test and --shell]")
@click.option("--test", "tests", is_flag=True, help="Run the repository's tests, or COMMAND, in the task's sandbox.")
@click.option("--shell", is_flag=True, help="Read lines of shell, and run each in the task's sandbox.")
def checkout_item(
    item: str, command: tuple[str, ...], database: str, study: str, suite: str, into: Path | None, tests: bool,
    shell: bool,
) -> None:  # fmt: skip
    """Give the branch of ITEM, as its page shows it: `main` is the base of the task, `change` the change under review.

    The history is these two commits. Nothing says who made the change, and no hidden test is there. Do not run what is
    in the folder: it is as hostile as its author; --test and --shell run it in the sandbox that the agent had, without
    network, and what they write is thrown away.

    Exit codes: 0 done; that of the tests; 2 bad input.

    \b
    Examples:
      repoassay review checkout sk3v9x2ab --database reviews.sqlite --into /tmp/change
      repoassay review checkout sk3v9x2ab --database reviews.sqlite --test
      repoassay review checkout sk3v9x2ab --database reviews.sqlite --test -- python -m pytest tests/test_a.py
    """
    from repoassay.engine import sandbox_of_item, write_branch
    from repoassay.errors import BadInput
    from repoassay.sandbox import Cache, open_sandbox

    if command and not tests:
        raise BadInput("A command is run with --test.", "Add --test before it.")
    cache = Cache()
    branch = _branch(item, database, study, suite, cache)
    if into is not None or not (tests or shell):
        place = into or Path(item)
        write_branch(branch, place)
        click.echo(f"{place}: `git diff main` is the change.")
    if not (tests or shell):
        return
    with_tests = sandbox_of_item(branch, cache, open_sandbox(cache=cache))
    code = _tested(with_tests, command) if tests else 0
    if shell:
        _read_lines(with_tests)
    sys.exit(code)


def _branch(item: str, database: str, study: str, suite: str, cache: Cache) -> ItemBranch:
    from repoassay.engine import branch_of_item
    from repoassay.errors import BadInput, RepoAssayError
    from repoassay.review import hidden_of, item_names, payload_of, study_names
    from repoassay.tasks import find_suite

    with open_study(database) as place:
        found = [name for name in ([study] if study else study_names(place)) if item in item_names(place, name)]
        if len(found) != 1:
            where = "no study has it" if not found else f"{len(found)} studies have it"
            raise BadInput(f"The item {item!r} cannot be told: {where}.", "Name the study with --study.")
        payload, hidden = payload_of(place, found[0], item), hidden_of(place, found[0], item)
    if not payload.diff:
        raise BadInput(f"The item {item!r} has no diff.", "Only changes of a repository can be checked out.")
    try:
        known = find_suite(suite or hidden.origin, only=[glob.escape(hidden.task)])
    except RepoAssayError:
        # What is wrong may name the task or the agent, which a rater must not learn.
        raise BadInput(
            f"The task of the item {item!r} is not on this machine.", "Name its suite with --suite."
        ) from None
    return branch_of_item(known.tasks[0], known.repositories, payload.diff, cache)


def _tested(sandbox: ItemSandbox, command: tuple[str, ...]) -> int:
    done = sandbox.test(command)
    _print(done.stdout, done.stderr)
    click.echo(f"Ended: {done.exit.ended.value}, code {done.exit.code}, {done.exit.wall:.1f} s", err=True)
    return 1 if done.exit.code is None else min(done.exit.code, 125)


def _read_lines(sandbox: ItemSandbox) -> None:
    from repoassay.engine import run_line
    from repoassay.text import printable

    interactive = sys.stdin.isatty()
    folder = "/workspace/repo"
    with sandbox.open() as session:
        while True:
            if interactive:
                click.echo(f"{printable(folder, 200)} $ ", nl=False, err=True)
            line = sys.stdin.readline()
            if not line or line.strip() == "exit":
                return
            done, folder = run_line(session, line.rstrip("\n"), folder)
            _print(done.stdout, done.stderr)


def _print(*outputs: bytes) -> None:
    """Print what came out of the sandbox, on standard output and error, nothing of it as a control of the terminal."""
    from repoassay.text import printable

    for output, err in zip(outputs, (False, True), strict=True):
        for line in output.decode("utf-8", "replace").splitlines():
            click.echo(printable(line.expandtabs(), 4000), err=err)
