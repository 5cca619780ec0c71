"""What every verb of `construct` takes, and what it does with that."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, TypeVar, cast

import click

from repoassay.cli.construct_output import Telling, given_text, print_json, print_made
from repoassay.options import PATH, FiniteRange, isolation_option, json_option, workers_option

if TYPE_CHECKING:
    from repoassay.construct import Proposal

__all__ = ["ConstructOptions", "make", "repo_option", "task_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ConstructOptions(TypedDict):
    """The values of `repo_option` and `task_options`."""

    repo: str
    base: str | None
    tests: tuple[str, ...]
    requirements: tuple[str, ...]
    runner: str | None
    python: str | None
    import_path: tuple[str, ...]
    only: tuple[str, ...]
    name: str | None
    licence: str | None
    bundle: bool
    proofs: int
    timeout: float | None
    out: Path
    workers: int
    isolation: str
    as_json: bool


def repo_option(function: _Function) -> _Function:
    """`--repo`."""
    return click.option(
        "--repo", required=True, metavar="PATH|URL", help="The repository: a folder, a git URL, or OWNER/NAME."
    )(function)


def task_options(own_tests: str, runners: Sequence[str]) -> Callable[[_Function], _Function]:
    """Everything else but the commit with the change.

    Args:
        own_tests: The word for the tests of the change itself.
        runners: What may run tests.
    """

    def add(function: _Function) -> _Function:
        for option in reversed(
            [
                click.option("--base", metavar="REV", help="The commit before it.  [default: its first parent]"),
                click.option("--tests", multiple=True, default=(own_tests,), show_default=True,
                             metavar=f"FILE|{own_tests}",
                             help="Hidden tests: a file (may be repeated), or those that the change adds or alters."),
                click.option("--runner", type=click.Choice(runners),
                             help="What runs the hidden tests: `repository` runs the change's own as its maintainers "
                             "do.  [default: repository; pytest for files]"),
                click.option("--requirement", "requirements", multiple=True, metavar="NAME|@FILE",
                             help="A package that tests, linters or repository need, or a file of them, besides what "
                             "the repository itself says."),
                click.option("--python", metavar="VERSION",
                             help="Release line of Python; the lowest one for files.  [default: as the repository "
                             "says, or 3.11]"),
                click.option("--import-path", multiple=True, metavar="DIR",
                             help="Folder of the repository to import from.  [default: its root, and src]"),
                click.option("--only", multiple=True, metavar="GLOB",
                             help="Only these files of the change; may be repeated."),
                click.option("--id", "name", metavar="ID", help="The task's id.  [default: repository and commit]"),
                click.option("--licence", help="The repository's licence.  [default: as its files say]"),
                click.option("--bundle", is_flag=True, help="Store the files of the base commit with the task."),
                click.option("--proofs", type=click.IntRange(1, 1000), default=3, show_default=True, metavar="N",
                             help="How often the tests run at the base, and with the change."),
                click.option("--timeout", type=FiniteRange(0, 86400, min_open=True), metavar="S",
                             help="Seconds the tests may take in one run.  [default: by what they take, or 60]"),
                click.option("--out", type=PATH, default=Path("suite"), show_default=True, metavar="DIR",
                             help="Folder of tasks, or a suite's folder."),
                workers_option,
                isolation_option,
                json_option,
            ]
        ):  # fmt: skip
            function = option(function)
        return function

    return add


def make(
    solution: str, instruction: str | None, wanted: ConstructOptions, own_tests: str, proposal: Proposal | None = None
) -> NoReturn:
    """Make the task, tell what became of it, and leave: with 0 when there is one, else with 1."""
    from repoassay.construct import TaskRequest, construct_commit
    from repoassay.sandbox import Cache, open_sandbox

    tests = _tests(wanted["tests"], own_tests)
    runner, why = (wanted["runner"], "") if wanted["runner"] else _runner(tests)
    request = TaskRequest(
        repository=wanted["repo"],
        solution=solution,
        base=wanted["base"],
        tests=tests,
        instruction=instruction,
        requirements=tuple(map(given_text, wanted["requirements"])),
        python=wanted["python"],
        id=wanted["name"],
        only=wanted["only"],
        import_path=wanted["import_path"],
        seconds=wanted["timeout"],
        licence=wanted["licence"],
        bundle=wanted["bundle"],
        proposal=proposal,
        runner=cast("Literal['repository', 'pytest', 'node']", runner),
    )
    cache = Cache()
    sandbox = open_sandbox(wanted["isolation"], cache)
    with Telling(quiet=wanted["as_json"]) as telling:
        if why:
            telling.say(why)
        result = construct_commit(
            request, wanted["out"], cache, sandbox, times=wanted["proofs"], workers=wanted["workers"],
            step=telling.step, done=telling.done,
        )  # fmt: skip
    print_json(result, request) if wanted["as_json"] else print_made(result, wanted["out"])
    raise SystemExit(0 if result.folder else 1)


def _runner(tests: tuple[Path, ...] | None) -> tuple[str, str]:
    """What runs the tests where nobody said, and why it is not what one would expect."""
    from repoassay.workspace import how_to_get, release_lines

    if tests:
        return "pytest", ""
    if release_lines():
        return "repository", ""
    line = ".".join(platform.python_version_tuple()[:2])
    remedy = f"To run them as its maintainers do: {how_to_get(line).removeprefix('Run: ')}"
    return "pytest", (
        "This machine has no Python but the system's, from which no environment of the repository's own can be made, so"
        f" its test files run by themselves. {remedy}"
    )


def _tests(values: tuple[str, ...], own_tests: str) -> tuple[Path, ...] | None:
    from repoassay.errors import BadInput

    if own_tests not in values:
        return tuple(map(Path, values))
    if set(values) != {own_tests}:
        raise BadInput(f"--tests names {own_tests} beside files.", "Give either.")
    return None
