"""Trees that sessions mount, by the digest of their archive: sent once by each token, kept until room is needed.

A tree is there only for a holder of a token who has sent all of it: to know its digest is no proof of having it.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox.cache import remove_tree
from repoassay.sandbox.trees import read_tree

__all__ = ["TreeStore"]


class TreeStore:
    """A folder of unpacked trees. Used from any thread.

    Args:
        folder: An existing folder of this store's alone.
        most: Bytes of trees that are kept; what no session uses goes first, the longest unused before others.
        holders: Tokens, each of which has an equal share of them, so that none takes away what another has sent.
    """

    def __init__(self, folder: Path, most: int, holders: int = 1) -> None:
        self._folder, self._most, self._share = folder, most, most // max(1, holders)
        self._sizes: dict[str, int] = {}  # in order of use
        self._reserved: Counter[str] = Counter()
        self._senders: dict[str, set[str]] = {}
        self._used: Counter[str] = Counter()
        self._lock = threading.Lock()

    def lacking(self, holder: str, digests: Iterable[str]) -> tuple[str, ...]:
        """Those that are not here for the holder of a token; the others count as used now."""
        with self._lock:
            found = tuple(dict.fromkeys(digests))
            there = [digest for digest in found if self._is_there(holder, digest)]
            for digest in there:
                self._sizes[digest] = self._sizes.pop(digest)
            return tuple(digest for digest in found if digest not in there)

    def _is_there(self, holder: str, digest: str) -> bool:
        return holder in self._senders.get(digest, ())

    def take(self, holder: str, digest: str, stream: IO[bytes], size: int) -> None:
        """Unpack an archive of `size` bytes; what is here already is read to its end as well, as a proof.

        Raises:
            BadInput: It is no tree, is not what the digest says, or there is no room for it.
        """
        part = self._folder / f".{uuid.uuid4().hex}"
        with self._reserve(holder, size):
            part.mkdir(mode=0o755)
            try:
                hashed = _Hashed(stream, size)
                taken = read_tree(hashed, part)  # type: ignore[arg-type]  # all that tarfile asks of a stream
                hashed.finish()
                if (part / "tree").is_symlink():  # a mount shows what a link leads to: this machine's files
                    raise BadInput("The tree is a link, and neither a folder nor a file.")
                if hashed.digest.hexdigest() != digest or list(part.iterdir()) != [part / "tree"]:
                    raise BadInput("The tree is not what its digest says: it may have been changed while it was sent.")
                with self._lock:
                    if digest not in self._sizes:
                        self._make_room(holder, max(taken - size, 0))  # small files take more than their archive
                        part.rename(self._folder / digest)
                        self._sizes[digest] = max(size, taken)
                    self._senders.setdefault(digest, set()).add(holder)
            except InfraFault as fault:
                raise BadInput(fault.message) from None
            finally:
                remove_tree(part)

    @contextlib.contextmanager
    def _reserve(self, holder: str, size: int) -> Iterator[None]:
        """Keep room for a tree that is being sent, so that several at a time stay below the limit too."""
        with self._lock:
            self._make_room(holder, size)
            self._reserved[holder] += size
        try:
            yield
        finally:
            with self._lock:
                self._reserved[holder] -= size

    def _make_room(self, holder: str, size: int) -> None:
        """Remove what a holder has and no session uses until so many more bytes fit; raises `BadInput`."""
        for digest in [each for each in self._sizes if self._is_there(holder, each)]:
            if self._has_room(holder, size):
                break
            if not self._used[digest]:
                self._senders[digest].discard(holder)
                self._remove_unsent(digest)
        if not self._has_room(holder, size):
            raise BadInput(f"There is no room for a tree of {size} bytes.")

    def _remove_unsent(self, digest: str) -> None:
        """Remove a tree that nobody has who may use it."""
        if not self._senders[digest]:
            del self._sizes[digest], self._senders[digest]
            remove_tree(self._folder / digest)

    def _has_room(self, holder: str, size: int) -> bool:
        own = sum(kept for digest, kept in self._sizes.items() if self._is_there(holder, digest))
        total = sum(self._sizes.values()) + self._reserved.total()
        return own + self._reserved[holder] + size <= self._share and total + size <= self._most

    @contextlib.contextmanager
    def use(self, holder: str, digests: Iterable[str]) -> Iterator[dict[str, Path]]:
        """The places of a holder's trees while the context lasts; raises `BadInput` for one that is not here."""
        wanted = tuple(digests)
        with self._lock:
            for digest in wanted:
                if not self._is_there(holder, digest):
                    raise BadInput(f"The tree {digest} is not here.")
            self._used.update(wanted)
        try:
            yield {digest: self._folder / digest / "tree" for digest in wanted}
        finally:
            with self._lock:
                self._used.subtract(wanted)


class _Hashed:
    """A stream of so many bytes, and the digest of what was read."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self._left, self.digest = stream, size, hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        self.digest.update(data)
        return data

    def finish(self) -> None:
        while self.read(1 << 20):
            pass
