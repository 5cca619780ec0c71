"""Where the places of a sandbox lie when there is none: below a temporary folder of the host.

Every mention of such a place in command lines, environments and standard input is rewritten to its stand-in.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from repoassay.sandbox.launcher.collect import Links, collect
from repoassay.sandbox.launcher.root import remove
from repoassay.sandbox.protocol import Access, Completed, SandboxSetup
from repoassay.types import Ended, Exit, SkippedFile

__all__ = ["HostPlaces"]

_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")


class HostPlaces:
    """The temporary stand-in for the sandbox's root."""

    def __init__(self, root: Path, setup: SandboxSetup) -> None:
        self._root, self._setup = root, setup
        targets = [
            *setup.scratch,
            *(mount.target for mount in setup.mounts),
            *map(_top, setup.edits),
        ]
        names = sorted(
            {target for target in targets if _top(target) not in ("/tmp", "/usr")},  # noqa: S108 - names of real folders
            key=len,
            reverse=True,
        )
        names += ["/workspace", "/home/agent"]
        self.host("/home/agent").mkdir(parents=True, exist_ok=True)
        self._pattern = re.compile(r"(?<![\w./-])(" + "|".join(map(re.escape, names)) + r")(?![\w-])")
        places: list[tuple[str, Access | None, Path]] = [(path, None, root) for path in setup.scratch]
        places += [(mount.target, mount.access, mount.source) for mount in setup.mounts]
        for target, access, source in sorted(places, key=lambda place: place[0].count("/")):
            self._lay(self.host(target), access, source)
        for path, edit in setup.edits.items():
            place = self.host(path)
            if path.endswith("/"):
                place.mkdir(parents=True, exist_ok=True)
                continue
            if edit is None or place.is_symlink() or place.is_dir():
                remove(str(place))
            if edit is None:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(edit.content)
            place.chmod(0o755 if edit.executable else 0o644)

    @staticmethod
    def _lay(place: Path, access: Access | None, source: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        if access is None:
            place.mkdir(exist_ok=True)
        elif access is Access.COPY_ON_WRITE:
            shutil.copytree(source, place, symlinks=True)
        else:
            place.symlink_to(source.resolve())

    def host(self, path: str) -> Path:
        """The host path that stands for `path`."""
        return self._root / path.lstrip("/")

    def rewrite(self, text: str) -> str:
        """Point every mention of a laid-out place at its stand-in."""
        return self._pattern.sub(lambda match: str(self.host(match[1])), text)

    def inside(self, path: str, *, writable: bool = False) -> Path:
        """The host path that stands for `path` once links are followed, if that lies in here or in a mount.

        Raises OSError when it does not, or is to be written and lies in a mount that is read only.
        """
        place = self.host(os.path.normpath(path)).resolve()
        mounts = [mount for mount in self._setup.mounts if mount.access is Access.WRITE or not writable]
        if not any(place.is_relative_to(top) for top in (self._root, *(mount.source.resolve() for mount in mounts))):
            raise PermissionError(errno.EACCES, "it leads out of the workspace or may not be written", path)
        return place

    def typed(self, content: bytes) -> IO[bytes]:
        """An open file with what a command is to have as standard input."""
        stream = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        stream.write(self.rewrite(content.decode(errors="surrogateescape")).encode(errors="surrogateescape"))
        stream.seek(0)
        return stream

    def start(
        self,
        argv: Sequence[str],
        cwd: str,
        stdin: IO[bytes],
        more: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start a process that leads a group of its own; raises OSError or ValueError where that cannot be."""
        place = self.host(cwd)
        return subprocess.Popen(
            [self.rewrite(part) for part in argv],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(more),
            cwd=place if place.is_dir() else None,
            start_new_session=True,
            pass_fds=pass_fds,
        )

    @staticmethod
    def not_started(argv: Sequence[str], error: Exception) -> Completed:
        """How a command ended that could not be started: as the other sandbox and shells have it."""
        code = 127 if isinstance(error, FileNotFoundError) else 126
        return Completed(Exit(ended=Ended.EXITED, code=code), stderr=f"{argv[0]}: {error}\n".encode())

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a process: a little of our own, the setup's, and `more`."""
        env = {key: value for key, value in os.environ.items() if key in _PASSED_ON}
        return env | {key: self.rewrite(value) for key, value in {**self._setup.env, **(more or {})}.items()}

    def collect(self) -> tuple[SkippedFile, ...]:
        """Copy out what the setup asks for; returns what was left behind."""
        rejected = []
        for item in self._setup.collect:
            item.into.mkdir(parents=True, exist_ok=True)
            source = str(self.host(item.source))
            root = str(self._root)
            links = None if item.links is None else Links(root, item.source, os.geteuid(), list(item.links))
            rejected += collect(source, str(item.into), item.max_bytes, item.max_files, list(item.skip), links)
        return tuple(SkippedFile(path=path, reason=reason) for path, reason in rejected)


def _top(path: str) -> str:
    return "/" + path.lstrip("/").split("/", 1)[0]
