"""`repoassay construct pull-request`: a pull-request task of an issue and the change that closed it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from repoassay.cli.construct_told import Telling, given_text, print_json, print_made
from repoassay.cli.options import PATH, isolation_option, json_option, workers_option

__all__ = ["pull_request"]

FROM_CHANGE = "from-change"


@click.command("pull-request")
@click.option("--repo", required=True, metavar="PATH|URL", help="The repository: a folder, a git URL, or OWNER/NAME.")
@click.option("--merged", required=True, metavar="REV", help="The commit with the merged change.")
@click.option("--base", metavar="REV", help="The commit before it.  [default: the merged commit's first parent]")
@click.option("--issue", required=True, type=PATH, metavar="FILE", help="The issue's text, which the agent is told.")
@click.option("--tests", multiple=True, required=True, metavar="FILE|from-change",
              help="Hidden tests: a file (may be repeated), or the tests that the change adds or alters.")  # fmt: skip
@click.option("--rules", type=PATH, metavar="FILE",
              help="Contribution rules.  [default: the repository's CONTRIBUTING file]")  # fmt: skip
@click.option("--description", type=PATH, metavar="FILE",
              help="Description of the reference pull request.  [default: the merged commit's message]")  # fmt: skip
@click.option("--check", "checks", multiple=True, metavar="COMMAND",
              help="A command contributors run, such as 'ruff check .'; may be repeated.")  # fmt: skip
@click.option("--runner", type=click.Choice(["pytest", "node"]), default="pytest", show_default=True,
              help="What runs the hidden tests.")  # fmt: skip
@click.option("--requirement", "requirements", multiple=True, metavar="NAME|@FILE",
              help="A package that tests, linters or repository need, or a file of them.")  # fmt: skip
@click.option("--python", default="3.11", show_default=True, metavar="VERSION", help="Lowest Python version.")
@click.option("--import-path", multiple=True, metavar="DIR",
              help="Folder of the repository to import from.  [default: its root, and src]")  # fmt: skip
@click.option("--only", multiple=True, metavar="GLOB", help="Only these files of the change; may be repeated.")
@click.option("--id", "name", metavar="ID", help="The task's id.  [default: repository and commit]")
@click.option("--licence", default="unknown", show_default=True, help="The repository's licence.")
@click.option("--bundle", is_flag=True, help="Store the files of the base commit with the task.")
@click.option("--proofs", type=click.IntRange(1, 1000), default=3, show_default=True, metavar="N",
              help="How often the tests run at the base, and with the change.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0, 86400, min_open=True), default=60.0, show_default=True, metavar="S",
              help="Seconds the tests may take in one run.")  # fmt: skip
@click.option("--out", type=PATH, default=Path("suite"), show_default=True, metavar="DIR",
              help="Folder of tasks, or a suite's folder.")  # fmt: skip
@workers_option
@isolation_option
@json_option
def pull_request(
    repo: str, merged: str, base: str | None, issue: Path, tests: tuple[str, ...], rules: Path | None,
    description: Path | None, checks: tuple[str, ...], runner: Literal["pytest", "node"],
    requirements: tuple[str, ...], python: str, import_path: tuple[str, ...], only: tuple[str, ...], name: str | None,
    licence: str, bundle: bool, proofs: int, timeout: float, out: Path, workers: int, isolation: str, as_json: bool,
) -> None:  # fmt: skip
    """Make a pull-request task of an issue and the merged change that closed it.

    The whole change, with its own tests and documentation, becomes the human reference; the hidden tests are those of
    the change or files of yours. They run N times at the base and N times with the change, in the sandbox that grades
    submissions, and only a task whose tests tell the two apart every time is kept; else this leaves with 1 and nothing
    is written. Tests for node lie where the change has them; a file of yours goes to the repository's test/.

    \b
    Examples:
      repoassay construct pull-request --repo . --base v1.2 --merged fix-1 --issue issue.md --tests from-change
      repoassay construct pull-request --repo OWNER/NAME --merged 0f3c... --issue issue.md --tests hidden.test.mjs
          --runner node --rules contributing.md --check 'node --test' --bundle
    """
    from repoassay.construct import Asked, Proposal, construct_commit
    from repoassay.workspace import Cache, open_sandbox

    cache = Cache()
    proposal = Proposal(
        rules=_text(rules), description=_text(description), checks=checks, runner=runner,
    )  # fmt: skip
    asked = Asked(
        repository=repo, solution=merged, base=base, tests=_tests(tests), instruction=_text(issue),
        requirements=tuple(map(given_text, requirements)), python=python, id=name, only=only, import_path=import_path,
        seconds=timeout, licence=licence, bundle=bundle, proposal=proposal,
    )  # fmt: skip
    sandbox = open_sandbox(isolation, cache)
    with Telling(quiet=as_json) as telling:
        made = construct_commit(
            asked, out, cache, sandbox, times=proofs, workers=workers, step=telling.step, done=telling.done
        )
    print_json(made, asked) if as_json else print_made(made, out)
    raise SystemExit(0 if made.folder else 1)


def _text(file: Path | None) -> str | None:
    return None if file is None else given_text(f"@{file}")


def _tests(given: tuple[str, ...]) -> tuple[Path, ...] | None:
    from repoassay.errors import BadInput

    if FROM_CHANGE not in given:
        return tuple(map(Path, given))
    if set(given) != {FROM_CHANGE}:
        raise BadInput(f"--tests names {FROM_CHANGE} beside files.", "Give either.")
    return None
