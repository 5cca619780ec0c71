"""The user's credentials of package indexes, as they stand in addresses, in the environment and in npm's settings."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

__all__ = ["basic", "logins_of"]


def logins_of(urls: Iterable[str], env: Mapping[str, str], npm: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """`Authorization` headers by `host` or `host:port`.

    Args:
        urls: Addresses of indexes, maybe with a name and a password, maybe named (`NAME=URL`).
        env: Where uv looks for `UV_INDEX_<NAME>_USERNAME` and `_PASSWORD`.
        npm: npm's settings, with `//host/:_authToken` and `//host/:_auth`.
    """
    found: dict[str, str] = {}
    for url in urls:
        name, _, address = url.rpartition("=") if "=" in url.partition("://")[0] else ("", "", url)
        try:
            parts = urlsplit(address)
            place = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""
        except ValueError:
            continue
        variable = f"UV_INDEX_{re.sub(r'[^A-Z0-9]', '_', name.upper())}"
        user = unquote(parts.username or "") or (env.get(f"{variable}_USERNAME", "") if name else "")
        password = unquote(parts.password or "") or (env.get(f"{variable}_PASSWORD", "") if name else "")
        if place and (user or password):
            found[place] = basic(user, password)
    for key, value in npm.items():
        host, _, kind = key.removeprefix("//").rpartition(":")
        secret = re.sub(r"\$\{(\w+)\}", lambda variable: env.get(variable[1], ""), value)
        if key.startswith("//") and secret and kind in ("_authToken", "_auth"):
            found[host.partition("/")[0]] = f"{'Bearer' if kind == '_authToken' else 'Basic'} {secret}"
    return tuple(found.items())


def basic(user: str, password: str) -> str:
    """The header of a name and a password."""
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"
