"""A session on a server of sandboxes: what is asked of it while it lives. How it lives and ends is its base's."""

from __future__ import annotations

import errno
import os
import posixpath
import time
from collections.abc import Mapping, Sequence
from typing import NoReturn

from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox.protocol import Completed, SnapshotChange
from repoassay.sandbox.remote.client import Refusal
from repoassay.sandbox.remote.followed_session import FollowedSession, answer_limit
from repoassay.sandbox.remote.messages import (
    Acknowledgement,
    ExecNumber,
    ExecRequest,
    FileError,
    RemoteChanges,
    RemoteState,
    SnapshotName,
    SnapshotRequest,
    read_message,
)
from repoassay.sandbox.session import shell_exit
from repoassay.text import one_line

__all__ = ["HttpSession"]

_WAIT = 10.0
_ENDING = 60.0
"""Seconds beyond its time-out in which a command must have been ended by the server."""
_FILES = 60.0
_LISTED = 256 * 2**20
_GONE, _NO_FILE = 409, 422


class HttpSession(FollowedSession):
    """See `SandboxSession`; opened by `HttpSandbox`."""

    def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        output: int | None = None,
        logged: bool = True,
    ) -> Completed:
        """See `SandboxSession`."""
        self._check()
        kept = self.setup.limits.output if output is None else output
        started = time.monotonic()
        try:
            request = ExecRequest(
                argv=tuple(argv), cwd=cwd, env=dict(env or {}), stdin=stdin, timeout=timeout, output=kept, logged=logged
            )  # fmt: skip
        except ValueError as error:
            return Completed(shell_exit(126), stderr=f"cannot be started: {one_line(str(error))}\n".encode())
        try:
            number = self._client.ask(ExecNumber, "POST", f"{self._path}/exec", request).exec
            while True:
                path = f"{self._path}/exec/{number}"
                state = self._client.ask(RemoteState, "GET", path, limit=answer_limit(kept), wait=_WAIT)
                if state.gone:  # how it ended is the session's to tell
                    self._over.wait(_ENDING)
                if state.outcome is not None:
                    break
                if state.fault:
                    raise InfraFault(f"The sandbox server failed: {one_line(state.fault)}.")
                if state.gone or self.ended:
                    self._raise_end()
                if timeout is not None and time.monotonic() - started > timeout + _ENDING:
                    raise InfraFault("A command of the session was not ended at its time limit.")
        except Refusal as refusal:
            self._refused(refusal)
        found = state.outcome
        return Completed(found.plain_exit(), found.stdout, found.stderr)

    def read(self, path: str, limit: int = 32 * 2**20) -> bytes:
        """See `SandboxSession`."""
        return self._file("GET", path, b"", limit, limit=limit)

    def write(self, path: str, content: bytes, executable: bool = False) -> None:
        """See `SandboxSession`."""
        if len(content) > self.setup.limits.disk:
            raise OSError(errno.EFBIG, f"more than the {self.setup.limits.disk} bytes of the disk limit", path)
        self._file("PUT", path, content, 4096, executable=int(executable))

    def _file(self, method: str, path: str, content: bytes, most: int, **query: object) -> bytes:
        if "\0" in path:
            raise ValueError("a path holds a null byte")
        self._check()
        query["path"] = os.fsencode(posixpath.join(self.setup.cwd, path))
        place = f"{self._path}/file"
        try:
            return self._client.fetch(method, place, content, limit=most, seconds=2 * _FILES, query=query)
        except Refusal as refusal:
            self._refused(refusal, path)

    def snapshot(self, *folders: str) -> str:
        """See `SandboxSession`."""
        self._check()
        try:
            request = SnapshotRequest(folders=folders)
            return self._client.ask(SnapshotName, "POST", f"{self._path}/snapshots", request, wait=_FILES).snapshot
        except Refusal as refusal:
            self._refused(refusal, " ".join(folders))

    def diff(self, snapshot: str) -> tuple[SnapshotChange, ...]:
        """See `SandboxSession`."""
        self._check()
        try:
            found = self._client.ask(
                RemoteChanges, "GET", f"{self._path}/snapshots", limit=_LISTED, wait=_FILES, query={"name": snapshot}
            )  # fmt: skip
        except Refusal as refusal:
            if refusal.status == 404 and not self.ended:
                raise BadInput(
                    f"This session has no snapshot {snapshot!r}.", "Name one that snapshot() returned."
                ) from None
            self._refused(refusal, snapshot)
        return tuple(
            SnapshotChange(os.fsdecode(each.path), each.change, each.size, each.regular, each.executable)
            for each in found.changes
        )

    def kill(self) -> None:
        """See `SandboxSession`."""
        self._check()
        try:
            self._client.ask(Acknowledgement, "POST", f"{self._path}/kill")
        except Refusal as refusal:
            self._refused(refusal)

    def _refused(self, refusal: Refusal, path: str = "") -> NoReturn:
        if refusal.status == _NO_FILE:
            try:
                file_error = read_message(FileError, refusal.body)
            except ValueError:
                raise refusal from None
            raise OSError(file_error.errno, one_line(file_error.error), path) from None
        if refusal.status == _GONE or self.ended:
            self._over.wait(_ENDING)
            self._raise_end()
        raise refusal
