"""A process in a pod, by the stream the API server has of it: pipes, as a process of this machine has them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

__all__ = ["PodProcess"]

_CHUNK = 1 << 15
_BUFFER = 1 << 18
_LOOK = 0.2
_QUIET = 20.0
"""Seconds without a word from us after which one is sent, so that nobody between takes the stream for dead."""
_STDIN, _STDOUT, _STDERR, _STATUS, _CLOSE = 0, 1, 2, 3, 255
_LOST = 255


class PodProcess:
    """A process that runs in a pod: its standard streams, and its end.

    One thread carries everything, since a connection under TLS must not be used by two.

    Args:
        connection: The websocket of an `exec` or `attach`, and which protocol of channels it speaks.
        reason: Says what became of the pod, once the stream has ended without a status.
    """

    def __init__(self, connection: Any, protocol: str, reason: Callable[[], str]) -> None:
        self._connection, self._closes, self._reason = connection, protocol.startswith("v5"), reason
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)  # room for a chunk, once there is any
        self._typed, typing = os.pipe()
        printed, self._out = os.pipe()
        failed, self._err = os.pipe()
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(typing, "wb", 0), os.fdopen(printed, "rb", 0), os.fdopen(failed, "rb", 0)
        )  # fmt: skip
        for pipe in (self._out, self._err):
            os.set_blocking(pipe, False)
        self.returncode: int | None = None
        self._waiting = b""
        self._may_type, self._killed, self._over = True, threading.Event(), threading.Event()
        self._spoke = time.monotonic()
        self._thread = threading.Thread(target=self._carry, name="pod-stream", daemon=True)
        self._thread.start()

    def poll(self) -> int | None:
        """The exit code, once the process has ended or its stream is lost; None before."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raises `subprocess.TimeoutExpired`."""
        if not self._over.wait(timeout):
            raise subprocess.TimeoutExpired("pod", timeout or 0)
        return _LOST if self.returncode is None else self.returncode

    def kill(self) -> None:
        """Give the stream up, which ends a process whose standard input it was; removing the pod is the caller's."""
        self._killed.set()
        connected = self._connection.sock
        with contextlib.suppress(OSError):
            if connected is not None:
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the stream and its pipes up."""
        self.kill()
        self._thread.join()
        for stream in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(OSError):
                stream.close()

    def _carry(self) -> None:
        status: int | None = None
        message = ""
        try:
            while status is None and not self._killed.is_set():
                status = self._step()
        except Exception as error:  # noqa: BLE001 - of the websocket's package, which is imported nowhere here
            message = f"the stream of the pod broke off: {str(error) or type(error).__name__}"
        if status != 0 and not self._killed.is_set() and (message := self._reason() or message):
            with contextlib.suppress(OSError):
                os.write(self._err, f"{message}\n".encode(errors="replace")[:2000])
        self.returncode = _LOST if status is None else status
        for descriptor in (self._typed, self._out, self._err):
            os.close(descriptor)
        with contextlib.suppress(Exception):
            self._connection.shutdown()
        self._over.set()

    def _step(self) -> int | None:
        """Carry what can be carried now; returns the exit code once it is known."""
        connected = self._connection.sock
        if connected is None:
            raise ConnectionError("the stream is closed")
        poll = select.poll()
        poll.register(connected, select.POLLIN | (select.POLLOUT if self._waiting else 0))
        if self._may_type and not self._waiting:
            poll.register(self._typed, select.POLLIN)
        decrypted = isinstance(connected, ssl.SSLSocket) and connected.pending() > 0
        ready = dict(poll.poll(0 if decrypted else _LOOK * 1000))
        events = ready.get(connected.fileno(), 0)
        if self._waiting and events & select.POLLOUT:
            self._send(bytes([_STDIN]) + self._waiting)
            self._waiting = b""
        if ready.get(self._typed):
            self._type()
        if decrypted or events & ~select.POLLOUT:
            return self._receive()
        if time.monotonic() - self._spoke > _QUIET:
            self._spoke = time.monotonic()
            self._connection.ping()
        return None

    def _type(self) -> None:
        self._waiting = os.read(self._typed, _CHUNK)
        if not self._waiting:
            self._may_type = False
            if self._closes:
                self._send(bytes([_CLOSE, _STDIN]))

    def _send(self, data: bytes) -> None:
        self._spoke = time.monotonic()
        self._connection.send_binary(data)

    def _receive(self) -> int | None:
        kind, frame = self._connection.recv_data_frame(True)
        if kind == 8:  # the end
            raise ConnectionError("the stream of the pod was closed")
        if kind not in (1, 2) or not frame.data:
            return None
        channel, data = frame.data[0], frame.data[1:]
        if channel in (_STDOUT, _STDERR):
            self._pass_on(self._out if channel == _STDOUT else self._err, data)
        return _exit_code(data) if channel == _STATUS and data else None

    def _pass_on(self, pipe: int, data: bytes) -> None:
        """Write to whoever reads, who may have stopped: a pod that goes on printing must not keep us from ending."""
        view, poll = memoryview(data), select.poll()
        poll.register(pipe, select.POLLOUT)
        while view and not self._killed.is_set():
            if poll.poll(_LOOK * 1000):
                with contextlib.suppress(BlockingIOError):
                    view = view[os.write(pipe, view) :]


def _exit_code(data: bytes) -> int:
    """The exit code that a status tells; raises `ConnectionError` for one that tells of none."""
    status = json.loads(data)
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise ConnectionError(str(status.get("message", "the process could not be started"))[:500])
