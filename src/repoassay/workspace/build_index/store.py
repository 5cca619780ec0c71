"""Package files by digest, downloaded outside of every sandbox and verified whenever they are used again."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox import Cache, remove_tree
from repoassay.workspace.build_index.upstream import IndexUpstream

__all__ = ["MAX_FILE", "Store"]

MAX_FILE = 4 * 2**30
_MAX_PAGE = 256 * 2**20
_FRESH = 600.0
"""Seconds a page of an index is taken for what the index says, as pip and uv have it."""
_DIGEST = re.compile(r"(sha256|sha384|sha512)-[0-9a-f]{64,128}")


class Store:
    """The part of the cache that holds packages (`packages/`) and pages of indexes (`pages/`)."""

    def __init__(self, cache: Cache, upstream: IndexUpstream) -> None:
        self._cache, self._upstream = cache, upstream

    def file(self, url: str, digest: str, count: Callable[[int], None]) -> Path:
        """The file at an address, from the store when it is there.

        Args:
            url: Where it lies.
            digest: `sha256-<hex>` (or sha384, sha512), as its index has it.
            count: Told how many bytes are downloaded; what it raises ends the download.

        Raises:
            InfraFault: It cannot be had, or is another than its index says.
        """
        if not _DIGEST.fullmatch(digest):
            raise InfraFault(f"The index gives {url} no usable digest: {digest[:80]!r}.")
        algorithm = digest.partition("-")[0]

        def build(part: Path) -> None:
            found = self.download(url, part / "file", algorithm, count)
            if found != digest:
                raise InfraFault(f"{url} came with {found[:20]}... instead of {digest[:20]}...")

        path = self._cache.entry("packages", digest, build) / "file"
        if digest_of(path, algorithm) != digest:  # spoiled on the disk: fetch it anew
            with self._cache.lock(f"spoiled-{digest}"):
                remove_tree(path.parent)
            path = self._cache.entry("packages", digest, build) / "file"
        return path

    def download(self, url: str, target: Path, algorithm: str, count: Callable[[int], None]) -> str:
        """Put what lies at an address into a file, and return its digest; arguments as for `file`."""
        digest, size = hashlib.new(algorithm), 0
        with self._upstream.open(url) as answer, target.open("wb") as out:
            while chunk := answer.read(1 << 20):
                size += len(chunk)
                if size > MAX_FILE:
                    raise InfraFault(f"{url} is larger than {MAX_FILE} bytes.")
                count(len(chunk))
                digest.update(chunk)
                out.write(chunk)
        return f"{algorithm}-{digest.hexdigest()}"

    def page(self, url: str, accept: str) -> tuple[str, bytes]:
        """Content type and content of a page of an index, asked for at most once in ten minutes."""
        key = hashlib.sha256(f"{accept} {url}".encode()).hexdigest()
        kept = self._cache.path / "pages" / key
        with contextlib.suppress(OSError):
            if 0 <= time.time() - kept.stat().st_mtime < _FRESH:
                first, _, rest = kept.read_bytes().partition(b"\n")
                return first.decode(), rest
        with self._upstream.open(url, accept, pages=True) as answer:
            body = answer.read(_MAX_PAGE)
            if answer.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            kind = (answer.headers.get("Content-Type") or "").replace("\n", " ")
        kept.parent.mkdir(exist_ok=True)
        part = kept.with_name(f".{key}.{os.getpid()}.{time.monotonic_ns()}")
        part.write_bytes(kind.encode() + b"\n" + body)
        part.rename(kept)
        return kind, body


def digest_of(path: Path, algorithm: str) -> str:
    """`<algorithm>-<hex>` of a file; empty when it cannot be read."""
    try:
        with path.open("rb") as stream:
            return f"{algorithm}-{hashlib.file_digest(stream, algorithm).hexdigest()}"
    except OSError:
        return ""
