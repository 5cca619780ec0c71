"""Sessions whose process 1 is ours: what is asked of it to run commands and to read, write and list files.

How a request gets there, and what it prints comes back, is another module's; see `launcher/session.py` and `box/`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from repoassay.sandbox.protocol import Completed
from repoassay.sandbox.session import FileFacts, SessionBase
from repoassay.types import Ended

__all__ = ["ANSWER", "ServedSession"]

ANSWER = 4096
"""Bytes of an answer at most; process 1 is ours, and answers with numbers."""
_FILES = 60.0
"""Seconds a file may take to be read or written, or files to be listed."""
_LISTED = 256 * 2**20
"""Bytes of a listing of files at most, about a million of them."""


class ServedSession(SessionBase):
    """A session but for how requests are carried to its process 1."""

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
        request = {"do": "run", "argv": list(argv), "cwd": cwd, "env": dict(env or {})}
        kept = self.setup.limits.output if output is None else output
        return self._perform(request, stdin, timeout, (kept, kept), logged)

    def read(self, path: str, limit: int = 32 * 2**20) -> bytes:
        """See `SandboxSession`."""
        done = self._file({"do": "read", "path": os.fsencode(path), "limit": limit}, path, b"", limit)
        if done.exit.output_truncated:
            raise OSError(errno.EFBIG, f"more than {limit} bytes", path)
        return done.stdout

    def write(self, path: str, content: bytes, executable: bool = False) -> None:
        """See `SandboxSession`."""
        if len(content) > self.setup.limits.disk:
            raise OSError(errno.EFBIG, f"more than the {self.setup.limits.disk} bytes of the disk limit", path)
        self._file({"do": "write", "path": os.fsencode(path), "executable": executable}, path, content, 0)

    def _list(self, folders: Sequence[str]) -> Mapping[str, FileFacts]:
        done = self._file({"do": "list", "folders": list(map(os.fsencode, folders))}, " ".join(folders), b"", _LISTED)
        if done.exit.output_truncated:
            raise OSError(errno.EFBIG, "more files than can be listed", " ".join(folders))
        fields = iter(done.stdout.split(b"\0")[:-1])
        return {os.fsdecode(path): _facts(facts) for facts, path in zip(fields, fields, strict=True)}

    def _file(self, request: dict[str, Any], path: str, content: bytes, limit: int) -> Completed:
        if "\0" in path:
            raise ValueError("a path holds a null byte")
        done = self._perform(request, content, _FILES, (limit, ANSWER), logged=False)
        if done.exit.ended is Ended.EXITED and done.exit.code == 0:
            return done
        if self.ended:
            self._raise_end()
        number, zero, text = done.stderr.partition(b"\0")
        if done.exit.code == 1 and zero and number.isdigit():
            raise OSError(int(number), text.decode(errors="replace")[:500], path)
        how = f"signal {done.exit.signal}" if done.exit.code is None else f"code {done.exit.code}"
        raise OSError(errno.EIO, f"what {request['do']}s files inside was ended ({how})", path)

    @property
    def ended(self) -> bool:
        """See `SandboxSession`."""
        raise NotImplementedError

    def _perform(
        self, request: dict[str, Any], stdin: bytes, timeout: float | None, limits: tuple[int, int], logged: bool
    ) -> Completed:
        """Have a child of process 1 do something, and wait for it; `limits` bound its output and its errors."""
        raise NotImplementedError

    def _raise_end(self) -> NoReturn:
        """Raise why the session has ended."""
        raise NotImplementedError


def _facts(data: bytes) -> FileFacts:
    mode, size, modified, changed = data.split(b" ")
    return int(mode, 8), int(size), int(modified), int(changed)
