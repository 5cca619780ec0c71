"""Work of nodes for tests of clusters: it says where it was done, and waits or fails where it is told."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.executors import NodePlace
from repoassay.types import Record

__all__ = ["Asked", "Told", "make_work"]


class Asked(Record):
    """A number to be doubled, once there is a file, or until the job is given up."""

    number: int
    wait_for: str = ""


class Told(Record):
    """What came of it: the double, the process, its variable `SECRET`, and whether the cache has a parcel."""

    double: int
    process: int
    secret: str = ""
    parcel: str = ""


class _Work:
    job_type = Asked

    def __init__(self, place: NodePlace) -> None:
        self._place = place

    def do(self, record: Asked, cancel: threading.Event) -> Told:
        if record.number < 0:
            raise BadInput("It is negative.", "Take another.")
        if record.number == 666:
            os._exit(9)
        while record.wait_for and not Path(record.wait_for).exists():
            if cancel.wait(0.05):
                raise BadInput("It was given up.", "")
        entry = self._place.cache.path / "inputs" / "parcel" / "file"
        return Told(
            double=2 * record.number, process=os.getpid(), secret=os.environ.get("SECRET", ""),
            parcel=entry.read_text() if entry.exists() else "",
        )  # fmt: skip

    def close(self) -> None:
        pass


def make_work(data: Mapping[str, Any], place: NodePlace) -> _Work:
    if data.get("refuse"):
        raise BadInput("This node has no such thing.", "Give it one.")
    return _Work(place)
