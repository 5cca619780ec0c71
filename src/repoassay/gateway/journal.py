"""The journal of an attempt's model calls: one JSON object a line in `usage.jsonl`, bodies compressed beside it.

A call is written when it ends, in one write. A crash may tear the last line; the reader leaves it out and says so.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repoassay.model.calls import Call

__all__ = ["CallJournal", "CallsRead", "read_calls"]

_LONGEST_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class CallsRead:
    """Whole records in order, and the numbers of the lines that could not be read."""

    calls: tuple[Call, ...]
    torn: tuple[int, ...]


class CallJournal:
    """Appends calls to one file; `secrets` never reach it.

    Lines are written straight to the file, without fsync: a crash of the harness loses none, a power cut may lose some.
    """

    def __init__(self, path: Path, secrets: Iterable[str] = ()) -> None:
        self.path = path
        self._secrets = [secret for secret in secrets if secret]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def hide(self, *secrets: str) -> None:
        """Keep these out too."""
        self._secrets.extend(secret for secret in secrets if secret)

    def append(self, call: Call) -> None:
        """Add one call."""
        if self._file < 0:
            return  # a handler that outlived its pass
        line = call.model_dump_json(exclude_defaults=True)
        os.write(self._file, self.scrub(line.encode()) + b"\n")

    def scrub(self, data: bytes) -> bytes:
        """`data` without the secrets."""
        for secret in self._secrets:
            if (hidden := secret.encode()) in data:
                data = data.replace(hidden, b"[key]")
        return data

    def keep(self, stem: str, request: bytes, response: bytes) -> None:
        """Write both bodies, scrubbed and compressed, into `<journal>.bodies/`."""
        folder = self.path.with_suffix(".bodies")
        folder.mkdir(exist_ok=True)
        for name, data in (("request", request), ("response", response)):
            (folder / f"{stem}.{name}.gz").write_bytes(gzip.compress(self.scrub(data), 1, mtime=0))

    def close(self) -> None:
        """Close the file; further calls are an error."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def read_calls(path: Path) -> CallsRead:
    """Read a journal, leaving out lines that are torn or not calls. A missing file is an empty journal."""
    calls: list[Call] = []
    torn: list[int] = []
    if not path.exists():
        return CallsRead((), ())
    with path.open("rb") as lines:
        number = 0
        while line := lines.readline(_LONGEST_LINE):
            number += 1
            if not line.strip():
                continue
            try:
                calls.append(Call.model_validate_json(line))
            except ValidationError:
                torn.append(number)
    return CallsRead(tuple(calls), tuple(torn))
