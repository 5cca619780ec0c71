"""Trees as bytes: how entries of the cache go from one machine to another.

What comes from elsewhere is unpacked by hand: files, folders and links alone, below the target, with plain modes.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repoassay.errors import InfraFault
from repoassay.sandbox import SANDBOX_UID

__all__ = ["MOST_BYTES", "CacheParcel", "pack_files", "pack_tree", "unpack_files", "unpack_tree"]

MOST_BYTES = 2 * 2**30
"""The largest tree that is sent; what is larger each node makes for itself."""
_MOST_ANSWER = 512 * 2**20
_MOST_MEMBERS = 200_000
"""Bytes and files that come back of one piece of work."""


@dataclass(frozen=True, slots=True)
class CacheParcel:
    """An entry of the cache by kind and key, whose content the key stands for; `pack` makes its bytes when asked."""

    kind: str
    key: str
    pack: Callable[[], bytes]

    @property
    def name(self) -> str:
        """Kind and key as one word."""
        return f"{self.kind}/{self.key}"


def pack_tree(trees: Mapping[str, Path]) -> bytes:
    """Trees and files by the place each gets, "." for the top, as an uncompressed tar archive.

    Modes and times stay, and of owners only whether it is the sandboxes' account.
    """
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, tree in trees.items():
            archive.add(tree, name, filter=_plain)
    return target.getvalue()


def pack_files(tree: Path) -> bytes:
    """The files and folders below a folder, without links or anything else, as `unpack_files` takes them.

    Raises:
        InfraFault: They are too many, or too large together.
    """
    size = count = 0
    trees = {}
    for folder, folders, files in os.walk(tree):
        for name in sorted([*folders, *files]):
            path = Path(folder, name)
            state = path.lstat()
            if stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode):
                trees[path.relative_to(tree).as_posix()] = path
                size, count = size + state.st_size, count + 1
        if size > _MOST_ANSWER or count > _MOST_MEMBERS:
            raise InfraFault(f"{count} files of {size >> 20} MiB are too many to be sent to another machine.")
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in trees.items():
            archive.inodes.clear()  # type: ignore[attr-defined]  # two names of one file are sent as two files
            archive.add(path, name, recursive=False, filter=_plain)
    return target.getvalue()


def unpack_files(data: bytes, target: Path) -> None:
    """Unpack what `pack_files` made into an empty folder.

    Raises:
        InfraFault: It holds anything but files and folders inside of it, more than are ever sent, or what is larger
            unpacked than packed.
    """
    if len(data) > 2 * _MOST_ANSWER:
        raise InfraFault(f"What was sent is {len(data) >> 20} MiB.")
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for count, member in enumerate(archive):
                if not member.isdir() and (not member.isreg() or member.issparse()):
                    raise InfraFault(f"What was sent holds {member.name[:200]!r}, which is no plain file.")
                if count >= _MOST_MEMBERS:
                    raise InfraFault(f"What was sent holds more than {_MOST_MEMBERS} files.")
    except (tarfile.TarError, OSError, ValueError, RecursionError) as error:
        raise InfraFault(f"What was sent is no tree of files: {error}.") from error
    unpack_tree(data, target)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uname = member.gname = ""
    member.uid = member.gid = SANDBOX_UID if member.uid == SANDBOX_UID else 0
    return member


def unpack_tree(data: bytes, target: Path) -> None:
    """Unpack what `pack_tree` made into a folder.

    Raises:
        InfraFault: It is no such archive, or would write outside of the folder.
    """
    links: list[tuple[Path, str]] = []
    times: list[tuple[Path, float]] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for member in archive:
                place = target / _inside(member.name)
                if member.issym():
                    links.append((place, member.linkname))
                elif member.isdir():
                    place.mkdir(parents=True, exist_ok=True)
                    place.chmod(0o755)
                    times.append((place, member.mtime))
                elif member.issparse():
                    raise InfraFault(f"What was sent holds {member.name!r}, which is larger than it looks.")
                elif member.isfile() or member.islnk():  # several names of one file become files of their own
                    place.parent.mkdir(parents=True, exist_ok=True)
                    source = archive.extractfile(member)
                    assert source is not None
                    with place.open("xb") as stream:
                        while block := source.read(1 << 20):
                            stream.write(block)
                    place.chmod(0o755 if member.mode & stat.S_IXUSR else 0o644)
                    os.utime(place, (member.mtime, member.mtime))
                else:
                    raise InfraFault(f"What was sent holds {member.name!r}, which is neither file, folder nor link.")
                if not member.issym():
                    _own(place, member)
    except (tarfile.TarError, OSError, KeyError, RecursionError) as error:
        raise InfraFault(f"What was sent is no tree of files: {error}.") from error
    made: set[Path] = set()
    for place, leads_to in links:  # last, so that nothing is written through one, and none is made through another
        if not made.isdisjoint(place.parents):
            raise InfraFault(f"What was sent would be written through a link: {place.name[:200]!r}.")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(leads_to)
        made.add(place)
    for place, when in reversed(times):
        os.utime(place, (when, when))


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise InfraFault(f"What was sent would be written outside of its folder: {name[:200]!r}.")
    return path


def _own(place: Path, member: tarfile.TarInfo) -> None:
    if os.geteuid() == 0 and member.uid == SANDBOX_UID:
        os.chown(place, SANDBOX_UID, SANDBOX_UID, follow_symlinks=False)
