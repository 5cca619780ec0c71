"""Whether the server of a model lets us in: asked for its list, and for a few tokens."""

from __future__ import annotations

import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from repoassay.errors import BadInput
from repoassay.model_proxy.client import BudgetSpent, NoAnswer, UnreadableAnswer, costs_nothing, open_model
from repoassay.model_proxy.limits import CallLimits
from repoassay.model_proxy.upstreams import Upstream, split_model
from repoassay.model_proxy.vendors import VENDORS
from repoassay.records import JOURNAL, read_calls
from repoassay.sandbox import temporary_folder
from repoassay.text import printable, suggest
from repoassay.types import Call, is_local

__all__ = ["NOT_SERVED", "ask_once", "check_reachable"]

_PATIENCE = 4.0
"""Seconds without a byte; a server that is slow is not down."""
_PATIENCE_ANSWER = 60.0
"""The same for an answer: a server of this machine may load its model first."""
_TOKENS = 16  # OpenAI's responses take no smaller limit
_LARGEST = 8 * 2**20
NOT_SERVED = (404, 405, 501)
"""Statuses by which a server says that it has no such model, or no such dialect."""
_SKIP = "`--no-preflight` skips this look."


def check_reachable(upstream: Upstream, model: str, dialects: Collection[str] = ()) -> None:
    """Knock at the server of a model: ask for its list, then for a few tokens in every dialect it will be asked in.

    Only what is certain refuses: nobody listens, the key does not hold, nothing is left to spend, or such a model or
    dialect is not served. What is slow, limits or fails for another reason is left to the run, which waits and tries
    again.

    Args:
        upstream: Where it is; its key is sent to it.
        model: `provider/name`.
        dialects: What the agents that will ask it speak; empty for the upstream's own first.

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
        raise _no_key(upstream, model, status)
    known = _names(body) if status == 200 else ()
    spoken = {dialect if dialect in upstream.dialects else "" for dialect in dialects} or {""}
    for dialect in sorted(spoken):
        call = ask_once(upstream, model, dialect)
        if call is not None and call.fault:
            _judge(upstream, model, call, known)


def ask_once(upstream: Upstream, model: str, dialect: str = "") -> Call | None:
    """Ask a model for a few tokens, without trying again; returns the journal's line, None where there is none.

    Args:
        upstream: Where it is.
        model: `provider/name`.
        dialect: In which of the upstream's dialects; empty for its first.
    """
    if dialect:
        upstream = upstream.model_copy(update={"dialects": (dialect,)})
    with temporary_folder("preflight") as place:
        journal = Path(place, JOURNAL)
        limits = CallLimits(settle=0.5, retries=0)
        with (
            open_model(model, [upstream], journal, name="preflight", limits=limits) as client,
            suppress(NoAnswer, UnreadableAnswer, BudgetSpent),
        ):
            client.ask("", "Hi", max_tokens=_TOKENS, patience=_PATIENCE_ANSWER)
        return next(iter(read_calls(journal).calls), None)


def _judge(upstream: Upstream, model: str, call: Call, known: tuple[str, ...]) -> None:
    """Refuse a model whose server said what it would say to every call.

    Raises:
        BadInput: It did.
    """
    name, message = split_model(model)[1], printable(_message(call.detail), 200)
    if call.fault == "credentials":
        raise _no_key(upstream, model, None)
    if call.fault == "quota":
        raise BadInput(f"The server of {model} says that nothing is left to spend ({message}).", f"Add money. {_SKIP}")
    if call.fault == "rejected" and call.status in NOT_SERVED:
        if known and name not in known:
            raise BadInput(
                f"The server at {upstream.base_url} has no model {name!r} (status {call.status}, {message}).",
                f"{suggest(name, known)} {_SKIP}",
            )
        raise BadInput(
            f"The server at {upstream.base_url} does not serve {model} in {call.dialect} (status {call.status}, "
            f"{message}).",
            f"Check base_url and dialects of the upstream {upstream.name!r}, and the model's name. {_SKIP}",
        )
    if call.fault in ("wrong_type", "malformed", "redirect") and not known:
        raise BadInput(
            f"What answers at {upstream.base_url} is no server of models ({message or call.fault}).",
            f"Check base_url of the upstream {upstream.name!r}. {_SKIP}",
        )


def _no_key(upstream: Upstream, model: str, status: int | None) -> BadInput:
    status_text = "" if status is None else f" (status {status})"
    if upstream.key_env:
        return BadInput(
            f"The server of {model} refuses the key in {upstream.key_env}{status_text}.", f"Set another. {_SKIP}"
        )
    return BadInput(
        f"The server of {model} wants a key{status_text}.",
        f"Name the variable that holds it as key_env of the upstream {upstream.name!r}. {_SKIP}",
    )


def _message(body: str) -> str:
    """What an error's body says, or its beginning."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return body
    error = document.get("error", document) if isinstance(document, dict) else document
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)


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
