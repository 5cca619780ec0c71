"""The vendors' wire protocols, one class and file each; they know nothing of sockets, budgets or prices.

Another vendor is another file and another name in `VENDORS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.model_proxy.vendors.chat import Chat
from repoassay.model_proxy.vendors.gemini import Gemini
from repoassay.model_proxy.vendors.messages import Messages
from repoassay.model_proxy.vendors.protocol import (
    Asks,
    ErrorReply,
    ProviderTrouble,
    Reply,
    Route,
    ToolUse,
    Vendor,
    Watcher,
)
from repoassay.model_proxy.vendors.responses import Responses

__all__ = [
    "VENDORS",
    "Asks",
    "Chat",
    "ErrorReply",
    "Gemini",
    "Messages",
    "ProviderTrouble",
    "Reply",
    "Responses",
    "Route",
    "ToolUse",
    "Vendor",
    "Watcher",
    "guess",
    "recognise",
]  # fmt: skip

VENDORS: dict[str, Vendor] = {vendor.name: vendor for vendor in (Chat(), Messages(), Gemini(), Responses())}
"""By the name of the dialect; programs of ours speak the first that an upstream knows."""


def recognise(method: str, path: str, query: Mapping[str, str]) -> tuple[Vendor, Route] | None:
    """The vendor whose clients send such a request and what it asks for, None when no vendor knows it."""
    for vendor in VENDORS.values():
        route = vendor.route(method, path, query)
        if route is not None:
            return vendor, route
    return None


def guess(path: str, headers: Mapping[str, str]) -> Vendor:
    """The vendor in whose words an unknown request is refused."""
    return next((vendor for vendor in VENDORS.values() if vendor.resembles(path, headers)), VENDORS["chat"])
