"""Requests under way in a box: where what they print goes, and what becomes of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from repoassay.sandbox.protocol import Completed
from repoassay.sandbox.stream import Bounded
from repoassay.types import Exit

__all__ = ["BoxRequest", "BoxRequests"]

_CHANNEL = 16 * 2**20


@dataclass(frozen=True, slots=True)
class BoxRequest:
    """A request under way: where its output goes, and its answer; None when the session ended before."""

    number: int
    out: Bounded
    err: Bounded
    logged: bool
    listener: Callable[[bytes], None] | None = None
    channel: Bounded = field(default_factory=lambda: Bounded(_CHANNEL))
    answer: Future[dict[str, Any] | None] = field(default_factory=Future)

    def refused(self, reason: str, exit_: Exit) -> Completed:
        """What came of it where it could not be started."""
        return Completed(exit_, self.out.value(), f"cannot be started: {reason}\n".encode())

    def completed(self, exit_: Exit) -> Completed:
        """What came of it."""
        truncated = self.out.truncated or self.err.truncated
        exit_ = exit_.model_copy(update={"output_truncated": truncated})
        return Completed(exit_, self.out.value(), self.err.value(), self.channel.value())


class BoxRequests:
    """The requests of one session, by number. Frames come from one thread, requests from any.

    Args:
        log: Takes what is printed, of requests that are logged.
    """

    def __init__(self, log: Callable[[bytes], None]) -> None:
        self._log = log
        self._numbers = itertools.count(1)
        self._waiting: dict[int, BoxRequest] = {}

    def begin(self, limits: tuple[int, int], logged: bool, listener: Callable[[bytes], None] | None) -> BoxRequest:
        """A new request, which keeps so many bytes of output and of errors; `listener` is handed its channel."""
        request = BoxRequest(next(self._numbers), Bounded(limits[0]), Bounded(limits[1]), logged, listener)
        self._waiting[request.number] = request
        return request

    def forget(self, request: BoxRequest) -> None:
        """Nobody waits for it any more."""
        self._waiting.pop(request.number, None)

    def end(self) -> None:
        """Tell those who wait that the session is over."""
        for request in list(self._waiting.values()):
            if not request.answer.done():
                request.answer.set_result(None)

    def take_answer(self, number: int, data: bytes) -> None:
        """Take the answer to a request; raises `ValueError`, `TypeError` or `KeyError` for what is none."""
        if request := self._waiting.get(number):
            answer = json.loads(data)
            if "refused" not in answer:
                answer = {"code": int(answer["code"]), "cpu": round(float(answer["cpu"]), 4),
                        "peak_memory": int(answer["peak_memory"])}  # fmt: skip
            request.answer.set_result(answer)

    def take_output(self, kind: bytes, number: int, data: bytes) -> None:
        """Take what a request prints (`o`, `e`) or writes to its channel (`c`)."""
        request = self._waiting.get(number)
        if request is None:
            return
        if kind == b"c":
            request.channel.feed(data)
            if request.listener is not None:
                request.listener(data)
            return
        (request.out if kind == b"o" else request.err).feed(data)
        if request.logged:
            self._log(data)
