"""A scripted upstream behind a real socket, in the place of a vendor: for tests, and for timings of the model proxy.

It goes wrong on the wire as a vendor does: it cuts the connection, keeps silent, answers with another content type.
"""

from __future__ import annotations

import asyncio
import socket
from types import TracebackType
from typing import Any, Self

import orjson
from aiohttp import ClientConnectionError, web

from repoassay.model_proxy.dialogue import Dialogue
from repoassay.model_proxy.scripted_provider import Script, ScriptedReply
from repoassay.model_proxy.vendors import VENDORS, Asks, guess, recognise
from repoassay.package_proxy.event_loop_thread import LoopThread

__all__ = ["FakeProvider", "answer_request"]


async def answer_request(
    request: web.BaseRequest,
    script: Script,
    seen: list[dict[str, str]] | None = None,
    bodies: list[dict[str, Any]] | None = None,
) -> web.StreamResponse:
    """Answer one request out of the script; attempts are told apart by the key they come with."""
    found = recognise(request.method, request.path, request.query)
    if found is None or found[1].asks not in {Asks.REPLY, Asks.COUNT}:
        return web.Response(status=404)
    dialect, route = found
    body: dict[str, Any] = orjson.loads(await _body(request))
    key = dialect.key(request.headers, request.query)
    if seen is not None:
        seen.append({"key": key, **{name.lower(): value for name, value in request.headers.items()}})
    if bodies is not None:
        bodies.append(body)
    stream = dialect.streams(body, route)
    model = route.model or str(body.get("model", ""))
    said = script.answer(dialect.name, body, key, stream=stream, model=model)
    return await _say(request, said, stream=stream)


async def _body(request: web.BaseRequest) -> bytes:
    return b"".join([chunk async for chunk in request.content.iter_any()])


async def _say(request: web.BaseRequest, said: ScriptedReply, *, stream: bool) -> web.StreamResponse:
    if said.silence:
        await asyncio.sleep(said.silence)
    if said.cut_after == 0:
        return _cut(request, web.Response())
    if not stream and said.cut_after is None:
        return web.Response(status=said.status, headers=dict(said.headers), body=b"".join(said.parts))
    response = web.StreamResponse(status=said.status, headers=dict(said.headers))
    await response.prepare(request)
    for number, part in enumerate(said.parts):
        if number == said.cut_after:
            break
        # Half of a whole body, so that a cut of one that is not streamed leaves a part of it.
        await response.write(part if stream else part[: len(part) // 2])
    return response if said.cut_after is None else _cut(request, response)


def _cut(request: web.BaseRequest, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.close()
    return response


class FakeProvider:
    """A context manager that serves a dialogue on the host's loopback.

    Attributes:
        origin: `http://127.0.0.1:PORT`; OpenAI's base URL is that with `/v1`.
        script: What is spoken; `script.sent(key)` is what each key was told.
        seen: The headers of every request, and its key. `bodies`: what was asked. `dialects`: those it answers.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        self.script = Script(dialogue)
        self.seen: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.dialects = frozenset(VENDORS)
        self._thread: LoopThread | None = None
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.origin = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._runner: web.ServerRunner | None = None

    def __enter__(self) -> Self:
        self._thread = LoopThread("fake-provider")
        self._thread.run(self._start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._thread is not None and self._runner is not None:
            self._thread.run(self._runner.cleanup())
            self._thread.stop()

    async def _start(self) -> None:
        self._listening.setblocking(False)
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, self._listening, backlog=1024).start()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        found = recognise(request.method, request.path, request.query)
        if found is not None and found[0].name not in self.dialects:
            return web.Response(status=404)
        try:
            return await answer_request(request, self.script, self.seen, self.bodies)
        except (ConnectionError, ClientConnectionError):
            return web.Response()  # the client has gone; nobody reads this
        except (orjson.JSONDecodeError, TypeError, AttributeError):
            refusal = guess(request.path, request.headers)
            return web.Response(status=400, text=f"not of the dialect {refusal.name}")
