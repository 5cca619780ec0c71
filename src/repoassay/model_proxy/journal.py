"""Writes the journal of an attempt's model calls: one JSON object a line in `usage.jsonl`, bodies compressed beside it.

A call is written when it ends, in one write; `repoassay.records.calls` reads it back.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from pathlib import Path

from repoassay.records import Codec, JsonLines, record_codec
from repoassay.types import Call

__all__ = ["CallJournal"]

_SHORTEST = 8
"""Bytes of the shortest key that is one: servers that want none are given `EMPTY`, `none` or `x`, and what they answer
has such words of its own."""
_LONG = 16
"""Bytes from which on a key is no part of another word by chance."""
_CALLS = record_codec(Call)


class CallJournal:
    """Appends calls to one file; `secrets` never reach it.

    Lines are written straight to the file, without fsync: a crash of the harness loses none, a power cut may lose some.
    """

    def __init__(self, path: Path, secrets: Iterable[str] = ()) -> None:
        self.path = path
        self._secrets = [secret for secret in secrets if secret]
        path.parent.mkdir(parents=True, exist_ok=True)
        codec = Codec(_CALLS.read, lambda call: self.scrub(_CALLS.write(call)))
        self._lines = JsonLines(path, codec, fsync=False)
        self._lines.create()
        self._closed = False

    def hide(self, *secrets: str) -> None:
        """Keep these out too."""
        self._secrets.extend(secret for secret in secrets if secret)

    def append(self, call: Call) -> None:
        """Add one call."""
        if not self._closed:  # a handler may outlive its session
            self._lines.append(call)

    def scrub(self, data: bytes) -> bytes:
        """`data` without the secrets."""
        for secret in self._secrets:
            if (hidden := secret.encode()) not in data or len(hidden) < _SHORTEST:
                continue
            if len(hidden) < _LONG:
                data = re.sub(rb"(?<![\w-])" + re.escape(hidden) + rb"(?![\w-])", b"[key]", data)
            else:
                data = data.replace(hidden, b"[key]")
        return data

    def begun(self, data: bytes) -> int:
        """How many bytes at the end of `data` may be the beginning of a secret, whose rest is still to come."""
        keys = [secret.encode() for secret in self._secrets if len(secret) >= _SHORTEST]
        return max((size for key in keys for size in range(1, len(key)) if data.endswith(key[:size])), default=0)

    def keep(self, stem: str, request: bytes, response: bytes) -> None:
        """Write both bodies, scrubbed and compressed, into `<journal>.bodies/`."""
        folder = self.path.with_suffix(".bodies")
        folder.mkdir(exist_ok=True)
        for name, data in (("request", request), ("response", response)):
            (folder / f"{stem}.{name}.gz").write_bytes(gzip.compress(self.scrub(data), 1, mtime=0))

    def close(self) -> None:
        """Take no further calls."""
        self._closed = True
