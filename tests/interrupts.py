"""Starting programs that hear Ctrl-C, also where we ourselves were started to ignore it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["interruptible"]


@contextmanager
def interruptible() -> Iterator[None]:
    """Let what is started within hear SIGINT, as from a terminal.

    A shell without job control starts `make test &` with SIGINT ignored, and what is ignored stays so over exec.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
