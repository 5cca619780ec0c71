"""What the command of a sandbox does on a signal does not depend on how the harness was started."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest

from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Command

SANDBOXES = ("namespaces", "bubblewrap", "http")

SHOW = ("/bin/sh", "-c", "grep -E 'SigIgn|SigBlk' /proc/self/status")
INTERRUPT_AND_HANG_UP = 1 << signal.SIGINT - 1 | 1 << signal.SIGHUP - 1


@pytest.fixture
def in_the_background() -> Iterator[None]:
    """As `nohup repoassay ... &` has it."""
    before = {each: signal.signal(each, signal.SIG_IGN) for each in (signal.SIGINT, signal.SIGHUP)}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.every_sandbox
@pytest.mark.usefixtures("in_the_background")
def test_nothing_is_ignored_or_blocked_inside(sandbox: NamespaceSandbox) -> None:
    plain = dict(line.split(":\t") for line in subprocess.check_output(SHOW, text=True).splitlines())
    assert int(plain["SigIgn"], 16) & INTERRUPT_AND_HANG_UP == INTERRUPT_AND_HANG_UP
    inside = dict(line.split(":\t") for line in sandbox.run(Command(argv=SHOW)).stdout.decode().splitlines())
    # Signals 32 and 33 belong to the C library, which lets nobody change them.
    assert {int(mask, 16) & ~(0b11 << 31) for mask in inside.values()} == {0}
