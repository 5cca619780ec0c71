"""Servers for tests: one in a thread of ours, to look inside; one in a process, to kill."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import uvicorn

import repoassay
from repoassay.server.listening import listen
from repoassay.server.server import configure
from repoassay.server.service import Service

__all__ = ["SLEEPER", "Process", "connected", "solution"]

SLEEPER = """--- a/src/pocketledger/__init__.py
+++ b/src/pocketledger/__init__.py
@@ -3,3 +3,6 @@
 from pocketledger.entries import Entry, LedgerError, Posting
+import time
+time.sleep({1})
+number = {0}
 from pocketledger.reader import read_ledger
 from pocketledger.reports import RegisterRow, balances, register
"""
"""A patch on the tasks of the ledger that sleeps; filled in with a number and seconds."""


@contextlib.contextmanager
def connected(service: Service, limit: int | None = None) -> Iterator[httpx.Client]:
    """A client of the application, which answers on a port of its own; workers are not started."""
    bound = listen("127.0.0.1", 0)
    settings = configure(service)
    settings.log_level = "critical"
    settings.limit_concurrency = limit or settings.limit_concurrency
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    with httpx.Client(base_url=f"http://127.0.0.1:{bound.getsockname()[1]}", timeout=60) as client:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield client
    server.should_exit = True
    thread.join()


class Process:
    """`repoassay serve` with the ledger tasks of the starter suite."""

    def __init__(self, *options: str, port: int = 0) -> None:
        program = str(Path(sys.executable).with_name("repoassay"))
        self.process = subprocess.Popen(
            [program, "serve", "--suite", "starter", "--no-cache", "--workers", "2", "--port", str(port), *options],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.log: list[str] = []
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"on (http://\S+) with", line):
                self.url = found[1]
                break
        else:
            raise AssertionError("".join(self.log))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._reader.join(10)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop; returns the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(60)
        self._reader.join(10)
        return code


def solution(task: str) -> str:
    """The reference patch of a task of the starter suite."""
    suite = Path(repoassay.__file__).parent / "benchmarks/starter/suite"
    return (suite / "tasks" / task / "solution/changes.diff").read_text()
