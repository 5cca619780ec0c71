"""What the commands of `gittaskbench` share: options, and printing that never stops the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from repoassay.exits import discard_output

__all__ = ["is_verbose", "show", "suite_option", "task_ids", "tell", "verbose_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _set_verbose(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.find_root().meta["verbose"] = True


def verbose_option(function: _Function) -> _Function:
    """`-v`."""
    return click.option(
        "-v", "--verbose", is_flag=True, expose_value=False, callback=_set_verbose,
        help="Show every comment; may stand before or after the command.",
    )(function)  # fmt: skip


def suite_option(function: _Function) -> _Function:
    """`--suite`."""
    return click.option(
        "--suite", default="gittaskbench", show_default=True, metavar="SUITE",
        help="Whose tasks these are: a bundled suite or a folder in which you changed one.",
    )(function)  # fmt: skip


def is_verbose(ctx: click.Context) -> bool:
    """Whether `-v` was given anywhere."""
    return bool(ctx.find_root().meta.get("verbose", False))


def task_ids(suite: str) -> tuple[str, ...]:
    """Ids of a suite's tasks, which are the names of its folders, without reading any."""
    from repoassay.tasks import locate

    return tuple(sorted(folder.name for folder in locate(suite).folders))


def tell(start: str, comments: Sequence[str], *, whole: bool) -> None:
    """Print a line with the first comment, or with all comments below it."""
    from repoassay.text import printable

    if not whole:
        show(f"{start}  {printable(comments[0], 160)}".rstrip())
        return
    show(start)
    for comment in comments:
        show(f"    {printable(comment, 1000)}")


def show(text: str) -> None:
    """Print, or go on in silence: what is graded must be recorded and end in its exit code all the same."""
    try:
        click.echo(text)
    except BrokenPipeError:
        discard_output()
