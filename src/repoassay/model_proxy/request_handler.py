"""Who may pass and what for: from a raw request to one that is admitted, or refused in its vendor's words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from repoassay.model_proxy.admission import Admission
from repoassay.model_proxy.charge import charge_of, limited, need_of, no_limit
from repoassay.model_proxy.estimate import raw_estimate
from repoassay.model_proxy.exchange import Exchange, parse_bounded
from repoassay.model_proxy.forward import forward
from repoassay.model_proxy.ledger import BudgetLedger
from repoassay.model_proxy.limits import CallLimits
from repoassay.model_proxy.prices import Prices
from repoassay.model_proxy.request_rules import confine, passed_on
from repoassay.model_proxy.request_rules.parts import JsonObject, Outside
from repoassay.model_proxy.sessions import AS_ASKED, AttemptSession
from repoassay.model_proxy.upstream_client import UpstreamClient, UpstreamRequest
from repoassay.model_proxy.vendors import VENDORS, Asks, ProviderTrouble, Route, Vendor, guess, recognise

if TYPE_CHECKING:
    from repoassay.model_proxy.translation import Translator

__all__ = ["RequestHandler"]

_BODY_TIME = 120.0
_LARGE = 8 << 20
"""Bytes of a body of which few are held at a time: parsed and written anew it takes six times its size."""
_UNPRICED = "what the vendor may charge beside tokens is unknown: "


class RequestHandler:
    """Handles requests on the model proxy's loop."""

    def __init__(
        self, limits: CallLimits, prices: Prices, run: BudgetLedger, orphans: Callable[[Exchange], None]
    ) -> None:
        self.limits = limits
        self.prices = prices
        self.run = run
        self.passes: dict[str, AttemptSession] = {}
        """Every open session, by its token and by its key."""
        self.wires: dict[str, UpstreamClient] = {}
        self._orphans = orphans
        self._admission = Admission()
        self._places: dict[str, asyncio.Semaphore] = {}
        self._large = asyncio.Semaphore(8)

    def place(self, wire: UpstreamClient) -> asyncio.Semaphore:
        """The places of one upstream."""
        if wire.name not in self._places:
            self._places[wire.name] = asyncio.Semaphore(wire.concurrency or 1 << 30)
        return self._places[wire.name]

    async def handle(self, request: web.BaseRequest, bound: AttemptSession | None) -> web.StreamResponse:
        """Answer one request. `bound`: the one session that may come through this listener, None for any."""
        path, entry, why = self._who(request, bound)
        exchange = Exchange(request, path, entry or bound)
        task = asyncio.current_task()
        if exchange.entry is not None and task is not None:
            exchange.entry.tasks.add(task)
        try:
            return await self._answer(exchange, why)
        except asyncio.CancelledError:
            exchange.fault = exchange.fault or "closed"
            raise
        except Exception as error:  # noqa: BLE001 - our own mistake must be told as ours and stop one request only
            exchange.fault, exchange.detail = "gateway", type(error).__name__
            if exchange.status is not None and request.transport is not None:
                request.transport.close()
            return exchange.error(
                (exchange.dialect or VENDORS["chat"]).refuse(ProviderTrouble.UPSTREAM, "The gateway failed.")
            )
        finally:
            await self._finish(exchange, task)

    async def _finish(self, exchange: Exchange, task: asyncio.Task[object] | None) -> None:
        entry = exchange.entry
        if entry is None:
            self._orphans(exchange)
            return
        if task is not None:
            entry.tasks.discard(task)
        call = await exchange.finish(self.prices)
        if entry.recorder is not None and call.answered:
            entry.recorder.note(call, bytes(exchange.kept))
        answers = call.answered and exchange.route is not None and exchange.route.asks is Asks.REPLY
        if entry.steps is not None and answers:
            entry.steps.note(call, exchange.raw, bytes(exchange.kept))

    def _who(self, request: web.BaseRequest, bound: AttemptSession | None) -> tuple[str, AttemptSession | None, str]:
        """The path without its secret, the session, and why there is none."""
        if not request.raw_path.startswith("/"):  # the target as it came; the parsed one has lost its beginning
            return "/[elsewhere]", None, "This is a gateway to models, not a proxy."
        head, _, tail = request.rel_url.raw_path.removeprefix("/").partition("/")
        by_path = self.passes.get(head)
        path = f"/{tail}" if by_path is not None else request.rel_url.raw_path
        keys = {vendor.key(request.headers, request.query) for vendor in VENDORS.values()}
        by_key = {entry for key in keys if (entry := self.passes.get(key)) is not None}
        claimed = by_key | ({by_path} if by_path is not None else set())
        if len(claimed) > 1 or (bound is not None and claimed - {bound}):
            return path, None, "This path or key belongs to another attempt."
        if not claimed and bound is not None and path == "/" and request.method in {"HEAD", "GET"}:
            return path, bound, ""  # a look whether somebody is there, which Claude Code takes before it has a key
        if not claimed:
            return "/[unknown]", None, "No attempt has this path or key."
        entry = claimed.pop()
        return path, entry, "This attempt is over." if entry.closed else ""

    async def _answer(self, exchange: Exchange, why: str) -> web.StreamResponse:
        request, entry = exchange.request, exchange.entry
        headers = request.headers
        if why or entry is None:
            return exchange.refuse(guess(exchange.path, headers), ProviderTrouble.NO_PASS, why)
        found = recognise(request.method, exchange.path, request.query)
        if found is None:
            return exchange.refuse(
                guess(exchange.path, headers),
                ProviderTrouble.NOT_FOUND,
                f"{request.method} {exchange.path[:200]} is not served here.",
            )
        exchange.dialect, exchange.route = dialect, route = found
        if route.asks is Asks.HELLO:
            return exchange.reply(200, b"")
        if route.asks is Asks.MODELS:
            names = [entry.model] if entry.model != AS_ASKED else []
            return exchange.reply(200, orjson.dumps(guess(exchange.path, headers).models(names)))
        if entry.inflight >= self.limits.concurrency:
            return exchange.refuse(dialect, ProviderTrouble.BUSY, f"More than {self.limits.concurrency} calls at once.")
        entry.inflight += 1
        watching = asyncio.create_task(exchange.watch())
        try:
            async with AsyncExitStack() as held:
                return await self._call(exchange, entry, dialect, route, held)
        except orjson.JSONEncodeError:
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, "The body is nested too deeply.")
        finally:
            watching.cancel()
            entry.inflight -= 1

    async def _call(
        self, exchange: Exchange, entry: AttemptSession, dialect: Vendor, route: Route, held: AsyncExitStack
    ) -> web.StreamResponse:
        body = await self._body(exchange, entry, dialect, held)
        if isinstance(body, web.Response):
            return body
        exchange.begin()
        if not isinstance(body.get("stream"), bool | None):  # one that we read as false, and the vendor as true
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, "'stream' is neither true nor false.")
        request_body = dict(body)
        wire = self.wires[entry.upstream]
        exchange.asked = route.model or str(body.get("model", ""))
        exchange.served = entry.served_model(exchange.asked)
        if not exchange.served:
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, "'model' is no name of a model.")
        exchange.stream = dialect.streams(body, route)
        foreign = dialect.name not in wire.dialects
        if foreign and not wire.translate:
            message = (
                f"The upstream {wire.name} does not speak {dialect.name}; it speaks {', '.join(sorted(wire.dialects))}."
            )
            exchange.fault = "dialect"
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, message)
        if refusal := self._outside(exchange, entry, dialect, body, foreign=foreign):
            return refusal
        if foreign:
            return await self._translate(exchange, entry, wire, dialect, route, body)
        dialect.change(body, route, exchange.served)
        # Written anew: of a name that stands twice, the vendor might read another than we did.
        ask = UpstreamRequest(
            dialect, route, exchange.served, body, orjson.dumps(body), entry.attempt, exchange.stream,
            passed_on(exchange.request.headers, closed=entry.closed_world),
        )  # fmt: skip
        return await self._estimated(exchange, entry, wire, ask, request_body)

    async def _translate(
        self, exchange: Exchange, entry: AttemptSession, wire: UpstreamClient, dialect: Vendor, route: Route,
        body: JsonObject,
    ) -> web.StreamResponse:  # fmt: skip
        """Ask an upstream of another dialect; a request to count tokens is answered by an estimate."""
        from repoassay.model_proxy.translation import UNREADABLE, Untranslatable, Upstreams, begin

        how = Upstreams(wire.output_field, wire.reasoning)
        try:
            translator = begin(dialect.name, body, wire.dialects, exchange.served, how, stream=exchange.stream)
        except (Untranslatable, Outside) as error:
            exchange.fault = "dialect"
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, str(error))
        except UNREADABLE:
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, f"The body is no request in {dialect.name}.")
        exchange.spoken, exchange.dropped = translator.spoken, translator.dropped
        if route.asks is Asks.COUNT:
            count = entry.estimator.correct(raw_estimate(body))
            return exchange.reply(200, orjson.dumps(dialect.token_count(count)))
        theirs, onward = VENDORS[translator.spoken], Route(Asks.REPLY, exchange.served, exchange.stream)
        theirs.change(translator.body, onward, exchange.served)
        ask = UpstreamRequest(
            theirs, onward, exchange.served, translator.body, orjson.dumps(translator.body), entry.attempt,
            exchange.stream, {"content-type": "application/json", **theirs.client_headers}, translator.set_limit,
        )  # fmt: skip
        return await self._estimated(exchange, entry, wire, ask, translator.body, translator)

    async def _estimated(
        self, exchange: Exchange, entry: AttemptSession, wire: UpstreamClient, ask: UpstreamRequest, fields: JsonObject,
        translator: Translator | None = None,
    ) -> web.StreamResponse:  # fmt: skip
        dialect, route, body = exchange.dialect or ask.dialect, ask.route, ask.body
        if route.asks is Asks.COUNT:
            if spent := entry.ledger.spent() or self.run.spent():
                return self._spent(exchange, entry, dialect, spent)
            return await forward(exchange, wire, ask, fields, self.limits, (entry.ledger, self.run))
        estimates = entry.context_window is not None or self._must_estimate(entry)
        estimate = raw_estimate(body) if estimates else 0.0
        if refusal := self._too_long(exchange, entry, dialect, entry.estimator.correct(estimate)):
            return refusal
        return await self._metered(exchange, entry, wire, ask, fields, estimate, translator)

    def _outside(
        self, exchange: Exchange, entry: AttemptSession, dialect: Vendor, body: JsonObject, *, foreign: bool
    ) -> web.Response | None:
        """Hold a request to the model alone, which is all another dialect could say; under an open policy say what of
        it has no price.
        """
        if entry.closed_world or foreign:
            found = confine(dialect.confine, body, () if foreign else self.wires[entry.upstream].allow)
            exchange.left_out = found.left_out
            if found.granted:
                exchange.unpriced = _UNPRICED + ", ".join(found.granted)
            return exchange.refuse(dialect, ProviderTrouble.OUTSIDE, found.refused) if found.refused else None
        found = confine(dialect.confine, orjson.loads(exchange.raw))
        reason = found.refused.partition(" is not available")[0] or ", ".join(found.left_out)
        exchange.unpriced = _UNPRICED + reason if reason else ""
        return None

    async def _metered(
        self,
        exchange: Exchange,
        entry: AttemptSession,
        wire: UpstreamClient,
        ask: UpstreamRequest,
        request_body: JsonObject,
        estimate: float,
        translator: Translator | None,
    ) -> web.StreamResponse:
        ledgers = (entry.ledger, self.run)
        model = f"{entry.upstream}/{exchange.served}"
        watched = self._must_estimate(entry)
        likely = entry.estimator.correct(estimate)
        reaches_out = bool(exchange.unpriced)
        need = no_limit()
        if watched:
            need = need_of(ask, likely, self.prices, model, exchange.at, reaches_out=reaches_out)
        allowed = await self._admission.enter(ledgers, need)
        if isinstance(allowed, str):
            return self._spent(exchange, entry, exchange.dialect or ask.dialect, allowed)
        try:
            if watched:
                ask = limited(ask, need, allowed, wire.output_field)
            async with self.place(wire):
                return await forward(exchange, wire, ask, request_body, self.limits, ledgers, translator)
        finally:
            if exchange.usage is not None:
                entry.estimator.learn(estimate, exchange.usage.input)
            price = exchange.cost(self.prices, model).dollars
            if exchange.answered and price is None and not need.priced:
                for ledger in ledgers:
                    ledger.lose_count()
            await self._admission.leave(ledgers, need, charge_of(exchange, need, allowed, price))

    def _must_estimate(self, entry: AttemptSession) -> bool:
        budgets = (entry.ledger.budget, self.run.budget)
        return any(one.tokens is not None or one.dollars is not None for one in budgets)

    def _spent(self, exchange: Exchange, entry: AttemptSession, dialect: Vendor, why: str) -> web.Response:
        entry.exhaust(why)
        return exchange.refuse(dialect, ProviderTrouble.BUDGET, why)

    def _too_long(self, exchange: Exchange, entry: AttemptSession, dialect: Vendor, prompt: int) -> web.Response | None:
        window = entry.context_window
        if window is None or prompt <= window:
            entry.too_long = 0
            return None
        entry.too_long += 1
        if entry.too_long > 1:
            entry.exhaust(f"Two prompts in a row exceeded the context window of {window} tokens.")
        return exchange.refuse(dialect, ProviderTrouble.CONTEXT, dialect.too_long(prompt, window))

    async def _body(
        self, exchange: Exchange, entry: AttemptSession, dialect: Vendor, held: AsyncExitStack
    ) -> JsonObject | web.Response:
        """The request's body; a large one takes a place in `held`, for what it holds while it is answered."""
        data = bytearray()
        try:
            async with asyncio.timeout(_BODY_TIME) as clock:
                async for chunk in exchange.request.content.iter_any():
                    if len(data) <= _LARGE < len(data) + len(chunk):
                        clock.reschedule(None)
                        await held.enter_async_context(entry.large)
                        clock.reschedule(asyncio.get_running_loop().time() + _BODY_TIME)
                    data += chunk
                    if len(data) > self.limits.request:
                        response = exchange.refuse(
                            dialect, ProviderTrouble.TOO_LARGE, f"More than {self.limits.request} bytes."
                        )
                        response.force_close()
                        return response
            if len(data) > _LARGE:  # once it is whole, so that who sends slowly takes the place of no other attempt
                await held.enter_async_context(self._large)
            exchange.raw = bytes(data)
            body = parse_bounded(exchange.raw)
        except OverflowError:
            return exchange.refuse(dialect, ProviderTrouble.TOO_LARGE, "The body is made of too many values.")
        except (orjson.JSONDecodeError, TimeoutError, web.RequestPayloadError):
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, "The body is not whole JSON.")
        if not isinstance(body, dict):
            return exchange.refuse(dialect, ProviderTrouble.BAD_REQUEST, "The body is not a JSON object.")
        return body
