"""Taking over what a build made: checked and listed by digest outside, once everything inside is dead."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox import Cache, check_limit, remove_tree

__all__ = ["intact_entry", "is_intact", "manifest_place", "take_over"]

_DEEPEST = 200


def take_over(tree: Path, manifest: Path, *, leads_to: tuple[Path, ...] = (), shared_with: Path | None = None) -> None:
    """Give a dead build's tree plain modes and an owner that no sandbox has, and write down what it holds.

    Args:
        tree: The tree, which nothing alive can change any more.
        manifest: The file that says what it holds; outside the tree.
        leads_to: Folders outside that links may lead to, such as the interpreter's.
        shared_with: An entry of the cache, seen to be intact in this process, whose files the tree may share; what its
            manifest says of those is not worked out again.

    Raises:
        InfraFault: It holds a link that leads elsewhere, or what is neither file, folder nor link.
    """
    try:
        listed = _listed(tree, leads_to, _shared_digests(shared_with))
    except OSError as error:
        raise InfraFault(f"The build left what cannot be read: {error.strerror}.") from error
    manifest.write_text(json.dumps(listed), "utf-8", "surrogateescape")


def _shared_digests(entry: Path | None) -> dict[tuple[int, int], str]:
    """Digests of the files of an entry by device and inode; nothing that its manifest does not tell."""
    if entry is None or not is_intact(entry, manifest_place(entry)):
        return {}
    manifest = json.loads(manifest_place(entry).read_text("utf-8", "surrogateescape"))
    found: dict[tuple[int, int], str] = {}
    for name, about in manifest.items():
        if isinstance(about, list):
            status = (entry / name).lstat()
            found[status.st_dev, status.st_ino] = about[2]
    return found


def _listed(tree: Path, leads_to: tuple[Path, ...], shared: Mapping[tuple[int, int], str]) -> dict[str, object]:
    inside = tuple(os.path.realpath(place) for place in (tree, *leads_to))
    listed: dict[str, object] = {}
    folders = [tree]
    while folders:
        folder = folders.pop()
        check_limit()
        _settle(folder, 0o755)
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            path, name = Path(entry.path), os.path.relpath(entry.path, tree)
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                _check_link(path, name, inside)
                _settle(path, None)
                listed[name] = str(path.readlink())
            elif stat.S_ISDIR(mode):
                folders.append(path)
            elif stat.S_ISREG(mode):
                _settle(path, 0o755 if mode & 0o100 else 0o644)
                listed[name] = _of(path, shared)
            else:
                raise InfraFault(f"The build left {name!r}, which is neither a file nor a folder.")
            if name.count("/") > _DEEPEST:
                raise InfraFault(f"The build left folders that lie deeper than {_DEEPEST} in one another.")
    return listed


def _settle(path: Path, mode: int | None) -> None:
    status = path.lstat()  # what is right already stays untouched: other entries of the cache may share the file
    if os.geteuid() == 0 and (status.st_uid, status.st_gid) != (0, 0):
        os.chown(path, 0, 0, follow_symlinks=False)
        status = path.lstat()  # the change takes bits away
    if mode is not None and stat.S_IMODE(status.st_mode) != mode:
        path.chmod(mode)


def _check_link(path: Path, name: str, inside: tuple[str, ...]) -> None:
    end = os.path.realpath(path)
    if not any(end == place or end.startswith(f"{place}/") for place in inside):
        raise InfraFault(f"The build left a link that leads outside: {name!r} to {str(path.readlink())!r}.")


def _of(path: Path, shared: Mapping[tuple[int, int], str] | None = None) -> list[object]:
    status = path.stat()
    digest = (shared or {}).get((status.st_dev, status.st_ino))
    if digest is None:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return [stat.S_IMODE(status.st_mode), status.st_size, digest, status.st_mtime_ns, status.st_ctime_ns]


@functools.lru_cache(maxsize=4096)
def is_intact(tree: Path, manifest: Path) -> bool:
    """Whether a tree is what its manifest says; looked at once in a process.

    A file is read again only when its times are not those it was taken over with: nobody can set the time at which the
    kernel saw the last change. Where they differ only because another entry shares the file by now, that is noted.
    """
    try:
        listed = json.loads(manifest.read_text("utf-8", "surrogateescape"))
    except (OSError, ValueError):
        return False
    now: dict[str, object] = {}
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                continue
            place = os.path.relpath(path, tree)
            now[place] = str(path.readlink()) if stat.S_ISLNK(mode) else _looked_at(path, listed.get(place))
            if now[place] is None or (stat.S_ISLNK(mode) and now[place] != listed.get(place)):
                return False
    if len(now) == len(listed) and now != listed:
        _replace(manifest, now)
    return len(now) == len(listed)


def _looked_at(path: Path, facts: object) -> list[object] | None:
    """What to note of a file that is as it was told; None for one that is not."""
    if not isinstance(facts, list):
        return None
    status = path.stat(follow_symlinks=False)
    quick = [stat.S_IMODE(status.st_mode), status.st_size, facts[2], status.st_mtime_ns, status.st_ctime_ns]
    return quick if quick == facts or _of(path)[:3] == facts[:3] else None


def _replace(manifest: Path, listed: dict[str, object]) -> None:
    with tempfile.NamedTemporaryFile("w", dir=manifest.parent, delete=False, prefix=".manifest-") as stream:
        stream.buffer.write(json.dumps(listed).encode("utf-8", "surrogateescape"))
    Path(stream.name).replace(manifest)


def manifest_place(tree: Path) -> Path:
    """Where it is written what an entry of the cache, or one in the making, must hold."""
    return tree.with_name(f".{tree.name.lstrip('.').removesuffix('.part')}.manifest")


def intact_entry(cache: Cache, kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """An entry of the cache that is one tree, built when it is not there and again when it is not what was built."""
    entry = cache.entry(kind, key, build)
    if not is_intact(entry, manifest_place(entry)):
        remove_tree(entry)
        is_intact.cache_clear()
        entry = cache.entry(kind, key, build)
    return entry
