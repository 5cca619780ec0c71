"""Waiting for what must come, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["wait_until"]

_PATIENCE = 240
"""Seconds: no pace of a machine, and less than a test may take, so that what never comes is told as that."""


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)
