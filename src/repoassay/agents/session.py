"""What a Python function that is an agent holds in its hand: the workspace, as far away as a sandbox must be.

The function runs in this process. Commands run, and files are read and written, in the sandbox of the attempt, by the
program `scripts/session.py`. What comes back from there was written by whatever ran there, so nothing of it is trusted.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import json
import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repoassay.errors import Interrupted

__all__ = ["CommandResult", "SessionLink", "WorkspaceSession"]

_LARGEST = 96 * 2**20
"""Bytes of a frame that comes out: a file of 32 MiB, or two outputs, as base64, and some."""
_GREETING, _LONGEST_GREETING = 5.0, 1024
"""Seconds and bytes a connection may take to say the secret: until then anybody may be at its other end."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended: its exit code (negative: the signal), its output, and whether its time ran out.

    Of either output at most 1 MiB is handed back, its beginning and its end.
    """

    code: int
    stdout: str
    stderr: str
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended with exit code 0."""
        return self.code == 0


class SessionLink:
    """The connection between a function outside and its workspace in the sandbox."""

    def __init__(self) -> None:
        self._link: socket.socket | None = None
        self._lock = threading.Lock()

    def connect(self, listening: socket.socket, secret: str) -> bool:
        """Wait for the sandbox's end of the session; False when the attempt ended before it came."""
        while True:
            try:
                link, _ = listening.accept()
            except OSError:
                return False
            link.settimeout(_GREETING)
            try:
                greeting = _receive(link, _LONGEST_GREETING)
                if hmac.compare_digest(str(greeting.get("secret")).encode("utf-8", "replace"), secret.encode()):
                    link.settimeout(None)
                    self._link = link
                    return True
            except (OSError, ValueError):
                pass
            link.close()

    def call(self, **request: Any) -> dict[str, Any]:
        """Ask the sandbox's end for something; raises `OSError` and `Interrupted` as `WorkspaceSession` says."""
        with self._lock:
            if self._link is None:
                raise Interrupted("The attempt has not begun.")
            try:
                _send(self._link, request)
                reply = _receive(self._link)
            except OSError as error:
                raise Interrupted("The attempt has ended.") from error
            except ValueError as error:
                self.close()  # where the next frame begins, nobody knows
                raise _nonsense() from error
        if "error" in reply:
            kind = FileNotFoundError if reply["error"] == "FileNotFoundError" else OSError
            raise kind(str(reply.get("message"))[:2000])
        return reply

    def end(self, code: int, text: str = "") -> None:
        """Let the sandbox's end leave with an exit code, after adding `text` to the attempt's log."""
        if self._link is not None:
            with contextlib.suppress(OSError):  # it has left already
                _send(self._link, {"do": "end", "code": code, "text": text})

    def close(self) -> None:
        """Cut the connection; whoever waits for an answer learns that the attempt has ended."""
        link = self._link
        if link is not None:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()


class WorkspaceSession:
    """The workspace of one attempt: `repo/`, `inputs/`, `output/` and `instruction.md`, as the task has them.

    Paths are relative to the workspace. Every method may raise `OSError`, with what went wrong in the sandbox, and
    `Interrupted` once the attempt has ended (its time is up, say). A session is used by one thread at a time.

    Attributes:
        task: Id of the task.
        instruction: What the task asks for.
    """

    def __init__(self, task: str, instruction: str, link: SessionLink) -> None:
        self.task, self.instruction = task, instruction
        self._link = link

    def run(
        self, command: str | Sequence[str], *, cwd: str = ".", input: str | bytes = b"", timeout: float | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:  # fmt: skip
        """Run a command in the sandbox and wait for it.

        Args:
            command: A line for the shell, or the arguments of a program.
            cwd: Where it stands.
            input: Its standard input.
            timeout: Seconds after which it is killed; without one the attempt's own limit holds.
            env: Variables added to the workspace's environment.
        """
        shell = isinstance(command, str)
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        reply = self._link.call(
            do="run", argv=argv, shell=shell, cwd=cwd, input=_encoded(input), timeout=timeout, env=dict(env or {})
        )
        try:
            return CommandResult(
                int(reply["code"]), _decoded(reply["stdout"]).decode("utf-8", "replace"),
                _decoded(reply["stderr"]).decode("utf-8", "replace"), bool(reply["timed_out"]),
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise _nonsense() from error

    def read(self, path: str) -> str:
        """The text of a file of at most 32 MiB; what is not UTF-8 is replaced."""
        return self.read_bytes(path).decode("utf-8", "replace")

    def read_bytes(self, path: str) -> bytes:
        """The content of a file of at most 32 MiB."""
        reply = self._link.call(do="read", path=path)
        try:
            return _decoded(reply["data"])
        except (KeyError, TypeError, ValueError) as error:
            raise _nonsense() from error

    def write(self, path: str, content: str | bytes, *, executable: bool = False) -> None:
        """Write a file; folders above it are made."""
        self._link.call(do="write", path=path, data=_encoded(content), executable=executable)

    def ask(self, messages: str | Sequence[Mapping[str, Any]], **options: Any) -> str:
        """The text with which the attempt's model replies; metered as every call is.

        Args:
            messages: A question, or messages as the chat dialect has them.
            options: What else the request is to say, such as `temperature=0`.
        """
        reply = self.complete(messages, **options)
        try:
            return str(reply["choices"][0]["message"]["content"] or "")
        except (KeyError, IndexError, TypeError) as error:
            raise OSError("The model's reply has no text.") from error

    def complete(self, messages: str | Sequence[Mapping[str, Any]], **options: Any) -> dict[str, Any]:
        """The whole reply of the attempt's model in the chat dialect, tool calls among it."""
        turns = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(map(dict, messages))
        reply = self._link.call(do="complete", messages=turns, options=options).get("reply")
        if not isinstance(reply, dict):
            raise _nonsense()
        return reply


def _nonsense() -> OSError:
    return OSError("What answers in the sandbox answers nonsense.")


def _encoded(content: str | bytes) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _send(link: socket.socket, value: Mapping[str, Any]) -> None:
    data = json.dumps(value).encode()
    link.sendall(struct.pack(">I", len(data)) + data)


def _receive(link: socket.socket, largest: int = _LARGEST) -> dict[str, Any]:
    (size,) = struct.unpack(">I", _exactly(link, 4))
    if size > largest:
        raise ValueError("a frame is too large")
    try:
        value = json.loads(_exactly(link, size))
    except RecursionError as error:
        raise ValueError("a frame is nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("a frame is no object")  # noqa: TRY004 - a ValueError as for every other nonsense
    return value


def _exactly(link: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = link.recv(min(size - len(parts), 2**20))
        if not part:
            raise ConnectionError("the sandbox's end has left")
        parts += part
    return bytes(parts)
