"""How a program of ours asks a model: through the model proxy, as a client like any agent, with no key and no SDK."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from repoassay.errors import BadInput, InfraFault
from repoassay.model_proxy.limits import Budget, CallLimits
from repoassay.model_proxy.prices import Prices
from repoassay.model_proxy.scripted_provider import ScriptedUpstream
from repoassay.model_proxy.sessions import AttemptSession
from repoassay.model_proxy.upstreams import Upstream, split_model
from repoassay.model_proxy.vendors import VENDORS, Asks, Route, Vendor
from repoassay.model_proxy.vendors.protocol import ModelQuestion
from repoassay.text import printable
from repoassay.types import Spending, is_local

if TYPE_CHECKING:
    from repoassay.model_proxy.server import Gateway

__all__ = [
    "BudgetSpent", "ModelClient", "NoAnswer", "UnreadableAnswer", "costs_nothing", "find_upstream", "open_budgeted",
    "open_model",
]  # fmt: skip

_LARGEST = 8 * 2**20


class NoAnswer(InfraFault):
    """The upstream or the model proxy gave no answer, and nothing is known of what it would have been."""


class BudgetSpent(InfraFault):
    """The budget lets no further call through."""


class UnreadableAnswer(ValueError):
    """An answer that is not what was asked for; its text is one sentence, fit to print."""


class ModelClient:
    """One model that a program of ours asks; made by `open_model`, used from any thread."""

    def __init__(self, entry: AttemptSession, origin: str, vendor: Vendor, output_field: str) -> None:
        self._entry, self._origin, self._vendor, self._output_field = entry, origin, vendor, output_field

    def ask(
        self, system: str, user: str, *, max_tokens: int, temperature: float | None = None, patience: float = 900.0
    ) -> str:
        """Ask once.

        Args:
            system: What the model is.
            user: What it is to do.
            max_tokens: The longest answer, tokens.
            temperature: None leaves it to the vendor.
            patience: Seconds without a byte after which the call fails.

        Returns:
            The text of the answer; empty where the model said nothing.

        Raises:
            NoAnswer: When there was none, in one sentence.
            UnreadableAnswer: When there was one, and it is huge or not of its dialect: tokens were spent on it.
            BudgetSpent: When the budget lets no further call through.
        """
        # Pairs that JSON cannot carry to a vendor are shown as what they are.
        system, user = (text.encode("utf-8", "backslashreplace").decode() for text in (system, user))
        question = ModelQuestion(self._entry.model, system, user, max_tokens, temperature, self._output_field)
        status, data = self._post(json.dumps(self._vendor.question(question)).encode(), patience)
        if self._entry.exhausted.is_set() and status != 200:
            raise BudgetSpent(self._entry.why)
        if status != 200:
            raise NoAnswer(f"The model gave no answer: status {status}, {printable(_error_text(data), 200)}.")
        if len(data) > _LARGEST:
            raise UnreadableAnswer(f"The model's response is larger than {_LARGEST:,} bytes.")
        try:
            return self._vendor.read_response(json.loads(data))[0]
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            # A server may send anything with status 200; what cannot be read says nothing about what was asked.
            raise UnreadableAnswer(
                f"The model's response is not one of its dialect ({type(error).__name__})."
            ) from error

    def spending(self) -> Spending:
        """What was spent since it was opened."""
        return self._entry.totals()

    def close(self) -> Spending:
        """End calls under way and let no further one through; returns what was spent. Safe to repeat."""
        return self._entry.close()

    def _post(self, body: bytes, patience: float) -> tuple[int, bytes]:
        vendor, entry = self._vendor, self._entry
        url = vendor.url(
            entry.urls(self._origin)[vendor.name], Route(Asks.REPLY, entry.model, stream=False), entry.model
        )
        place = urlsplit(url)
        headers = {"Content-Type": "application/json", **vendor.client_headers, **vendor.sign(entry.key)}
        connection = http.client.HTTPConnection(place.hostname or "127.0.0.1", place.port, timeout=patience)
        try:
            connection.request("POST", place.path, body, headers)
            response = connection.getresponse()
            return response.status, response.read(_LARGEST + 1)
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(
                f"The model gave no answer: {printable(str(error) or type(error).__name__, 200)}."
            ) from error
        finally:
            connection.close()


@contextmanager
def open_model(
    model: str,
    upstreams: Iterable[Upstream | ScriptedUpstream],
    journal: Path,
    *,
    name: str,
    prices: Prices | None = None,
    budget_usd: Decimal | None = None,
    before: Spending | None = None,
    limits: CallLimits | None = None,
) -> Iterator[ModelClient]:
    """Open the model proxy for one program of ours and one model.

    Args:
        model: `provider/name`.
        upstreams: Where models are.
        journal: File of its calls, appended to.
        name: Who asks, as the journal has it.
        prices: The price table, by default the shipped one.
        budget_usd: Dollars it may spend; None is no limit. `before`: what was spent of them already.
        limits: Bounds and times.

    Raises:
        BadInput: When the provider is unknown, its key is missing, or dollars are limited and the model has no price.
        MissingExtra: When the model proxy's packages are not installed.
    """
    upstream = find_upstream(model, upstreams)
    limits = limits or CallLimits(response=32 << 20, settle=1.0)
    spent = [] if before is None else [before]
    with open_budgeted([upstream], budget_usd=budget_usd, before=spent, prices=prices, limits=limits) as gateway:
        client = ModelClient(
            gateway.admit(name, model=model, journal=journal), gateway.origin, _vendor(upstream),
            upstream.output_field if isinstance(upstream, Upstream) else "max_tokens",
        )  # fmt: skip
        try:
            yield client
        finally:
            client.close()


def open_budgeted(
    upstreams: Iterable[Upstream | ScriptedUpstream], *, budget_usd: Decimal | None, before: Iterable[Spending],
    **settings: Any,
) -> Gateway:  # fmt: skip
    """A model proxy that lets through what is left of a budget in dollars; else see `open_gateway`.

    Args:
        upstreams: Where models are.
        budget_usd: Dollars in all; None is no limit.
        before: Accounts of what was spent of them already; their unknown amounts count as nothing.
        settings: Of the model proxy.
    """
    from repoassay.model_proxy import open_gateway

    left = None
    if budget_usd is not None:
        left = max(budget_usd - sum((account.dollars_known for account in before), Decimal(0)), Decimal(0))
    return open_gateway(upstreams, budget=Budget(dollars=left), **settings)


def find_upstream(
    model: str, upstreams: Iterable[Upstream | ScriptedUpstream], *, with_key: bool = True
) -> Upstream | ScriptedUpstream:
    """Where a model is.

    Args:
        model: `provider/name`.
        upstreams: To choose from.
        with_key: Whether its key must be there, if it needs one.

    Raises:
        BadInput: When no upstream has its provider, or the key is missing.
    """
    provider, _ = split_model(model)
    known = {upstream.name: upstream for upstream in upstreams}
    upstream = known.get(provider)
    if upstream is None and provider == "scripted":
        raise BadInput("The scripted model has nothing to say.", "Give its dialogue with --dialogue FILE.")
    if upstream is None:
        raise BadInput(
            f"There is no upstream called {provider!r}; known: {', '.join(sorted(known))}.",
            "Add it to a TOML file, as `repoassay agents new FOLDER --endpoint URL` writes one, and give it with "
            "--model-upstream FILE.",
        )
    if with_key and isinstance(upstream, Upstream):
        upstream.key()
    return upstream


def costs_nothing(upstream: Upstream | ScriptedUpstream) -> bool:
    """Whether nobody asks for money: a scripted model, or a server on this machine that needs no key."""
    if isinstance(upstream, ScriptedUpstream):
        return True
    return not upstream.key_env and is_local(urlsplit(upstream.base_url).hostname)


def _vendor(upstream: Upstream | ScriptedUpstream) -> Vendor:
    names = upstream.dialects if isinstance(upstream, Upstream) else tuple(VENDORS)
    return next(vendor for vendor in VENDORS.values() if vendor.name in names)


def _error_text(data: bytes) -> str:
    try:
        error = json.loads(data[:20_000]).get("error")
        return str(error.get("message") if isinstance(error, dict) else error)
    except (ValueError, AttributeError, RecursionError):
        return data[:200].decode("utf-8", "replace")
