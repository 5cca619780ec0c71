"""Whether the server of a model lets us in: asked for its list, and for one token where that tells too little."""

from __future__ import annotations

import http.client
import json
import socket
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from repoassay.errors import BadInput
from repoassay.model_proxy.client import BudgetSpent, NoAnswer, UnreadableAnswer, costs_nothing, open_model
from repoassay.model_proxy.limits import CallLimits
from repoassay.model_proxy.upstreams import Upstream, split_model
from repoassay.model_proxy.vendors import VENDORS
from repoassay.records import JOURNAL
from repoassay.text import printable, suggest
from repoassay.types import is_local

__all__ = ["check_reachable"]

_PATIENCE = 4.0
"""Seconds without a byte; a server that is slow is not down."""
_LARGEST = 8 * 2**20
_SKIP = "`--no-preflight` skips this look."


def check_reachable(upstream: Upstream, model: str) -> None:
    """Knock at the server of a model.

    Only what is certain refuses: nobody listens, or the key does not hold. What is slow, limits or fails for another
    reason is left to the run, which waits and tries again.

    Args:
        upstream: Where it is; its key is sent to it.
        model: `provider/name`.

    Raises:
        BadInput: Calls cannot succeed.
    """
    try:
        status, body = _get(upstream)
    except OSError as error:
        reason = getattr(error, "reason", error)
        if not isinstance(reason, ConnectionRefusedError | socket.gaierror):
            return
        remedy = "Start it" if costs_nothing(upstream) else "Check the network"
        raise BadInput(
            f"Nobody answers for {model} at {upstream.base_url} ({printable(str(reason), 120)}).",
            f"{remedy}, or say where it is with --model-upstream FILE. {_SKIP}",
        ) from error
    if status in (401, 403) and upstream.key_env:
        raise BadInput(
            f"The server of {model} refuses the key in {upstream.key_env} (status {status}).",
            f"Set another. {_SKIP}",
        )
    known = _names(body) if status == 200 else ()
    name = split_model(model)[1]
    if known and name not in known and (said := _refusal(upstream, model)):
        raise BadInput(
            f"The server at {upstream.base_url} has no model {name!r} ({said}).",
            f"{suggest(name, known)} {_SKIP}",
        )


def _refusal(upstream: Upstream, model: str) -> str:
    """What the server says when it is asked for one token and does not know the model; empty otherwise."""
    with tempfile.TemporaryDirectory(prefix="repoassay-preflight-") as place:
        limits = CallLimits(settle=0.5, retries=0)
        with open_model(model, [upstream], Path(place, JOURNAL), name="preflight", limits=limits) as client:
            try:
                client.ask("", "Hi", max_tokens=1, patience=60)
            except NoAnswer as error:
                return error.message if "status 404" in error.message else ""
            except (UnreadableAnswer, BudgetSpent):
                return ""
    return ""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the key must go nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        """Leave the answer as it is."""


def _get(upstream: Upstream) -> tuple[int, bytes]:
    vendor = next(vendor for vendor in VENDORS.values() if vendor.name in upstream.dialects)
    path = {"messages": "/v1/models", "gemini": "/v1beta/models?pageSize=1000"}.get(vendor.name, "/models")
    key = upstream.key()
    headers = {**upstream.headers, **vendor.client_headers, **(vendor.sign(key) if key else {})}
    # As the model proxy does: the machine's own proxies are for what is not on this machine.
    local = is_local(urlsplit(upstream.base_url).hostname)
    opener = urllib.request.build_opener(_NoRedirect, *([urllib.request.ProxyHandler({})] if local else []))
    try:
        request = urllib.request.Request(upstream.base_url + path, headers=headers)  # noqa: S310 - http(s) is checked
        with opener.open(request, timeout=_PATIENCE) as response:
            return response.status, response.read(_LARGEST)
    except urllib.error.HTTPError as error:
        return error.code, b""
    except http.client.HTTPException:
        return 0, b""


def _names(body: bytes) -> tuple[str, ...]:
    """The names of an answer in any of the vendors' forms; none where it is something else."""
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    listed = (
        next((found[key] for key in ("data", "models") if isinstance(found.get(key), list)), ())
        if isinstance(found, dict)
        else ()
    )
    names = (item.get("id") or item.get("name") for item in listed if isinstance(item, dict))
    return tuple(str(name).removeprefix("models/") for name in names if isinstance(name, str))
