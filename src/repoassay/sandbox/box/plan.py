"""What a setup asks of whoever sets a box up: mounts, folders that may be written, and what the server copies."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repoassay.errors import InfraFault
from repoassay.sandbox.launcher.root import ALWAYS
from repoassay.sandbox.protocol import Access, SandboxNetwork, SandboxSetup

__all__ = ["BoxFolder", "BoxMount", "BoxPlan", "plan_box"]

_STAGING = "/.repoassay"
_PAGE = 4096


@dataclass(frozen=True, slots=True)
class BoxMount:
    """A host file or folder at `target`; with `writable`, what is written there reaches the host."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class BoxFolder:
    """An empty folder in memory at `target`, of at most `size` bytes."""

    target: str
    size: int


@dataclass(frozen=True, slots=True)
class BoxPlan:
    """Places of a box, outer before inner, and the copies (`from`, `to`) that its server makes first."""

    places: tuple[BoxMount | BoxFolder, ...]
    copies: tuple[tuple[str, str], ...]
    setup: SandboxSetup
    files: tuple[str, ...] = ()

    def with_files(self, folder: Path) -> BoxPlan:
        """The plan with edits outside of writable places as read-only mounts of files, which are written to `folder`.

        Raises `InfraFault` for one that deletes.
        """
        mounts = []
        for number, path in enumerate(self.files):
            edit = self.setup.edits[path]
            if edit is None:
                raise InfraFault(f"The sandbox could not be set up: {path} cannot be deleted.")
            place = folder / f"file-{number}"
            place.write_bytes(edit.content)
            place.chmod(0o755 if edit.executable else 0o644)
            mounts.append(BoxMount(str(place), path))
        return replace(self, places=tuple(sorted((*self.places, *mounts), key=_depth)))

    def server_spec(self, *, env: dict[str, str], uid: int, nested: bool, memory_is_counted: bool) -> dict[str, Any]:
        """What the server is told; see `box/server.py`.

        Args:
            env: Environment of commands.
            uid: Account of commands in the box; -1 leaves them the server's own.
            nested: Whether the server is process 1 and gives up root in namespaces of its own.
            memory_is_counted: Whether the kernel holds the whole box to its memory.
        """
        setup, limits = self.setup, self.setup.limits
        private = setup.network is SandboxNetwork.NONE
        scratch = [place.target for place in self.places if isinstance(place, BoxFolder)]
        return {
            "env": list({**env, **setup.env}.items()),
            "cwd": setup.cwd,
            "scratch": scratch,
            "limited": scratch,
            "entered": [],
            "container_memory": -1,
            "copies": list(self.copies),
            "writes": [
                (path, None if edit is None else edit.content, edit is not None and edit.executable)
                for path, edit in setup.edits.items()
                if path not in self.files
            ],
            "gather": [
                (each.source, each.max_bytes, each.max_files, list(each.skip),
                 None if each.links is None else list(each.links))
                for each in setup.collect
            ],
            "mounted": [place.target for place in self.places],
            "hosts": list(setup.hosts) if private else [],
            "doors": [door.port for door in setup.doors] if private else [],
            "seconds": limits.seconds,
            "memory": limits.memory,
            "disk": limits.disk,
            "processes": limits.processes,
            "watched_processes": limits.processes,
            "uid": uid,
            "nested": nested,
            "memory_is_counted": memory_is_counted,
            "alone": True,
        }  # fmt: skip


def plan_box(setup: SandboxSetup) -> BoxPlan:
    """Lay out what `setup` asks for; raises `InfraFault` for a mount whose source is not there."""
    disk = setup.limits.disk
    places: list[BoxMount | BoxFolder] = [BoxFolder(path, disk) for path in dict.fromkeys((*ALWAYS, *setup.scratch))]
    copies = []
    for number, mount in enumerate(setup.mounts):
        source = os.path.realpath(mount.source)
        if not os.path.exists(source):
            raise InfraFault(f"The sandbox could not be set up: {mount.source} is not there.")
        if mount.access is not Access.COPY_ON_WRITE:
            places.append(BoxMount(source, mount.target, mount.access is Access.WRITE))
            continue
        staging = f"{_STAGING}/{number}"
        places += [BoxMount(source, staging), BoxFolder(mount.target, disk + _size(source))]
        copies.append((staging, mount.target))
    targets = {place.target for place in places if isinstance(place, BoxMount)}
    kept = [place for place in places if isinstance(place, BoxMount) or place.target not in targets]
    folders = [place.target for place in kept if isinstance(place, BoxFolder)]
    files = tuple(path for path in setup.edits if not any(_is_below(path, folder) for folder in folders))
    copies.sort(key=lambda pair: pair[1].count("/"))
    return BoxPlan(tuple(sorted(kept, key=_depth)), tuple(copies), setup, files)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _depth(place: BoxMount | BoxFolder) -> int:
    return place.target.rstrip("/").count("/")


def _size(folder: str) -> int:
    """Bytes that a copy takes in memory: whole pages."""
    found = 0
    for top, _, files in os.walk(folder):
        for name in files:
            status = Path(top, name).lstat()
            found += -(-status.st_size // _PAGE) * _PAGE if stat.S_ISREG(status.st_mode) else 0
    return found
