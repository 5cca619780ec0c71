"""A judge's way to its model: the gateway opened for it alone, with its budget and journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from repoassay.errors import BadInput
from repoassay.gateway import (
    Budget,
    Limits,
    Pass,
    Prices,
    ScriptedUpstream,
    Upstream,
    open_gateway,
    read_calls,
    split_model,
)
from repoassay.model import Spending
from repoassay.review.judges.asking import DIALECTS, ask
from repoassay.review.judges.kept import Judge
from repoassay.review.judges.sample import Asker

__all__ = ["Opened", "check_model", "open_model", "spent_before"]

_HERE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Opened:
    """`asker` asks; `totals` says what was spent since opening; `abandon` ends calls under way."""

    asker: Asker
    totals: Callable[[], Spending]
    abandon: Callable[[], None]


@contextmanager
def open_model(
    judge: Judge,
    upstreams: Iterable[Upstream | ScriptedUpstream],
    journal: Path,
    *,
    prices: Prices | None = None,
    budget: Decimal | None = None,
    limits: Limits | None = None,
) -> Iterator[Opened]:
    """Open the metered door to a judge's model.

    Args:
        judge: Whose.
        upstreams: Where models are.
        journal: Its `usage.jsonl`, appended to; what it says was spent before counts against the budget.
        prices: The price table, by default the shipped one.
        budget: Dollars the judge may spend in all.
        limits: Bounds and patience.

    Raises:
        BadInput: When the provider is unknown or speaks no dialect, its key is missing, or dollars are limited and the
            model has no price.
        MissingExtra: When the gateway's packages are not installed.
    """
    every = list(upstreams)
    check_model(judge.definition.model, every)
    dialect = _dialect(judge.definition.model, every)
    left = None if budget is None else max(Decimal(0), budget - spent_before(journal))
    with open_gateway(every, prices=prices, limits=limits or Limits(response=32 << 20, settle=1.0)) as gateway:
        entry: Pass = gateway.admit(
            f"judge-{judge.rater.id}", model=judge.definition.model, journal=journal, budget=Budget(dollars=left)
        )
        origin, parameters = gateway.origin, judge.definition.parameters

        def asker(system: str, user: str) -> str:
            return ask(entry, origin, dialect, system, user, parameters)

        def abandon() -> None:
            entry.close()

        yield Opened(asker, entry.totals, abandon)


def check_model(model: str, upstreams: Iterable[Upstream | ScriptedUpstream]) -> bool:
    """Look at what can be known of a model before anything is written down or asked.

    Returns:
        Whether asking it costs nothing: a scripted model, or a server on this machine that needs no key.

    Raises:
        BadInput: When no upstream has its provider, or the key is missing.
    """
    provider, _ = split_model(model)
    found = {each.name: each for each in upstreams}
    if provider not in found:
        if provider == "scripted":
            raise BadInput("The scripted model has nothing to say.", "Give its dialogue with --dialogue FILE.")
        raise BadInput(
            f"There is no upstream called {provider!r}; known: {', '.join(sorted(found))}.",
            "Add it to a TOML file and give it with --model-upstream FILE.",
        )
    upstream = found[provider]
    if isinstance(upstream, ScriptedUpstream):
        return True
    return not upstream.key() and urlsplit(upstream.base_url).hostname in _HERE


def spent_before(journal: Path) -> Decimal:
    """Return the dollars a journal accounts for; calls without a price count as nothing."""
    return sum((call.price for call in read_calls(journal).calls if call.price is not None), Decimal(0))


def _dialect(model: str, upstreams: list[Upstream | ScriptedUpstream]) -> str:
    found = next(each for each in upstreams if each.name == split_model(model)[0])
    if isinstance(found, ScriptedUpstream):
        return DIALECTS[0]
    return next(each for each in DIALECTS if each in found.dialects)
