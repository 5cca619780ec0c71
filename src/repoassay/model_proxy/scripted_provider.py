"""The scripted upstream: a dialogue file answered in every dialect, in process and without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.model_proxy.dialogue import Dialogue, Fault, ToolCall, Turn, read_dialogue
from repoassay.model_proxy.estimate import raw_estimate
from repoassay.model_proxy.tool_schemas import finish_call, shell_call
from repoassay.model_proxy.upstream_client import UpstreamError, UpstreamRequest
from repoassay.model_proxy.vendors import VENDORS, Asks, ProviderTrouble, Reply, ToolUse, Vendor
from repoassay.model_proxy.vendors.protocol import RequestView
from repoassay.types import Usage

__all__ = ["Script", "ScriptedReply", "ScriptedUpstream", "ScriptedWire"]

_ASIDE = Turn(text="OK", usage=Usage(input=10, output=1))


@dataclass(slots=True)
class _State:
    at: int = 0
    faulted: int = 0
    said: int = 0
    sent: list[Usage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What the script answers: an HTTP status and head, the parts of the body, and how it goes wrong.

    Attributes:
        silence: Seconds before anything comes. `cut_after`: parts after which the connection ends, None when
            it does not.
    """

    status: int
    headers: Mapping[str, str]
    parts: Iterator[bytes]
    silence: float = 0
    cut_after: int | None = None


class Script:
    """A dialogue being spoken, to any number of attempts, each from the beginning."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue
        self._states: dict[str, _State] = {}

    def sent(self, attempt: str) -> tuple[Usage, ...]:
        """The usage of every answer given whole to an attempt, in order, as its dialect could tell it."""
        return tuple(self._states[attempt].sent) if attempt in self._states else ()

    def answer(
        self, dialect: str, body: dict[str, Any], attempt: str, *, stream: bool, model: str = ""
    ) -> ScriptedReply:
        """The next answer to an attempt."""
        state = self._states.setdefault(attempt, _State())
        vendor = VENDORS[dialect]
        heard = vendor.read_request(body)
        turn, aside = self._turn(state, heard)
        if turn is None:
            return _error(dialect, 400, "The script has no turn for this request.")
        fault = turn.fault if not aside else None
        if fault is not None and state.faulted < fault.times:
            state.faulted += 1
            if fault.status is not None:
                return _faulty_status(dialect, fault)
        else:
            fault = None
        state.said += 1
        reply = _reply(turn, heard, dialect, model or self.dialogue.model, state.said)
        if fault is None:
            if not aside:
                state.at += 1
                state.faulted = 0
            state.sent.append(_as_told(vendor, turn.usage))
        parts = vendor.stream_events(reply) if stream else iter([json.dumps(vendor.response(reply)).encode()])
        if fault is not None and fault.malformed:
            parts = iter([*list(parts)[:1], b'data: {"broken\n\n', b"data: [DONE]\n\n"] if stream else [b'{"broken'])
        kind = "text/event-stream" if stream else "application/json"
        return ScriptedReply(
            200,
            {"content-type": (fault.wrong_type if fault else "") or kind},
            parts,
            (fault.silence or 0 if fault else 0) + turn.delay,
            fault.cut if fault else None,
        )

    def _turn(self, state: _State, heard: RequestView) -> tuple[Turn | None, bool]:
        offers = bool(heard.tools)
        turns = self.dialogue.turn
        if state.at >= len(turns):
            if self.dialogue.end == "loop":
                state.at = 0
            elif self.dialogue.end == "repeat":
                state.at = len(turns) - 1
        while state.at < len(turns) and turns[state.at].otherwise == "skip":
            if turns[state.at].when.holds(heard.last, offers):
                break
            state.at += 1
        turn = turns[state.at] if state.at < len(turns) else None
        if turn is not None and turn.when.holds(heard.last, offers):
            # An agent asks for titles and summaries without its tools: that is not the dialogue.
            beside = turn.calls and not offers and not turn.plain and turn.when.tools is None
            if not beside:
                return turn, False
        for aside in self.dialogue.aside:
            if aside.when.holds(heard.last, offers):
                return aside, True
        if turn is not None and turn.calls and not offers:
            return _ASIDE, True
        return None, False


def _reply(turn: Turn, heard: RequestView, dialect: str, model: str, number: int) -> Reply:
    text = turn.plain if turn.plain and not heard.tools else turn.text
    calls = []
    for index, call in enumerate(turn.calls if heard.tools else ()):
        rendered = _render(call, dialect, heard)
        if rendered is not None:
            calls.append(ToolUse(f"call_{number}_{index}", *rendered))
    if not text and not calls:
        text = "Done."
    return Reply(f"scripted{number}", model, text, tuple(calls), turn.usage)


def _render(call: ToolCall, dialect: str, heard: RequestView) -> tuple[str, dict[str, Any]] | None:
    if call.tool == "shell":
        rendered = shell_call(heard.tools, call.command)
        return rendered if rendered is not None else ("shell", {"command": call.command})
    if call.tool == "finish":
        return finish_call(dialect, heard.tools)
    return call.name, call.arguments


def _as_told(vendor: Vendor, usage: Usage) -> Usage:
    return usage.model_copy(update=dict.fromkeys(vendor.untold, 0))


def _error(dialect: str, status: int, message: str, headers: Mapping[str, str] | None = None) -> ScriptedReply:
    trouble = (
        ProviderTrouble.BUSY
        if status == 429
        else ProviderTrouble.UPSTREAM
        if status >= 500
        else ProviderTrouble.BAD_REQUEST
    )
    body = json.dumps(VENDORS[dialect].refuse(trouble, message).body).encode()
    return ScriptedReply(status, {"content-type": "application/json", **(headers or {})}, iter([body]))


def _faulty_status(dialect: str, fault: Fault) -> ScriptedReply:
    headers = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
    reply = _error(dialect, fault.status or 500, "A scripted fault.", headers)
    return ScriptedReply(reply.status, reply.headers, iter([fault.body.encode()])) if fault.body else reply


class ScriptedUpstream:
    """An upstream that speaks a dialogue; give it to `Gateway` beside the real ones.

    Args:
        dialogue: The dialogue, or the file of one.
        name: The provider, so that `NAME/anything` is a model.
        dialects: What it speaks; agents of other dialects reach it through a translation.

    Raises:
        BadInput: The file is not a dialogue.
    """

    def __init__(
        self, dialogue: Dialogue | Path, name: str = "scripted", dialects: Collection[str] = tuple(VENDORS)
    ) -> None:
        self.name = name
        self.dialects = frozenset(dialects)
        self.script = Script(read_dialogue(dialogue) if isinstance(dialogue, Path) else dialogue)

    def sent(self, attempt: str) -> tuple[Usage, ...]:
        """See `Script.sent`."""
        return self.script.sent(attempt)


class _ScriptedAnswer:
    def __init__(self, reply: ScriptedReply) -> None:
        self.status = reply.status
        self.headers = reply.headers
        self._said = reply

    async def chunks(self) -> AsyncIterator[bytes]:
        for number, part in enumerate(self._said.parts):
            if self._said.cut_after is not None and number >= self._said.cut_after:
                raise UpstreamError("cut", "a scripted cut")
            yield part
        if self._said.cut_after is not None:
            raise UpstreamError("cut", "a scripted cut")

    async def close(self) -> None:
        """Nothing is held."""


class ScriptedWire:
    """See `UpstreamClient`."""

    concurrency: int | None = None
    output_field = "max_tokens"
    translate = True
    reasoning = False
    tells_cost = False
    allow: tuple[str, ...] = ()
    secret = ""

    def __init__(self, upstream: ScriptedUpstream, idle: float) -> None:
        self.name = upstream.name
        self.dialects = upstream.dialects
        self._script = upstream.script
        self._idle = idle

    async def open(self, ask: UpstreamRequest) -> _ScriptedAnswer:
        """See `UpstreamClient`."""
        if ask.route.asks is Asks.COUNT:
            count = int(raw_estimate(ask.body)) + 1
            body = json.dumps(ask.dialect.token_count(count)).encode()
            return _ScriptedAnswer(ScriptedReply(200, {"content-type": "application/json"}, iter([body])))
        try:
            reply = self._script.answer(ask.dialect.name, ask.body, ask.attempt, stream=ask.stream, model=ask.model)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            # A hostile agent may put anything where messages belong; vendors answer that with 400.
            reply = _error(ask.dialect.name, 400, f"The request cannot be read ({type(error).__name__}).")
        if reply.silence:
            await asyncio.sleep(min(reply.silence, self._idle))
            if reply.silence > self._idle:
                raise UpstreamError("silence", "a scripted silence")
        return _ScriptedAnswer(reply)

    async def close(self) -> None:
        """See `UpstreamClient`."""
