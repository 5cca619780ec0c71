"""Carrying plain data between host and supervisor, and on to the processes of a prefork server.

Both ends are ours and of one Python, and nothing hostile ever writes to these pipes, so `marshal` will do: it costs no
import and takes bytes as they are.
"""

from __future__ import annotations

import _socket
import marshal
import os
import struct
from types import SimpleNamespace

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["decode", "encode", "held_document", "hold_document", "read_spec", "receive", "send"]


def encode(data: dict[str, object]) -> bytes:
    """Plain containers, numbers, text and bytes as one document."""
    return marshal.dumps(data)


def decode(data: bytes) -> object:
    """What `encode` was given; raises ValueError or EOFError when the document is broken."""
    return marshal.loads(data)  # noqa: S302 - see the module's docstring


def read_spec(data: bytes) -> SimpleNamespace:
    """The `Spec` a host encoded, as objects with its attributes."""
    return _objects(decode(data))


def _objects(data: object) -> SimpleNamespace:
    assert isinstance(data, dict)
    for key, value in data.items():
        if isinstance(value, list):
            data[key] = [_objects(item) if isinstance(item, dict) else item for item in value]
    return SimpleNamespace(**data)


def hold_document(data: dict[str, object]) -> int:
    """A descriptor from which `held_document` reads this in another process."""
    body = os.memfd_create("document", os.MFD_CLOEXEC)
    rest = memoryview(encode(data))
    while rest:
        rest = rest[os.write(body, rest) :]
    return body


def held_document(body: int) -> dict[str, Any]:
    """What `hold_document` holds; the descriptor stays open."""
    found = decode(os.pread(body, os.fstat(body).st_size, 0))
    assert isinstance(found, dict)
    return found


def send(target: _socket.socket, word: bytes, descriptors: Sequence[int], flags: int = 0) -> None:
    """One message with descriptors."""
    numbers = struct.pack(f"{len(descriptors)}i", *descriptors)
    target.sendmsg([word], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)], flags)


def receive(source: _socket.socket, most: int) -> tuple[bytes, list[int]]:
    """One message and its descriptors; raises EOFError when the other end is closed."""
    data, extra, *_ = source.recvmsg(128, _socket.CMSG_SPACE(4 * most), _socket.MSG_CMSG_CLOEXEC)
    if not data:
        raise EOFError
    found = b"".join(numbers for *_, numbers in extra)
    return data, list(struct.unpack(f"{len(found) // 4}i", found))
