"""The metered door to models: one loopback server through which every agent reaches every model.

It admits attempts, speaks four wire dialects, forwards to the configured upstream, and accounts for every token, call
and dollar; the real keys stay on this side. It knows nothing of agents, grading, runs or stores: who asks is an
attempt's id, and what was spent is a journal and totals.

`open_gateway` needs aiohttp and orjson, which the extra `agents` brings; everything else here works without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repoassay.errors import MissingExtra
from repoassay.gateway.dialogue import Dialogue, Turn, read_dialogue
from repoassay.gateway.journal import CallJournal
from repoassay.gateway.limits import Budget, Limits
from repoassay.gateway.passes import Pass
from repoassay.gateway.price import Price
from repoassay.gateway.prices import Cost, Prices
from repoassay.gateway.scripted import ScriptedUpstream
from repoassay.gateway.upstreams import Upstream, known_upstreams, split_model

if TYPE_CHECKING:
    from repoassay.gateway.server import Gateway

__all__ = [
    "Budget", "CallJournal", "Cost", "Dialogue", "Limits", "Pass", "Price", "Prices",
    "ScriptedUpstream", "Turn", "Upstream", "known_upstreams", "open_gateway", "read_dialogue",
    "split_model",
]  # fmt: skip


def open_gateway(*arguments: Any, **settings: Any) -> Gateway:
    """Make a `repoassay.gateway.server.Gateway`; takes what it takes.

    Raises:
        MissingExtra: aiohttp or orjson is not installed.
    """
    for package in ("aiohttp", "orjson"):
        try:
            __import__(package)
        except ImportError as error:
            raise MissingExtra(package, "agents") from error
    from repoassay.gateway.server import Gateway

    return Gateway(*arguments, **settings)
