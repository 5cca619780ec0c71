"""Carrying plain data between host and supervisor.

Both ends are ours and of one Python, and nothing hostile ever holds these pipes, so `marshal` will do: it costs no
import and takes bytes as they are.
"""

from __future__ import annotations

import marshal
from types import SimpleNamespace

__all__ = ["decode", "encode", "read_spec"]


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
