"""Waking those who wait for a verdict, from whichever thread has it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

__all__ = ["Notifier", "rung_within"]


class Notifier:
    """Rung by threads, waited for by coroutines of one event loop: for one submission, or for any."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[str | None, set[asyncio.Event]] = {}

    def hang(self) -> None:
        """Belong to the running event loop from now on."""
        self._loop = asyncio.get_running_loop()

    def ring(self, ulid: str | None = None) -> None:
        """Wake those who wait for this submission and those who wait for any; without one, wake everybody.

        Does nothing before `hang` or after the loop has ended.
        """
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._swing, ulid)

    @contextlib.contextmanager
    def listening(self, ulid: str | None = None) -> Iterator[asyncio.Event]:
        """An event that is set at the next notification from now on; look for the verdict after this, not before."""
        rung = asyncio.Event()
        self._waiting.setdefault(ulid, set()).add(rung)
        try:
            yield rung
        finally:
            others = self._waiting[ulid]
            others.discard(rung)
            if not others:
                del self._waiting[ulid]

    def _swing(self, ulid: str | None) -> None:
        names = list(self._waiting) if ulid is None else [ulid, None]
        for name in names:
            for rung in self._waiting.get(name, ()):
                rung.set()


async def rung_within(rung: asyncio.Event, seconds: float) -> None:
    """Return when the event is set, which is unset again, or after so many seconds."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(rung.wait(), seconds)
    rung.clear()
