"""What holds for every test: a busy machine makes no property false, and one more worker than cores keeps it busy."""

from __future__ import annotations

import functools
import gc
import os
import zlib
from collections import defaultdict
from typing import Any

import httpx._transports.default
import pytest
from hypothesis import settings

settings.register_profile("repoassay", deadline=None)
settings.load_profile("repoassay")
# A client reads every authority it trusts, for 30 ms of CPU time; the tests make thousands, and speak plain HTTP.
_transport: Any = httpx._transports.default
_transport.create_ssl_context = functools.cache(_transport.create_ssl_context)
# The collector of cycles would walk ten thousand tests again and again: a third of the time of tests in this process.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect cycles again, seldom, and never look at the tests themselves."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """Let a worker compute while another waits: for a time limit, a silent agent, a server's start."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(tryfirst=True)  # before pytest takes out what `-m` does not want
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the cases of a test marked `by_day(n)` to the night, but for n of them: the same ones on every machine.

    Cases that are marked exhaustive themselves are not among the n.
    """
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("by_day") and not item.get_closest_marker("exhaustive"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for each in cases.values():
        marker = each[0].get_closest_marker("by_day")
        assert marker is not None
        for item in sorted(each, key=lambda item: zlib.crc32(item.nodeid.encode()))[marker.args[0] :]:
            item.add_marker(pytest.mark.exhaustive)


def pytest_sessionfinish() -> None:
    """Let a process end at once: to walk all that is left in it would take seconds."""
    gc.freeze()
