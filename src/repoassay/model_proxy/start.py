"""Opening the model proxy, where what it needs is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repoassay.errors import MissingExtra

if TYPE_CHECKING:
    from repoassay.model_proxy.server import Gateway

__all__ = ["open_gateway"]


def open_gateway(*arguments: Any, **settings: Any) -> Gateway:
    """Make a `repoassay.model_proxy.server.Gateway`; takes what it takes.

    Raises:
        MissingExtra: aiohttp or orjson is not installed.
    """
    for package in ("aiohttp", "orjson"):
        try:
            __import__(package)
        except ImportError as error:
            raise MissingExtra(package, "agents") from error
    from repoassay.model_proxy.server import Gateway

    return Gateway(*arguments, **settings)
