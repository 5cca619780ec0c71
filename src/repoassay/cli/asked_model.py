"""Options of verbs that ask a model themselves: what it says where it is scripted, where it is, what may be spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import click

from repoassay.options import PATH

if TYPE_CHECKING:
    from pathlib import Path

    from repoassay.model_proxy import ModelClient

__all__ = ["asked_budget", "asking_options", "open_asked_model"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def asking_options(function: _Function) -> _Function:
    """`--dialogue`, `--model-upstream`, `--prices` and `--budget-usd`."""
    for option in reversed([
        click.option("--dialogue", type=PATH, metavar="FILE", help="What the models scripted/... say."),
        click.option("--model-upstream", "upstreams", multiple=True, type=PATH, metavar="FILE",
                     help="TOML file that says where models are; may be repeated."),
        click.option("--prices", multiple=True, type=PATH, metavar="FILE",
                     help="Price table put on top of the shipped one; may be repeated."),
        click.option("--budget-usd", metavar="USD", help="Dollars that may be spent; asked for of models that cost."),
    ]):  # fmt: skip
        function = option(function)
    return function


def asked_budget(model: str, options: Mapping[str, Any]) -> tuple[list[Any], Decimal | None]:
    """Where models are, and the dollars that may be spent on one; None where it costs nothing.

    Raises:
        BadInput: When the model costs and has no budget, or is nowhere.
    """
    from repoassay.engine import number
    from repoassay.errors import BadInput
    from repoassay.model_proxy import ScriptedUpstream, costs_nothing, find_upstream, known_upstreams

    known: list[Any] = list(known_upstreams(options["upstreams"]).values())
    if options["dialogue"] is not None:
        known.append(ScriptedUpstream(options["dialogue"]))
    budget = Decimal(number("budget_usd", options["budget_usd"])) if options["budget_usd"] else None
    if budget is None and not costs_nothing(find_upstream(model, known)):
        raise BadInput(f"Asking {model} costs money.", "Say how much may be spent with --budget-usd.")
    return known, budget


@contextmanager
def open_asked_model(model: str, options: Mapping[str, Any], journal: Path, name: str) -> Iterator[ModelClient]:
    """A model of these options behind the model proxy; its calls are written to the journal.

    Raises:
        BadInput: When the model costs and has no budget, or is nowhere.
    """
    from repoassay.model_proxy import Prices, open_model

    known, budget = asked_budget(model, options)
    prices = Prices.shipped(*options["prices"])
    with open_model(model, known, journal, name=name, prices=prices, budget_usd=budget) as client:
        yield client
