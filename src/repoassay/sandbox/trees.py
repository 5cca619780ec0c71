"""Trees of files as tar archives, for another machine: modes and times stay, and whether commands own a file."""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import SANDBOX_UID

__all__ = ["measure_tree", "read_tree", "write_tree"]

_BLOCK = 4096
"""Bytes that a file takes on a disk at least, and are counted for each."""
_MOST_ENTRIES = 1_000_000
_MOST_HEADER = 2**16
"""Bytes of a long name, or of a header's further fields."""
_LONG_NAMES = (
    tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE
)  # fmt: skip
_SPARSE = "What was sent holds a file that is larger than it looks."


def write_tree(trees: Mapping[str, Path], stream: IO[bytes]) -> None:
    """Write trees and files by the place each gets, "." for the top, as an uncompressed tar archive.

    The same trees make the same bytes. Of owners only is told whether it is the account of sandboxes' commands. Several
    names of one file become files of their own. What a use of a tree touches has no time: its top folder, which the
    cache touches, and Git's objects, which Git touches when it would write one that is there.
    """
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            archive.inodes.clear()  # type: ignore[attr-defined]  # or the second name of a file were a link
            member.uname = member.gname = ""
            # As precise as compiled files need; a fraction costs a header of its own.
            touched = (member.isdir() and member.name in trees) or _OBJECT.search(member.name)
            member.mtime = 0 if touched else int(member.mtime)
            member.uid = member.gid = SANDBOX_UID if member.uid in _OWNERS else 0
            return member

        above: set[str] = set()
        for name, tree in trees.items():
            for folder in reversed([str(each) for each in PurePosixPath(name).parents if each.name]):
                if folder not in above and folder not in trees:  # whoever unpacks it makes no folder without an entry
                    entry = tarfile.TarInfo(folder)
                    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                    archive.addfile(entry)
                    above.add(folder)
            archive.add(tree, name, filter=plain)


_OBJECT = re.compile(r"(^|/)\.git/(.*/)?objects/")
_OWNERS = frozenset({SANDBOX_UID} if os.geteuid() == 0 else {SANDBOX_UID, os.geteuid()})
"""Accounts that commands in this machine's sandboxes may have: without root it is our own."""


def measure_tree(trees: Mapping[str, Path]) -> tuple[str, int]:
    """The sha256 digest, in hex digits, and the size in bytes of what `write_tree` writes."""
    count = _Count()
    write_tree(trees, count)  # type: ignore[arg-type]  # all that tarfile asks of a stream
    return count.digest.hexdigest(), count.size


class _Count:
    def __init__(self) -> None:
        self.digest, self.size = hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self.size += len(data)
        return len(data)


def read_tree(stream: IO[bytes], target: Path) -> int:
    """Unpack what `write_tree` wrote into a folder. Nothing is believed of it, but its size is up to the caller.

    Memory and disk stay within a small multiple of that size: every file and folder has an entry of its own, of which
    there are a million at most.

    Returns:
        Bytes that it takes on a disk, about.

    Raises:
        InfraFault: It is no such archive, or would write outside of the folder.
    """
    links: list[tuple[Path, str]] = []
    times: list[tuple[Path, float]] = []
    count = taken = 0
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_PlainEntry) as archive:
            while (member := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # tarfile would keep each of them
                count, taken = count + 1, taken + -(-max(member.size, 1) // _BLOCK) * _BLOCK
                if count > _MOST_ENTRIES:
                    raise InfraFault(f"What was sent holds more than {_MOST_ENTRIES:,} files and folders.")
                _take(archive, member, target / _inside(member.name), links, times)
        places = {place for place, _ in links}
        for place, leads_to in links:  # last, so that nothing is written through one
            if not places.isdisjoint(place.parents):
                raise InfraFault("What was sent holds a link below another link.")
            place.symlink_to(leads_to)
        for place, when in reversed(times):
            os.utime(place, (when, when))
    except (tarfile.TarError, OSError, KeyError, ValueError, OverflowError, RecursionError) as error:
        raise InfraFault(f"What was sent is no tree of files: {error}.") from error
    return taken


class _PlainEntry(tarfile.TarInfo):
    """A header of an archive, whose names are short enough to be held, and which makes nothing larger than it is."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        """What tarfile lets subclasses replace: called with each header, before what follows it is read."""
        if self.type in _LONG_NAMES and self.size > _MOST_HEADER:
            raise InfraFault("What was sent holds a name that is too long.")
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise InfraFault(_SPARSE)
        return super()._proc_member(archive)  # type: ignore[misc]  # not in the stubs

    def _refuse_sparse(self, *_: object) -> None:
        """Maps of holes, which are read into memory whatever their size."""
        raise InfraFault(_SPARSE)

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse


def _take(
    archive: tarfile.TarFile, member: tarfile.TarInfo, place: Path, links: list[tuple[Path, str]],
    times: list[tuple[Path, float]],
) -> None:  # fmt: skip
    if member.issym():
        links.append((place, member.linkname))
        return
    if member.isdir():
        place.mkdir(exist_ok=True)
        place.chmod(member.mode & 0o755 | 0o700)
        times.append((place, member.mtime))
    elif member.isfile():
        source = archive.extractfile(member)
        assert source is not None
        with place.open("xb") as stream:
            while block := source.read(1 << 20):
                stream.write(block)
        place.chmod(member.mode & 0o755 | 0o600)
        os.utime(place, (member.mtime, member.mtime))
    else:
        raise InfraFault(f"What was sent holds {member.name!r}, which is neither file, folder nor link.")
    if os.geteuid() == 0 and member.uid == SANDBOX_UID:
        os.chown(place, SANDBOX_UID, SANDBOX_UID, follow_symlinks=False)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise InfraFault(f"What was sent would be written outside of its folder: {name[:200]!r}.")
    return path
