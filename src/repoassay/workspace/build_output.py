"""Taking over what a build made: checked and listed by digest outside, once everything inside is dead."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import stat
from pathlib import Path

from repoassay.errors import InfraFault

__all__ = ["is_intact", "take_over"]

_DEEPEST = 200


def take_over(tree: Path, manifest: Path, *, leads_to: tuple[Path, ...] = ()) -> None:
    """Give a dead build's tree plain modes and an owner that no sandbox has, and write down what it holds.

    Args:
        tree: The tree, which nothing alive can change any more.
        manifest: The file that says what it holds; outside the tree.
        leads_to: Folders outside that links may lead to, such as the interpreter's.

    Raises:
        InfraFault: It holds a link that leads elsewhere, or what is neither file, folder nor link.
    """
    try:
        listed = _listed(tree, leads_to)
    except OSError as error:
        raise InfraFault(f"The build left what cannot be read: {error.strerror}.") from error
    manifest.write_text(json.dumps(listed), "utf-8", "surrogateescape")


def _listed(tree: Path, leads_to: tuple[Path, ...]) -> dict[str, object]:
    inside = tuple(os.path.realpath(place) for place in (tree, *leads_to))
    listed: dict[str, object] = {}
    folders = [tree]
    while folders:
        folder = folders.pop()
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
                listed[name] = _of(path)
            else:
                raise InfraFault(f"The build left {name!r}, which is neither a file nor a folder.")
            if name.count("/") > _DEEPEST:
                raise InfraFault(f"The build left folders that lie deeper than {_DEEPEST} in one another.")
    return listed


def _settle(path: Path, mode: int | None) -> None:
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)
    if mode is not None:
        path.chmod(mode)  # after the owner, whose change takes bits away


def _check_link(path: Path, name: str, inside: tuple[str, ...]) -> None:
    end = os.path.realpath(path)
    if not any(end == place or end.startswith(f"{place}/") for place in inside):
        raise InfraFault(f"The build left a link that leads outside: {name!r} to {str(path.readlink())!r}.")


def _of(path: Path) -> list[object]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    status = path.stat()
    return [stat.S_IMODE(status.st_mode), status.st_size, digest, status.st_mtime_ns, status.st_ctime_ns]


@functools.lru_cache(maxsize=4096)
def is_intact(tree: Path, manifest: Path) -> bool:
    """Whether a tree is what its manifest says; looked at once in a process.

    A file is read again only when its times are not those it was taken over with: nobody can set the time at which the
    kernel saw the last change.
    """
    try:
        listed = json.loads(manifest.read_text("utf-8", "surrogateescape"))
    except (OSError, ValueError):
        return False
    seen = 0
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                continue
            seen += 1
            told = listed.get(os.path.relpath(path, tree))
            if stat.S_ISLNK(mode):
                if told != str(path.readlink()):
                    return False
            elif not isinstance(told, list) or not _same(path, told):
                return False
    return seen == len(listed)


def _same(path: Path, told: list[object]) -> bool:
    status = path.stat(follow_symlinks=False)
    quick = [stat.S_IMODE(status.st_mode), status.st_size, told[2], status.st_mtime_ns, status.st_ctime_ns]
    return quick == told or _of(path)[:3] == told[:3]
