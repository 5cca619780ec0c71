"""What a pytest session sets around its tests and code under test can meet, without a session. Runs inside the sandbox.

Code may log, write, read its input, and fail in a thread or while it is finalized: that comes to the same here as
there, or a right solution would fail where the one that was recorded does nothing of the kind.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import _pytest.capture
import _pytest.logging
import pytest

__all__ = ["KeptWarnings", "Surroundings"]

_VARIABLE = "PYTEST_CURRENT_TEST"


class Surroundings:
    """Those of one run; what is made here is there from the beginning to the end. May be made before the fork."""

    def __init__(self) -> None:
        self._streams: tuple[_Quiet, ...] = ()
        self._logs = [_pytest.logging.LogCaptureHandler() for _ in range(2)]
        nowhere = _pytest.logging._FileHandler(os.devnull, mode="w", encoding="UTF-8", delay=True)
        self._always: Any = (logging.NullHandler(), nowhere)
        for handler in (*self._always, *self._logs):
            handler.setFormatter(logging.Formatter(_pytest.logging.DEFAULT_LOG_FORMAT))

    def begin(self) -> None:
        """Put them around all that runs from here on."""
        if getattr(pytest, "version_tuple", ()) >= (8, 2):
            os.environ["PYTEST_VERSION"] = pytest.__version__
        sys.stdin = _pytest.capture.DontReadFromInput()
        self.renew_streams()
        threading.excepthook = lambda _: None  # kept for a warning, and not printed
        sys.unraisablehook = lambda _: None
        for handler in self._always:
            logging.getLogger().addHandler(handler)

    def renew_streams(self) -> None:
        """Take back what code under test has put in the place of the streams; those that it closed stay closed."""
        if not self._are_closed():
            self._streams = _Quiet(), _Quiet()
        sys.stdout, sys.stderr = self._streams

    def _are_closed(self) -> bool:
        return any(stream.closed for stream in self._streams)

    @contextlib.contextmanager
    def phase(self, test: str, name: str) -> Iterator[None]:
        """The setup, call or teardown of a test; raises ValueError where a stream is closed after it."""
        os.environ[_VARIABLE] = f"{test} ({name})"
        with _pytest.logging.catching_logs(self._logs[0]), _pytest.logging.catching_logs(self._logs[1]):
            for log in self._logs:
                log.reset()
            yield
            if self._are_closed():
                raise ValueError("I/O operation on closed file")

    @staticmethod
    def leave() -> None:
        """No test is run; code under test may have emptied the environment."""
        os.environ.pop(_VARIABLE, None)


class _Quiet(io.TextIOWrapper):
    """Where prints go, as in a session: a stream over bytes that nobody reads."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="UTF-8", newline="", write_through=True)


class KeptWarnings(warnings.catch_warnings):
    """Warnings as pytest treats them: kept, and each deprecation told every time."""

    def __init__(self) -> None:
        super().__init__(record=True)

    def __enter__(self) -> Any:
        log = super().__enter__()
        if not sys.warnoptions:
            warnings.filterwarnings("always", category=DeprecationWarning)
            warnings.filterwarnings("always", category=PendingDeprecationWarning)
        return log
