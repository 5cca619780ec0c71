"""Writes an attempt's conversations with its models down as steps, while it works: `steps.jsonl`.

Every request says the conversation so far again. What a model answers is a step; of what the agent says, only what it
has not said before is one: results of tools by the call they answer, other texts by how often they stand in a request.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repoassay.model_proxy.sse import EventReader
from repoassay.model_proxy.vendors import VENDORS
from repoassay.records import steps_file
from repoassay.types import Call, Observation, Source, StepCall, TrajectoryStep

if TYPE_CHECKING:
    from repoassay.model_proxy.request_rules.parts import JsonObject
    from repoassay.model_proxy.translation import Answer, Conversation

__all__ = ["StepRecorder"]

_SPOKEN = {"chat": "messages", "messages": "messages", "responses": "input", "gemini": "contents"}
"""Where a dialect has its list of messages, and below where it has what the system says."""
_SYSTEM = {"messages": "system", "responses": "instructions", "gemini": "systemInstruction"}
_MOST_TEXT, _MOST_STEPS, _MOST_CALLS, _MOST_SYSTEM = 100_000, 20_000, 100, 8
_MOST_FIELDS = 20
"""Fields of a message that is taken apart: each part gets a copy of them."""
_ENDING = 500
"""Last characters of a system prompt by which it is known again: some agents count something in its head."""


class StepRecorder:
    """Notes exchanges one after another, on a thread of its own; what cannot be read is left out.

    Args:
        path: The file.
        scrub: Takes keys out of a line.
    """

    def __init__(self, path: Path, scrub: Callable[[bytes], bytes]) -> None:
        self._file, self._scrub = steps_file(path), scrub
        self._said: Counter[bytes] = Counter()
        self._called: set[str] = set()
        self._systems = self._count = 0
        self._full = False
        self._thread = ThreadPoolExecutor(1, "steps")  # no call waits for it

    def note(self, call: Call, request: bytes, answer: bytes) -> None:
        """Take note of one answered call, soon: the agent's request and its answer, as they crossed."""
        self._thread.submit(self._note, call, request, answer)

    def close(self) -> None:
        """Wait until all that was noted is written."""
        self._thread.shutdown()

    def _note(self, call: Call, request: bytes, answer: bytes) -> None:
        from repoassay.model_proxy.translation import UNREADABLE

        if call.dialect not in _SPOKEN or self._full:
            return
        try:
            for step in self._new_steps(call, json.loads(self._scrub(request))):
                self._write(step)
        except UNREADABLE:
            pass  # its answer may be read all the same
        try:
            self._write(self._answered(call, _answer(call, self._scrub(answer))))
        except UNREADABLE:
            return

    def _new_steps(self, call: Call, body: JsonObject) -> Iterator[TrajectoryStep]:
        """What a request says that was not said before."""
        from repoassay.model_proxy.translation.neutral import ResultPart, TextPart

        here: Counter[bytes] = Counter()
        prompt = _conversation(call.dialect, body)
        if prompt.system and self._systems < _MOST_SYSTEM and self._new(here, "system", prompt.system[-_ENDING:]):
            self._systems += 1
            yield self._step(call.at, Source.SYSTEM, prompt.system)
        for turn in prompt.turns:
            fresh: list[str] = []
            for part in turn.parts if turn.role == "user" else ():
                if isinstance(part, ResultPart):
                    known = part.id in self._called
                    if self._new(here, "result", part.id if known else f"{part.name}\n{part.text}"):
                        seen = Observation(call=part.id if known else "", text=_cut(part.text), failed=part.failed)
                        yield self._step(call.at, Source.TOOL, "").model_copy(update={"observations": (seen,)})
                elif isinstance(part, TextPart) and self._new(here, "text", part.text):
                    fresh.append(part.text)
            if fresh:
                yield self._step(call.at, Source.USER, "\n".join(fresh))

    def _new(self, here: Counter[bytes], kind: str, text: str) -> bool:
        """Whether a text stands in this request more often than in any before."""
        key = hashlib.blake2b(f"{kind}\n{text}".encode("utf-8", "replace"), digest_size=16).digest()
        here[key] += 1
        if here[key] <= self._said[key]:
            return False
        self._said[key] = here[key]
        return True

    def _answered(self, call: Call, answer: Answer) -> TrajectoryStep:
        self._called.update(one.id for one in answer.calls if one.id)
        calls = tuple(
            StepCall(id=one.id[:200], name=one.name[:200], arguments=_arguments(one.arguments))
            for one in answer.calls[:_MOST_CALLS]
        )
        return self._step(call.at, Source.AGENT, answer.text).model_copy(
            update={"reasoning": _cut(answer.thinking), "calls": calls, "usage": call.usage, "dollars": call.price}
        )

    def _step(self, at: datetime, source: Source, text: str) -> TrajectoryStep:
        self._count += 1
        return TrajectoryStep(index=self._count, time=at, source=source, text=_cut(text))

    def _write(self, step: TrajectoryStep) -> None:
        try:
            self._file.append(step)
        except OSError:  # full: the file has its bound, and the disk has one
            self._full = True
        self._full = self._full or self._count >= _MOST_STEPS


def _conversation(dialect: str, body: JsonObject) -> Conversation:
    """What was said in a request; messages that no other dialect could say are left out."""
    from repoassay.model_proxy.translation import FORMATS, UNREADABLE
    from repoassay.model_proxy.translation.neutral import Conversation

    body = {_camel(name): value for name, value in body.items()} if dialect == "gemini" else body
    spoken, system = _SPOKEN[dialect], _SYSTEM.get(dialect, "")
    request = {name: body[name] for name in (spoken, system) if name in body}
    try:
        return FORMATS[dialect].parse(request)
    except UNREADABLE:
        whole = Conversation()
    listed = request.pop(spoken, None)
    pieces = (piece for message in (listed if isinstance(listed, list) else ()) for piece in _apart(message))
    for one in chain([request], ({spoken: [piece]} for piece in pieces)):
        try:
            part = FORMATS[dialect].parse(one)
        except UNREADABLE:
            continue
        whole.told = whole.told or part.told
        whole.turns += part.turns
    return whole


def _apart(message: object) -> list[object]:
    """A message as messages of one part each, so that one that cannot be read does not hide the others."""
    name = next((name for name in ("content", "parts") if isinstance(message, dict) and name in message), "")
    if not isinstance(message, dict) or not isinstance(message.get(name), list) or len(message) > _MOST_FIELDS:
        return [message]
    return [{**message, name: [part]} for part in message[name]]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _answer(call: Call, content: bytes) -> Answer:
    """A model's answer as the agent was sent it, whole or as a stream."""
    from repoassay.model_proxy.translation import FORMATS, whole_answer

    form = FORMATS[call.dialect]
    if not call.stream:
        return form.read(json.loads(content))
    events = [json.loads(data) for _, data in EventReader().feed(content + b"\n\n") if data.startswith(b"{")]
    if not events:
        raise ValueError("a stream without an event")
    if call.dialect == "responses":  # its items come whole at their end, with all that pieces leave out
        return form.read(VENDORS[call.dialect].join_events(events))
    reader = form.reader()
    return whole_answer(piece for event in events for piece in reader.read(event))


def _arguments(text: str) -> dict[str, Any]:
    if len(text) > _MOST_TEXT:
        return {"cut": text[:2000]}
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"input": value}


def _cut(text: str) -> str:
    return text[:_MOST_TEXT].encode("utf-8", "replace").decode()
