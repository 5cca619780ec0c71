"""Entries of the cache that machines of a cluster share, so that each is built once: through a folder, or by executors.

Only trees are shared that are checked against their manifest before use, or that hold nothing but a repository's
commit; never verdicts, nor anything that a submission could write to.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.executors.parcels import MOST_BYTES, pack_tree, unpack_tree
from repoassay.sandbox import scratch_beside
from repoassay.workspace import manifest_place

__all__ = ["SHARED_KINDS", "ShareFolder", "pack_entry", "share_key", "unpack_entry"]

SHARED_KINDS = frozenset(
    {"agents", "apt", "builds", "checkouts", "environments", "interpreters", "proofs", "references", "traces"}
)
"""Kinds of entries worth sharing: those that take long to build, or are fetched from elsewhere."""
_TREE, _MANIFEST = "tree", "manifest"


def share_key(kind: str, key: str) -> str:
    """A name for an entry that only machines with the same processor and rights give it."""
    rights = "root" if os.geteuid() == 0 else "user"
    return hashlib.sha256(f"{kind}/{key} {platform.machine()} {rights}".encode()).hexdigest()


def pack_entry(part: Path) -> bytes | None:
    """An entry, or one in the making, with its manifest; None for one that is too large to be sent."""
    size = 0
    for folder, _, files in os.walk(part):
        size += sum(Path(folder, name).lstat().st_size for name in files)
    if size > MOST_BYTES:
        return None
    trees = {_TREE: part}
    if manifest_place(part).is_file():
        trees[_MANIFEST] = manifest_place(part)
    return pack_tree(trees)


def unpack_entry(data: bytes, part: Path) -> None:
    """Fill the folder of an entry in the making with what `pack_entry` made.

    Raises:
        InfraFault: It is nothing of the kind.
    """
    with scratch_beside(part) as place:
        unpack_tree(data, place)
        manifest = place / _MANIFEST
        if not (place / _TREE).is_dir() or any(each.is_symlink() for each in place.iterdir()):
            raise InfraFault("What was sent is no entry of the cache: its content would lie elsewhere.")
        if manifest.is_file():
            manifest.replace(manifest_place(part))
        part.rmdir()
        (place / _TREE).rename(part)


class ShareFolder:
    """A folder that every machine sees, as on a network file system, with one archive an entry.

    Two machines that want the same entry at once may both build it; the first one's archive stays.

    Args:
        path: The folder; made when it is not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def fill(self, kind: str, key: str, part: Path, build: Callable[[Path], None]) -> None:
        """See `EntryShare.fill`."""
        archive = self._path / f"{share_key(kind, key)}.tar"
        if kind in SHARED_KINDS and archive.is_file():
            unpack_entry(archive.read_bytes(), part)
            return
        build(part)
        if kind in SHARED_KINDS and (data := pack_entry(part)) is not None:
            with tempfile.NamedTemporaryFile(dir=self._path, delete=False) as stream:
                stream.write(data)
            Path(stream.name).replace(archive)
