"""A request to a server of sandboxes whose sender is known, and why one is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel

from repoassay.sandbox.remote.messages import MESSAGE, FileError, read_message, write_message
from repoassay.sandbox.remote.server.hosted_session import HostedSession
from repoassay.sandbox.remote.server.sandbox_host import SandboxHost

__all__ = ["AskedRequest", "RefusedRequest", "refuse_file"]

_SMALL = 2**20
"""Bytes of a request that brings no files and no input."""
_LONGEST_WAIT = 20.0
_Request = TypeVar("_Request", bound=BaseModel)


class RefusedRequest(Exception):
    """A request that is answered with an error: its status, and a sentence or bytes."""

    def __init__(self, status: int, reason: bytes | str) -> None:
        super().__init__(status)
        self.status, self.reason = status, reason if isinstance(reason, bytes) else reason.encode(errors="replace")


class AskedRequest:
    """A request whose sender is known."""

    def __init__(
        self, handler: Any, holder: str, size: int, names: dict[str, str], query: dict[str, str]
    ) -> None:  # fmt: skip
        self.handler, self.holder, self.size, self.names, self.query = handler, holder, size, names, query
        self.host: SandboxHost = handler.server.host

    @contextmanager
    def body(self, limit: int = MESSAGE) -> Iterator[bytes]:
        """What was sent, while the context lasts; refused where it is more than `limit` bytes."""
        if self.size > limit:
            raise RefusedRequest(413, f"more than {limit} bytes")
        with self.host.shares.body(self.holder, self.size) as let:
            if not let:
                raise RefusedRequest(503, "too many requests of this token are being sent")
            data = self.handler.rfile.read(self.size)
            if len(data) < self.size:
                raise RefusedRequest(400, "the request is not whole")
            yield data

    def message(self, model: type[_Request], limit: int = _SMALL) -> _Request:
        """The message that was sent; a large one is parsed alone, since hostile JSON takes many times its size."""
        with self.body(limit) as data, self.handler.server.parsing if self.size > _SMALL else nullcontext():
            return read_message(model, data)

    def number(self, name: str) -> int:
        """A number of the query, 0 where it is not told."""
        text = self.query.get(name, "0")
        if re.fullmatch(r"[0-9]{1,16}", text) is None:
            raise RefusedRequest(400, f"{name} is no number")
        return int(text)

    @property
    def wait(self) -> float:
        """Seconds until an answer is given that tells nothing."""
        return max(0.0, min(float(self.query.get("wait", "0")[:16]), _LONGEST_WAIT))

    @property
    def path(self) -> str:
        """The file that is named."""
        return os.fsdecode(self.query["path"])

    @property
    def hosted(self) -> HostedSession:
        """The session that is named; raises `KeyError` where the holder has none of that name."""
        return self.host.find(self.holder, self.names["session"])


def refuse_file(error: OSError) -> NoReturn:
    """Refuse a request about a file with what the kernel says of it."""
    file_error = FileError(errno=error.errno or 5, error=(error.strerror or str(error))[:500])
    raise RefusedRequest(422, write_message(file_error)) from None
