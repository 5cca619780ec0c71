"""Inside a box, before anything hostile runs: folders that may be written, copies of mounts, files to begin with."""

from __future__ import annotations

import os
import shutil

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.root import TERMINALS, write_file

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_folders", "lay_out_box", "space_taken"]

_REMOUNT = 32
_ENTRY = 1024
"""Bytes of the kernel's own memory that a file takes."""


def lay_out_box(spec: Any) -> None:
    """Make everything as the host's specification says; raises OSError with what could not be had."""
    for path in spec.entered:  # an engine may have given it the mode of what the image has there
        os.chmod(path, 0o755)  # noqa: S103 - empty, and in memory
    for path in spec.scratch:
        os.makedirs(path, exist_ok=True)
        _own(path, spec)
    if spec.nested:
        _bound_kernel_objects(spec)
    for source, target in spec.copies:
        _copy(source, target, spec)
    for path, content, executable in spec.writes:
        check_folders(path)
        write_file(path, content, executable, spec.uid)


def check_folders(path: str, root: str = "", below: str = "") -> None:
    """Raise OSError when a link lies on the way to `path`, or it leads upwards: nobody follows what a task planted.

    With `root` and `below`, what lies in the folder `below` is looked for in `root`.
    """
    place = root
    for part in path[len(below) :].split("/")[1:-1]:
        place = f"{place}/{part}"
        if part == ".." or os.path.islink(place):
            raise OSError(f"{path} does not lie in folders alone: {part} is a link or leads upwards")


def space_taken(folders: list[str]) -> int:
    """Bytes that lie on the file systems of these folders; a file counts for its entry too."""
    taken = 0
    for folder in folders:
        found = os.statvfs(folder)
        taken += (found.f_blocks - found.f_bfree) * found.f_frsize + (found.f_files - found.f_ffree) * _ENTRY
    return taken


def _own(path: str, spec: Any) -> None:
    if spec.uid >= 0:
        os.chown(path, spec.uid, spec.uid, follow_symlinks=False)


def _bound_kernel_objects(spec: Any) -> None:
    """Limit the files of each writable folder, terminals, and what /dev/zero maps (`root.py` says why), where this
    process may: what made them has no option."""
    inodes = max(4096, min(spec.disk // 2048, 2_000_000))
    flags = _REMOUNT | kernel.MS_NOSUID | kernel.MS_NODEV
    try:
        for path in spec.scratch:
            kernel.mount("tmpfs", path, "tmpfs", flags, f"nr_inodes={inodes}")
        kernel.mount("devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, TERMINALS)
        kernel.mount("/dev/full", "/dev/zero", flags=kernel.MS_BIND)
    except OSError:
        pass  # what watches the box counts files too


def _copy(source: str, target: str, spec: Any) -> None:
    """Copy a folder to one that is empty but for what else is mounted in it, which stays."""
    if not os.path.isdir(source):
        raise OSError(f"{source} is no folder")

    held = [place for place in spec.mounted if place.startswith(f"{target}/")]
    for place in held:
        check_folders(f"{place}/", root=source, below=target)
    for name in os.listdir(target):
        if not any(f"{place}/".startswith(f"{target}/{name}/") for place in held):
            raise OSError(f"{target} is not empty, but has {name}")

    def passed_over(folder: str, names: list[str]) -> list[str]:
        below = target + folder[len(source) :]
        return [name for name in names if f"{below}/{name}" in spec.mounted]

    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=passed_over)
    _own(target, spec)
    for folder, folders, files in os.walk(target):
        for name in (*folders, *files):
            if f"{folder}/{name}" not in spec.mounted:
                _own(f"{folder}/{name}", spec)
        folders[:] = [name for name in folders if f"{folder}/{name}" not in spec.mounted]
