"""The model proxy itself: a loop in a thread of the harness, its listeners, and the sessions it has open."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from aiohttp import web

from repoassay.errors import BadInput, InfraFault
from repoassay.model_proxy.exchange import Exchange
from repoassay.model_proxy.http_wire import HttpWire
from repoassay.model_proxy.journal import CallJournal
from repoassay.model_proxy.ledger import BudgetLedger
from repoassay.model_proxy.limits import Budget, CallLimits
from repoassay.model_proxy.prices import Prices
from repoassay.model_proxy.record import CallRecorder
from repoassay.model_proxy.request_handler import RequestHandler
from repoassay.model_proxy.scripted_provider import ScriptedUpstream, ScriptedWire
from repoassay.model_proxy.sessions import AttemptSession
from repoassay.model_proxy.step_recorder import StepRecorder
from repoassay.model_proxy.upstream_client import UpstreamClient
from repoassay.model_proxy.upstreams import Upstream, split_model
from repoassay.model_proxy.vendors import VENDORS
from repoassay.package_proxy import LoopThread
from repoassay.types import Usage

__all__ = ["Gateway"]

_BACKLOG = 1024
Result = TypeVar("Result")


class Gateway:
    """The one way to models, for all attempts of a run. A context manager; may be used from any thread.

    Args:
        upstreams: Where models are; `known_upstreams()` has the vendors'. Keys are read when first needed.
        prices: The price table, by default the shipped one.
        limits: Bounds on sizes, waiting and retries.
        budget: What the whole run may spend.
        journal: File for requests that belong to no attempt; they are only counted when there is none.
        listen: Whether to listen on the host's loopback, for runs without a network namespace.
    """

    def __init__(
        self,
        upstreams: Iterable[Upstream | ScriptedUpstream],
        *,
        prices: Prices | None = None,
        limits: CallLimits | None = None,
        budget: Budget | None = None,
        journal: Path | None = None,
        listen: bool = True,
    ) -> None:
        self.limits = limits or CallLimits()
        self.prices = prices or Prices.shipped()
        self.strangers = 0  # requests that belonged to no attempt
        self.run = BudgetLedger(budget or Budget(), "run")
        self._upstreams = {upstream.name: upstream for upstream in upstreams}
        self._journal = CallJournal(journal) if journal is not None else None
        self._listen = listen
        self._runners: dict[AttemptSession | None, list[web.ServerRunner]] = {}
        self._thread: LoopThread | None = None
        self._door: RequestHandler | None = None
        self._port = 0

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT` of the host's loopback.

        Raises:
            InfraFault: It does not listen there.
        """
        if not self._port:
            raise InfraFault("The gateway does not listen on the host's loopback.")
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        self._thread = LoopThread("gateway")
        try:
            self._wait(self._start())
        except BaseException:
            self._thread.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._wait(self._end())
        if self._thread is not None:
            self._thread.stop()
        if self._journal is not None:
            self._journal.close()

    def admit(
        self,
        attempt: str,
        *,
        model: str,
        journal: Path,
        budget: Budget | None = None,
        context_window: int | None = None,
        keep_bodies: bool = False,
        record: Path | None = None,
        steps: Path | None = None,
        closed_world: bool = True,
        on_exhausted: Callable[[str], None] | None = None,
    ) -> AttemptSession:
        """Let an attempt in.

        Args:
            attempt: Its id.
            model: `provider/name`; whatever the agent asks for is sent there. `provider/*` sends each call to the
                model of that provider which it names itself.
            journal: Its `usage.jsonl`, appended to.
            budget: What it may spend; wall time counts from now.
            context_window: The longest prompt, tokens; longer ones get the vendor's own error.
            keep_bodies: Whether to keep bodies, compressed, in `usage.bodies/`.
            record: File to write a dialogue to, for the scripted upstream, when the session is closed.
            steps: File to write what is said to, step by step, while the attempt works; see `StepRecorder`.
            closed_world: Whether the attempt may reach its model alone: what the vendor would do for it beyond
                answering is refused or taken out. Without it such requests pass, and the journal says what has no
                price.
            on_exhausted: Called once, on the model proxy's thread, with a sentence; must return at once.

        Raises:
            BadInput: The provider is unknown, its key is missing, or dollars are limited and the model has no price.
        """
        budget = budget or Budget()
        provider, name = split_model(model)
        wire = self._wait(self._wire(provider))
        if wire.translate and set(VENDORS) - wire.dialects:
            import repoassay.model_proxy.translation  # noqa: F401 - here, not while the loop answers the first call
        if self.run.budget.dollars is not None or budget.dollars is not None:
            cost = self.prices.cost(model, Usage(), datetime.now(UTC))
            if cost.dollars is None and not wire.tells_cost:
                raise BadInput(
                    f"A budget in dollars needs a price for {model} ({cost.note}).",
                    "Give a price table that has it, or say tells_cost = true of an upstream whose answers do.",
                )
        calls = CallJournal(journal, [wire.secret])
        entry = AttemptSession(
            self, attempt=attempt, upstream=provider, model=name, budget=budget, journal=calls,
            context_window=context_window, keep_bodies=keep_bodies,
            recorder=CallRecorder(record) if record is not None else None,
            steps=StepRecorder(steps, calls.scrub) if steps is not None else None, closed_world=closed_world,
            on_exhausted=on_exhausted,
        )  # fmt: skip
        calls.hide(entry.key, entry.token)
        self._wait(self._enter(entry))
        return entry

    def serve(self, listening: socket.socket, entry: AttemptSession) -> None:
        """Serve one attempt on a socket that already listens, such as one inside its sandbox's network.

        Takes the socket over and closes it with the session. Requests there with another attempt's path or key are
        refused.
        """
        listening.setblocking(False)
        self._wait(self._site(listening, entry))

    def close_pass(self, entry: AttemptSession) -> None:
        """See `AttemptSession.close`."""
        if not entry.closed:
            entry.closed = True
            self._wait(self._leave(entry))

    async def _start(self) -> None:
        self._door = RequestHandler(self.limits, self.prices, self.run, self._stranger)
        if self._listen:
            listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
            self._port = listening.getsockname()[1]
            listening.setblocking(False)
            await self._site(listening, None)

    async def _end(self) -> None:
        door = self._open_door()
        for entry in set(door.passes.values()):
            entry.closed = True
            await self._leave(entry)
        for runner in self._runners.pop(None, []):
            await runner.cleanup()
        for wire in door.wires.values():
            await wire.close()

    async def _wire(self, provider: str) -> UpstreamClient:
        door = self._open_door()
        if provider not in door.wires:
            upstream = self._upstreams.get(provider)
            if upstream is None:
                known = ", ".join(sorted(self._upstreams)) or "none"
                raise BadInput(
                    f"There is no upstream called {provider!r}; known: {known}.", "Add it to a file of upstreams."
                )
            if isinstance(upstream, ScriptedUpstream):
                door.wires[provider] = ScriptedWire(upstream, self.limits.idle)
            else:
                door.wires[provider] = HttpWire(upstream, upstream.key(), self.limits)
        return door.wires[provider]

    async def _enter(self, entry: AttemptSession) -> None:
        door = self._open_door()
        door.passes[entry.token] = door.passes[entry.key] = entry
        for ledger in (entry.ledger, self.run):
            if (left := ledger.remaining()) is not None:
                asyncio.get_running_loop().call_later(left + 0.01, _time_is_over, entry, ledger)

    async def _leave(self, entry: AttemptSession) -> None:
        door = self._open_door()
        door.passes.pop(entry.token, None)
        door.passes.pop(entry.key, None)
        for _ in range(int(self.limits.settle / 0.02)):
            if not entry.inflight:
                break
            await asyncio.sleep(0.02)
        for runner in self._runners.pop(entry, []):
            await runner.cleanup()
        for task in list(entry.tasks):
            task.cancel()
        if entry.tasks:
            await asyncio.wait(list(entry.tasks), timeout=2)
        if entry.recorder is not None:
            entry.recorder.write()
        if entry.steps is not None:
            await asyncio.to_thread(entry.steps.close)
        entry.journal.close()

    async def _site(self, listening: socket.socket, bound: AttemptSession | None) -> None:
        door = self._open_door()
        server = web.Server(partial(door.handle, bound=bound), access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        await web.SockSite(runner, listening, backlog=_BACKLOG).start()
        self._runners.setdefault(bound, []).append(runner)

    def _stranger(self, exchange: Exchange) -> None:
        self.strangers += 1
        if self._journal is not None and self.strangers <= 10_000:
            self._journal.append(exchange.call(self.prices))

    def _open_door(self) -> RequestHandler:
        if self._door is None:
            raise InfraFault("The gateway is not open.", "Use it as a context manager.")
        return self._door

    def _wait(self, work: Coroutine[object, object, Result]) -> Result:
        if self._thread is None:
            work.close()
            raise InfraFault("The gateway is not open.", "Use it as a context manager.")
        return self._thread.run(work)


def _time_is_over(entry: AttemptSession, ledger: BudgetLedger) -> None:
    if not entry.closed and (why := ledger.spent()):
        entry.exhaust(why)
