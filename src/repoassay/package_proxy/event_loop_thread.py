"""An event loop in a thread of its own, which other threads hand work to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import TypeVar

from repoassay.errors import InfraFault

__all__ = ["LoopThread"]

Result = TypeVar("Result")


class LoopThread:
    """Runs coroutines for threads that have no loop."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._turn, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, object, Result]) -> Result:
        """Run `work` on the loop and wait for what it returns or raises.

        Raises:
            InfraFault: The loop has stopped, or this is its own thread, which would wait for itself.
        """
        if self._loop.is_closed() or threading.current_thread() is self._thread:
            work.close()
            raise InfraFault("The event loop was asked after its end, or on its own thread.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """Stop the loop and its thread; safe to repeat."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _turn(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()
