"""What stages of curation share: the model that drafts or is probed, the day, the sandbox, what is said meanwhile."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click

from repoassay.options import PATH

__all__ = ["curate_model_options", "curation_bench", "curation_day", "open_asker", "step_printer"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_LONGEST = 32_000


def curate_model_options(function: _Function) -> _Function:
    """`--model` and where it is, what it says where it is scripted, and what may be spent on it."""
    for option in reversed([
        click.option("--model", metavar="PROVIDER/NAME", help="The model that is asked."),
        click.option("--dialogue", type=PATH, metavar="FILE", help="What the models scripted/... say."),
        click.option("--model-upstream", "upstreams", multiple=True, type=PATH, metavar="FILE",
                     help="TOML file that says where models are; may be repeated."),
        click.option("--prices", multiple=True, type=PATH, metavar="FILE",
                     help="Price table put on top of the shipped one; may be repeated."),
        click.option("--budget-usd", metavar="USD", help="Dollars that may be spent; asked for of models that cost."),
    ]):  # fmt: skip
        function = option(function)
    return function


@contextmanager
def open_asker(options: Mapping[str, Any], journal: Path, name: str) -> Iterator[Callable[[str, str], str]]:
    """A function that asks the model of these options once.

    Raises:
        BadInput: When no model is named, or one that costs has no budget.
    """
    from repoassay.engine import number
    from repoassay.errors import BadInput
    from repoassay.model_proxy import (
        Prices,
        ScriptedUpstream,
        UnreadableAnswer,
        costs_nothing,
        find_upstream,
        known_upstreams,
        open_model,
    )

    model = options["model"]
    if not model:
        raise BadInput("No model is named.", "Name one with --model PROVIDER/NAME.")
    known: list[Any] = list(known_upstreams(options["upstreams"]).values())
    if options["dialogue"] is not None:
        known.append(ScriptedUpstream(options["dialogue"]))
    budget = Decimal(number("budget_usd", options["budget_usd"])) if options["budget_usd"] else None
    if budget is None and not costs_nothing(find_upstream(model, known)):
        raise BadInput(f"Asking {model} costs money.", "Say how much may be spent with --budget-usd.")
    prices = Prices.shipped(*options["prices"])
    with open_model(model, known, journal, name=name, prices=prices, budget_usd=budget) as client:

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
