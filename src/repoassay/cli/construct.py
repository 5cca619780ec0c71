"""`repoassay construct`: tasks made of commits, kept only with proof."""

from __future__ import annotations

from pathlib import Path

import click

from repoassay.cli.construct_pull_request import pull_request
from repoassay.cli.construct_told import Telling, given_text, print_json, print_made
from repoassay.cli.options import PATH, isolation_option, json_option, workers_option

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
@click.option("--repo", required=True, metavar="PATH|URL", help="The repository: a folder, a git URL, or OWNER/NAME.")
@click.option("--solution", required=True, metavar="REV", help="The commit after the change.")
@click.option("--base", metavar="REV", help="The commit before it.  [default: the solution's first parent]")
@click.option("--tests", multiple=True, required=True, metavar="FILE|from-commit",
              help="Hidden tests: a file (may be repeated), or the tests that the change adds or alters.")  # fmt: skip
@click.option("--instruction", metavar="TEXT|@FILE|from-commit",
              help="What the agent is told; the commit's message where that is good enough.")  # fmt: skip
@click.option("--requirement", "requirements", multiple=True, metavar="NAME|@FILE",
              help="A package that tests or repository need, or a file of them. pytest comes by itself.")  # fmt: skip
@click.option("--python", default="3.11", show_default=True, metavar="VERSION", help="Lowest Python version.")
@click.option("--import-path", multiple=True, metavar="DIR",
              help="Folder of the repository to import from.  [default: its root, and src]")  # fmt: skip
@click.option("--only", multiple=True, metavar="GLOB", help="Only these files of the change; may be repeated.")
@click.option("--id", "name", metavar="ID", help="The task's id.  [default: repository and commit]")
@click.option("--licence", default="unknown", show_default=True, help="The repository's licence.")
@click.option("--bundle", is_flag=True, help="Store the files of the base commit with the task.")
@click.option("--proofs", type=click.IntRange(1, 1000), default=3, show_default=True, metavar="N",
              help="How often the tests run at the base, and at the solution.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0, 86400, min_open=True), default=60.0, show_default=True, metavar="S",
              help="Seconds the tests may take in one run.")  # fmt: skip
@click.option("--out", type=PATH, default=Path("suite"), show_default=True, metavar="DIR",
              help="Folder of tasks, or a suite's folder.")  # fmt: skip
@workers_option
@isolation_option
@json_option
def commit(
    repo: str, solution: str, base: str | None, tests: tuple[str, ...], instruction: str | None,
    requirements: tuple[str, ...], python: str, import_path: tuple[str, ...], only: tuple[str, ...], name: str | None,
    licence: str, bundle: bool, proofs: int, timeout: float, out: Path, workers: int, isolation: str, as_json: bool,
) -> None:  # fmt: skip
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
    from repoassay.construct import Asked, construct_commit
    from repoassay.workspace import Cache, open_sandbox

    cache = Cache()
    asked = Asked(
        repository=repo, solution=solution, base=base, tests=_tests(tests), instruction=_instruction(instruction),
        requirements=tuple(map(given_text, requirements)), python=python, id=name, only=only, import_path=import_path,
        seconds=timeout, licence=licence, bundle=bundle,
    )  # fmt: skip
    sandbox = open_sandbox(isolation, cache)
    with Telling(quiet=as_json) as telling:
        made = construct_commit(
            asked, out, cache, sandbox, times=proofs, workers=workers, step=telling.step, done=telling.done
        )
    print_json(made, asked) if as_json else print_made(made, out)
    raise SystemExit(0 if made.folder else 1)


def _tests(given: tuple[str, ...]) -> tuple[Path, ...] | None:
    from repoassay.errors import BadInput

    if FROM_COMMIT not in given:
        return tuple(map(Path, given))
    if set(given) != {FROM_COMMIT}:
        raise BadInput(f"--tests names {FROM_COMMIT} beside files.", "Give either.")
    return None


def _instruction(given: str | None) -> str | None:
    from repoassay.errors import BadInput

    if given is None:
        raise BadInput(
            "No --instruction says what the agent is to do.",
            f"Write it as --instruction TEXT or @FILE; `--instruction {FROM_COMMIT}` takes the commit's message.",
        )
    return None if given == FROM_COMMIT else given_text(given)
