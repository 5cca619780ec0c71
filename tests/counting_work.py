"""A work that counts, for tests of executors: what is given twice, lost or mixed up shows in the numbers."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from typing import Any

from repoassay.errors import BadInput
from repoassay.executors import NodeJob, NodePlace, NodeSetup
from repoassay.types import Record


class Question(Record):
    number: int
    seconds: float = 0.0
    parcel: str = ""
    fail: str = ""


class Answer(Record):
    number: int
    process: int
    content: str = ""
    given_up: bool = False


class CountingWork:
    """Answers with the number it was asked and the process it is in."""

    job_type: type[Record] = Question

    def __init__(self, data: Mapping[str, Any], place: NodePlace) -> None:
        self._place = place
        if data.get("refuse"):
            raise BadInput("This node cannot count.", "Ask another one.")

    def do(self, record: Question, cancel: threading.Event) -> Answer:
        if record.fail == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if record.fail == "refuse":
            raise BadInput(f"{record.number} is no number.")
        if record.fail == "break":
            raise ZeroDivisionError
        content = (self._place.cache.path / record.parcel / "file").read_text() if record.parcel else ""
        given_up = cancel.wait(record.seconds)
        return Answer(number=record.number, process=os.getpid(), content=content, given_up=given_up)

    def close(self) -> None:
        pass


def counting_setup(**data: Any) -> NodeSetup:
    return NodeSetup("counting_work:CountingWork", data, Answer)


def question(number: int, **more: Any) -> NodeJob:
    return NodeJob(Question(number=number, **more), warmth=str(number % 3))
