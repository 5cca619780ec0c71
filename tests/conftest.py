"""What holds for every test: a busy machine makes no property false, and one more worker than cores keeps it busy."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repoassay", deadline=None)
settings.load_profile("repoassay")


def pytest_xdist_auto_num_workers() -> int:
    """Let a worker compute while another waits: for a time limit, a silent agent, a server's start."""
    return len(os.sched_getaffinity(0)) + 1
