"""Ctrl-C as a flag that a loop reads between two records.

A KeyboardInterrupt may be raised in any line of the main thread. In a callback of a serializer written in C or Rust it
comes out as another exception, and in the middle of a write it leaves half a record.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from repoassay.errors import Interrupted

__all__ = ["interrupt_sets"]


@contextlib.contextmanager
def interrupt_sets(cancel: threading.Event, remedy: str) -> Iterator[None]:
    """Let the first Ctrl-C set `cancel` and raise nothing; the second is raised wherever the main thread is.

    Where SIGINT is ignored, as in a job that a shell started in the background, it stays ignored.

    Raises:
        Interrupted: At the end of the block, with `remedy`, when `cancel` was set or the second Ctrl-C came.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, handle)
    try:
        yield
    except KeyboardInterrupt:
        cancel.set()
    finally:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if cancel.is_set():
        raise Interrupted("Stopped.", remedy)
