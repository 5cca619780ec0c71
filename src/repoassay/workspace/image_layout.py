"""A task's repository and environment out of its container image, as the image has them.

The repository is copied out once for an image, without its history: one commit of what git tracks there, all else
named as not to be tracked. It is laid over the image's own, whose `.git` nobody in the container can then reach. The
environment stays in the image; what activating it sets is asked once. All that an image says is read as hostile.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

from repoassay.errors import InfraFault, Unavailable
from repoassay.sandbox import (
    Cache,
    Command,
    Completed,
    FoundImage,
    ImageEnvironment,
    Mount,
    TaskImageSandbox,
    image_environment,
)
from repoassay.tasks import TaskFolder
from repoassay.types import Ended, Limits
from repoassay.workspace.builds import take_repository

__all__ = ["repository_place", "take_image"]

_FORMAT = "1"
_LIMITS = Limits(seconds=1800, memory=4 * 2**30, disk=2**30, processes=512, output=64 * 2**20)
_MOST_BYTES = 8 * 2**30
_NEAR = 10
"""Commits by which a repository may be ahead of its row's: images commit what their installation changed."""
_OLDEST = (3, 6)
_ACTIVATED = """\
if [ -f /opt/miniconda3/bin/activate ]; then
    . /opt/miniconda3/bin/activate && conda activate testbed || exit 1
fi >&2
exec python -I -c 'import json, os, sys
print(json.dumps([sys.executable, list(sys.version_info[:2]), dict(os.environ)]))'
"""
"""As SWE-bench's own scripts do it; images without conda have their environment's Python on the path."""
_TRACKED = """\
export HOME=/tmp
git config --global --add safe.directory '*'
cd "$1" && git rev-list --first-parent -n "$2" HEAD && echo && git ls-files -z
"""
_KNOWN = """\
export HOME=/tmp
git config --global --add safe.directory '*'
git -C "$1" cat-file -e "$2^{commit}"
"""
_TREE = 'cd "$1" && exec tar --exclude=.git --hard-dereference -cf - . >&"$REPOASSAY_CHANNEL"'
_PACKAGES = """\
find / -maxdepth 0 -printf '' || exit 2
find / -xdev \\( -path "$1" -o -path "$2" \\) -prune -o \\
    \\( -path '*/site-packages/*' -o -path '*/dist-packages/*' -o -path '*/_vendor/*' \\) -prune -printf '%y%p\\n' -o \\
    \\( -name '*.whl' -o -name '*.conda' -o -name '*.tar.bz2' \\) -printf '%y%p\\n'
find "$1" -path '*/_vendor/*' -prune -printf '%y%p\\n' -o -name '*.whl' -printf '%y%p\\n'
"""
"""What lies outside of the environment, and what its packages took along; each with its kind, `d` or `f`."""
_OURS = frozenset({"HOME", "USER", "TMPDIR", "TERM", "PWD", "OLDPWD", "SHLVL", "_", "PS1", "HOSTNAME"})
"""Variables that are the sandbox's, or of the shell that was asked."""


def repository_place(environment: Path) -> str:
    """Where the repository of a task with this environment lies in its sandboxes."""
    found = image_environment(environment)
    return found.repository if found else "/workspace/repo"


def take_image(folder: TaskFolder, cache: Cache, images: TaskImageSandbox) -> tuple[Path, Path]:
    """Return checkout and environment of a task as its image has them.

    Raises:
        Unavailable: The task has no image.
        InfraFault: The image is not there, or is none of the task.
    """
    wanted = folder.task.environment.image
    if wanted is None:
        raise Unavailable(
            f"The task {folder.task.id} names no image, which {images.name} runs tasks in.",
            "Import its row again if an older version wrote it, or use another --isolation.",
        )
    found = images.find(images.named(wanted))
    revision = folder.task.repository.revision or ""
    key = hashlib.sha256("\0".join((_FORMAT, found.id, revision)).encode()).hexdigest()[:32]

    def build(part: Path) -> None:
        reader = _ImageReader(found, images, part / key)
        (part / "repo").mkdir()
        reader.copy_repository(part / "repo", revision)
        reader.describe()

    entry = cache.entry("images", key, build)
    return entry / "repo", entry / key


class _ImageReader:
    """Asks what is in an image, in containers of it; `folder` becomes the task's environment."""

    def __init__(self, image: FoundImage, images: TaskImageSandbox, folder: Path) -> None:
        self._image, self._images, self._folder = image, images, folder
        self._known = ImageEnvironment(image.id, image.name)
        folder.mkdir()
        self._known.write(folder)

    def describe(self) -> None:
        """Write what the environment is."""
        python, version, variables = self._activated()
        if tuple(version) < _OLDEST:
            raise self._fault(f"has Python {'.'.join(map(str, version))}; tests in place need 3.6 or newer")
        argv = ("/bin/sh", "-c", _PACKAGES, "sh", f"{PurePosixPath(python).parent.parent}/lib", self._known.repository)
        listed = self._run(argv, {}, ok=(0, 1)).stdout.decode("utf-8", "replace").splitlines()  # 1: some are locked
        packages = tuple(f"{name[1:]}/" if name[0] == "d" else name[1:] for name in listed if name[:2] in ("d/", "f/"))
        replace(self._known, python=python, variables=variables, packages=packages).write(self._folder)

    def copy_repository(self, into: Path, revision: str) -> None:
        """Copy the repository, as one commit of what is tracked in the image."""
        place = self._known.repository
        output = self._run(("/bin/sh", "-c", _TRACKED, "sh", place, str(_NEAR)), {}).stdout
        commits, _, names = output.partition(b"\n\n")
        if revision and revision.encode() not in commits.split():
            known = self._run(("/bin/sh", "-c", _KNOWN, "sh", place, revision), {}, ok=(0, 1, 128)).exit.code == 0
            if known:
                head = commits[:12].decode("ascii", "replace")
                raise self._fault(f"has {place} at commit {head}, which is not the row's, {revision[:12]}")
        archive = into.with_suffix(".tar")
        try:
            self._copy_tree(place, archive)
            _unpack(archive, into, self._image.name)
        finally:
            archive.unlink(missing_ok=True)
        take_repository(into, [os.fsdecode(name) for name in names.split(b"\0") if name])

    def _activated(self) -> tuple[str, list[int], dict[str, str]]:
        variables = {name: value for name, value in self._image.variables.items() if name not in _OURS}
        output = self._run(("/bin/bash", "-c", _ACTIVATED), variables).stdout
        try:
            return _read_activated(output)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise self._fault("says of its environment what cannot be read") from error

    def _copy_tree(self, place: str, archive: Path) -> None:
        over, size = threading.Event(), 0
        with archive.open("wb") as stream:

            def told(data: bytes) -> None:
                nonlocal size
                size += len(data)
                if size > _MOST_BYTES:
                    over.set()
                else:
                    stream.write(data)

            command = Command(
                argv=("/bin/sh", "-c", _TREE, "sh", place), mounts=(Mount(self._folder, "/env"),), limits=_LIMITS,
                channel=True, on_channel=told,
            )  # fmt: skip
            done = self._images.run(command, over)
        if over.is_set():
            raise self._fault(f"has more than {_MOST_BYTES} bytes at {place}")
        self._check(done)

    def _run(self, argv: tuple[str, ...], env: dict[str, str], *, ok: tuple[int, ...] = (0,)) -> Completed:
        done = self._images.run(Command(argv=argv, env=env, mounts=(Mount(self._folder, "/env"),), limits=_LIMITS))
        self._check(done, ok)
        return done

    def _check(self, done: Completed, ok: tuple[int, ...] = (0,)) -> None:
        if done.exit.ended is not Ended.EXITED or done.exit.code not in ok or done.exit.output_truncated:
            message = done.stderr.decode("utf-8", "replace").strip()[-300:]
            raise self._fault(
                f"has no repository at {self._known.repository}, or no environment, as rows ask: {message}"
            )

    def _fault(self, what: str) -> InfraFault:
        return InfraFault(f"The image {self._image.name} {what}.", "See that the row and the image belong together.")


def _unpack(archive: Path, into: Path, name: str) -> None:
    """Unpack files, folders and links of a hostile archive; links last, so that nothing is written through one."""
    links: list[tuple[Path, str]] = []
    try:
        with tarfile.open(archive) as opened:
            for member, content in _members(opened):
                place = into.joinpath(*_inner_parts(member.name))
                if member.issym():
                    links.append((place, member.linkname))
                elif member.isdir():
                    place.mkdir(parents=True, exist_ok=True)
                elif content is not None:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    with place.open("xb") as out:
                        shutil.copyfileobj(content, out)
                    place.chmod(0o755 if member.mode & 0o100 else 0o644)
        for place, target in links:
            place.symlink_to(target)
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise InfraFault(f"The repository of the image {name} cannot be copied: {error}.") from error


def _members(opened: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | Any]]:
    for member in opened:
        yield member, opened.extractfile(member) if member.isreg() else None


def _inner_parts(name: str) -> tuple[str, ...]:
    """The parts of a member's name; raises `ValueError` where it would be outside, or git's own."""
    path = PurePosixPath(name)
    if path.is_absolute() or not {"..", ".git"}.isdisjoint(path.parts):
        raise ValueError(f"a path that leaves its folder: {name[:200]!r}")
    return path.parts


def _read_activated(output: bytes) -> tuple[str, list[int], dict[str, str]]:
    """Interpreter, its version and variables; raises `ValueError`, `TypeError` or `AttributeError` for what is none."""
    python, version, found = json.loads(output)
    kept = {
        name: value
        for name, value in found.items()
        if name not in _OURS and not name.startswith("REPOASSAY_") and re.fullmatch(r"\w{1,200}", name)
    }
    if not python.startswith("/") or not all(isinstance(value, str) for value in kept.values()):
        raise ValueError(python)
    return python, [int(part) for part in version], kept
