"""What stages of curation share: the model that drafts or is probed, the day, the sandbox, what is said meanwhile."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from repoassay.cli.asked_model import asking_options, open_asked_model

__all__ = ["curate_model_options", "curation_bench", "curation_day", "open_asker", "step_printer"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_LONGEST = 32_000


def curate_model_options(function: _Function) -> _Function:
    """`--model` and where it is, what it says where it is scripted, and what may be spent on it."""
    return click.option("--model", metavar="PROVIDER/NAME", help="The model that is asked.")(asking_options(function))


@contextmanager
def open_asker(options: Mapping[str, Any], journal: Path, name: str) -> Iterator[Callable[[str, str], str]]:
    """A function that asks the model of these options once.

    Raises:
        BadInput: When no model is named, or one that costs has no budget.
    """
    from repoassay.errors import BadInput
    from repoassay.model_proxy import UnreadableAnswer

    if not options["model"]:
        raise BadInput("No model is named.", "Name one with --model PROVIDER/NAME.")
    with open_asked_model(options["model"], options, journal, name) as client:

        def ask(system: str, user: str) -> str:
            try:
                return client.ask(system, user, max_tokens=_LONGEST)
            except UnreadableAnswer as error:
                raise BadInput(str(error), "Ask again, or another model.") from error

        yield ask


def curation_day(text: str | None) -> datetime.date:
    """A day as given, or today.

    Raises:
        BadInput: When it is none.
    """
    from repoassay.curate import today
    from repoassay.errors import BadInput
    from repoassay.text import quote

    try:
        return datetime.date.fromisoformat(text) if text else today()
    except ValueError as error:
        raise BadInput(f"{quote(text or '')} is no day.", "Write YYYY-MM-DD.") from error


def curation_bench(isolation: str) -> tuple[Any, Any]:
    """The cache of this machine, and a sandbox of this kind."""
    from repoassay.sandbox import Cache, open_sandbox

    cache = Cache()
    return cache, open_sandbox(isolation, cache)


def step_printer(as_json: bool, name: str) -> Any:
    """A function that says on standard error what is being done."""

    def step(text: str) -> None:
        from repoassay.text import printable

        if not as_json:
            click.echo(f"{name}: {printable(text, 200)}", err=True)

    return step
