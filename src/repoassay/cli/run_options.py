"""The options of `run` that say which models are asked, within which limits, and what they may cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from repoassay.options import PATH

__all__ = ["model_options", "named_commands", "places_of", "several"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def several(values: tuple[str, ...]) -> list[str]:
    """What a repeated option with commas in it names, each once."""
    return list(dict.fromkeys(part.strip() for value in values for part in value.split(",") if part.strip()))


def named_commands(lines: tuple[str, ...], names: tuple[str, ...]) -> str | dict[str, str] | None:
    """Command lines by the names reports are to show; the line alone where it has no name.

    Raises:
        BadParameter: There are not as many names as lines, or two are alike.
    """
    if not names and len(lines) < 2:
        return lines[0] if lines else None
    if len(names) != len(lines):
        counts = f"{len(lines)} command lines and {len(names)} names"
        raise click.BadParameter(f"There are {counts}; give each --agent-command a --name.", param_hint="--name")
    if len(set(names)) != len(names):
        raise click.BadParameter("Two agents have one name.", param_hint="--name")
    return dict(zip(names, lines, strict=True))


def model_options(function: _Function) -> _Function:
    """Every option of this file."""
    for option in reversed(
        [
            click.option("--model", "models", multiple=True, metavar="PROVIDER/NAME,...",
                         help="Model agents ask, such as openai/gpt-4.1; several make one entry each."),
            click.option("--sweep", "sweeps", multiple=True, metavar="NAME=V,V,...",
                         help="One entry for each value of timeout, max_iterations, max_tokens, context_window or "
                         "budget_usd; several sweeps make every combination."),
            click.option("--max-calls", "--max-iterations", "max_calls", metavar="N",
                         help="Model calls an attempt may make, whatever the agent."),
            click.option("--max-tokens", metavar="N", help="Tokens an attempt may read and write."),
            click.option("--context-window", metavar="N", help="Longest prompt in tokens; longer ones are refused."),
            click.option("--attempt-budget-usd", metavar="USD", help="Dollars an attempt may spend."),
            click.option("--budget-usd", metavar="USD", help="Dollars the whole run may spend."),
            click.option("--model-upstream", "upstreams", multiple=True, type=PATH, metavar="FILE",
                         help="TOML file that says where models are (docs/model-proxy.md); may be repeated."),
            click.option("--dialogue", type=PATH, metavar="FILE", help="What the models scripted/... say."),
            click.option("--prices", multiple=True, type=PATH, metavar="FILE",
                         help="Price table put on top of the shipped one; may be repeated."),
            click.option("--network", type=click.Choice(["none", "model", "packages", "open"]),
                         help="What agents with a model reach, instead of each task's own policy."),
            click.option("--concurrency", "concurrency", multiple=True, metavar="PROVIDER=N",
                         help="Attempts at a time that ask this provider; may be repeated."),
            click.option("--retries", type=click.IntRange(0, 10), default=1, show_default=True, metavar="N",
                         help="How often an attempt that a fault of ours spoiled is made again by itself."),
            click.option("--yes", is_flag=True, help="Spend what the plan may cost without being asked."),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def places_of(concurrency: tuple[str, ...]) -> dict[str, int]:
    """Attempts at a time by provider."""
    places = {}
    for text in several(concurrency):
        provider, equals, count = text.partition("=")
        if not equals or not count.isdigit() or int(count) < 1:
            raise click.BadParameter(f"{text!r} is not PROVIDER=N.", param_hint="--concurrency")
        places[provider] = int(count)
    return places
