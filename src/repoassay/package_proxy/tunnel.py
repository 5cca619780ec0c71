"""Bytes between two connections: both ways until both ends are reached, or one answer, never idle for too long."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from typing import TypeAlias

__all__ = ["CHUNK", "Idle", "Stream", "fetch", "part", "tunnel"]

CHUNK = 128 * 1024
Stream: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Moved: TypeAlias = Callable[[int, int], None]
"""Told how many bytes went to the far side and came from it; what it raises ends both."""


class Idle(Exception):
    """Nothing moved for as long as it may."""


async def tunnel(near: Stream, far: Stream, moved: Moved, idle: float) -> None:
    """Pass everything on both ways.

    Raises:
        Idle: Nothing moved for `idle` seconds.
        OSError: A connection broke.
    """
    clock = _Clock(idle)
    await _both(
        clock,
        _copy(near[0], far[1], clock, lambda size: moved(size, 0)),
        _copy(far[0], near[1], clock, lambda size: moved(0, size)),
    )


async def fetch(near: Stream, far: Stream, request: bytes, moved: Moved, idle: float) -> None:
    """Send one request and pass on the answer, up to its end; what else the near side says is not heard."""
    clock = _Clock(idle)
    moved(len(request), 0)
    far[1].write(request)
    await _both(clock, _copy(far[0], near[1], clock, lambda size: moved(0, size)))


class _Clock:
    def __init__(self, idle: float) -> None:
        self.idle = idle
        self.last = time.monotonic()


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, clock: _Clock, moved: Callable[[int], None]
) -> None:
    # Draining then leaves nothing behind: an end can follow at once, and no peer that reads slowly fills our memory.
    writer.transport.set_write_buffer_limits(0)
    while data := await reader.read(CHUNK):
        clock.last = time.monotonic()
        moved(len(data))
        writer.write(data)
        await writer.drain()
    await writer.drain()
    with contextlib.suppress(OSError):  # the other side may be gone altogether
        writer.write_eof()


async def _both(clock: _Clock, *work: Coroutine[object, object, None]) -> None:
    tasks = [asyncio.create_task(one) for one in work]
    waited = set(tasks)
    try:
        while waited:
            done, waited = await asyncio.wait(waited, timeout=min(1.0, clock.idle), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if waited and time.monotonic() - clock.last > clock.idle:
                raise Idle
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def part(writer: asyncio.StreamWriter, patience: float) -> None:
    """Close, leaving the other side some time to take what was sent."""
    try:
        if patience:
            writer.close()
            async with asyncio.timeout(patience):
                await writer.wait_closed()
    except (OSError, TimeoutError):
        pass
    finally:
        writer.transport.abort()
