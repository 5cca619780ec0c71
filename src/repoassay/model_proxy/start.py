"""Opening the model proxy, where what it needs is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repoassay.errors import MissingExtra

if TYPE_CHECKING:
    from repoassay.model_proxy.server import Gateway

__all__ = ["check_extra", "open_gateway"]


def check_extra() -> None:
    """Make sure that what the model proxy needs is installed.

    Raises:
        MissingExtra: aiohttp or orjson is not.
    """
    for package in ("aiohttp", "orjson"):
        try:
            __import__(package)
        except ImportError as error:
            raise MissingExtra(package, "agents") from error


def open_gateway(*arguments: Any, **settings: Any) -> Gateway:
    """Make a `repoassay.model_proxy.server.Gateway`; takes what it takes.

    Raises:
        MissingExtra: aiohttp or orjson is not installed.
    """
    check_extra()
    from repoassay.model_proxy.server import Gateway

    return Gateway(*arguments, **settings)
