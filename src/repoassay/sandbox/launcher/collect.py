"""What crosses out of a dead sandbox: regular files and folders, counted and bounded; everything else is named."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Protocol

    class CollectTarget(Protocol):
        """What takes collected folders and files, by path below the collected one."""

        def make_folder(self, path: str) -> None:
            """Take a folder, whose own folder was taken before."""

        def copy_file(self, source: int, path: str, size: int, mode: int) -> None:
            """Take `size` bytes of the open file `source`; what it lacks is zeros."""


__all__ = ["CollectTarget", "collect", "collect_to"]

_CHUNK = 1 << 20
_NAMED = 200
"""So many are named of what was left behind."""
# The ranges of `repoassay.text`, which cannot be imported here; a test compares every code point.
_BLANK = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFF), (0x16FE4, 0x16FE4), (0x1BCA0, 0x1BCA3), (0x1D159, 0x1D159),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip


def collect(source: str, into: str, max_bytes: int, max_files: int, skip: list[str]) -> list[tuple[str, str]]:
    """Copy the tree `source` to the existing folder `into`; return (path, reason) of what was left behind.

    Entries of the top folder named in `skip` are passed over in silence. Nothing is followed:
    every component is opened without following links, and nothing inside is alive to swap them.
    """
    return collect_to(_Folder(into), source, max_bytes, max_files, skip)


def collect_to(
    target: CollectTarget, source: str, max_bytes: int, max_files: int, skip: list[str]
) -> list[tuple[str, str]]:
    """As `collect`, but hand what crosses to `target`."""
    budget = _Budget(max_bytes, max_files)
    rejected: list[tuple[str, str]] = []
    try:
        top = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return [("", "the folder is gone or is not a folder")]
    try:
        _folder(top, target, "", budget, rejected, frozenset(skip))
    finally:
        os.close(top)
    if len(rejected) > _NAMED:
        rejected[_NAMED:] = [("", f"{len(rejected) - _NAMED} more were left behind")]
    return [(_legible(path), reason) for path, reason in rejected]


def _legible(path: str) -> str:
    """A path that can be shown and kept: names are bytes to the kernel, and need not be text."""
    return path if path.isascii() and path.isprintable() else "".join(map(_escaped, path))


def _escaped(letter: str) -> str:
    code = ord(letter)
    hidden = not letter.isprintable() or any(first <= code <= last for first, last in _BLANK)
    return letter.encode("unicode_escape").decode() if hidden else letter


class _Budget:
    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.bytes, self.entries = max_bytes, max_files


def _folder(
    source: int,
    target: CollectTarget,
    prefix: str,
    budget: _Budget,
    rejected: list[tuple[str, str]],
    skip: frozenset[str] = frozenset(),
) -> None:
    for name in sorted(set(os.listdir(source)) - skip):
        path = prefix + name
        budget.entries -= 1
        if budget.entries < 0:
            rejected.append((path, "too many files; this one and what follows was left behind"))
            return
        status = os.stat(name, dir_fd=source, follow_symlinks=False)
        reason = _refusal(status, name, path, budget)
        if reason:
            rejected.append((path, reason))
        elif stat.S_ISDIR(status.st_mode):
            target.make_folder(path)
            child = _open(name, source, os.O_DIRECTORY)
            if child is None:
                rejected.append((path, "cannot be opened"))
                continue
            try:
                _folder(child, target, f"{path}/", budget, rejected)
            finally:
                os.close(child)
        elif not _copy(name, source, target, path, status, budget):
            rejected.append((path, "cannot be read"))


def _refusal(status: os.stat_result, name: str, path: str, budget: _Budget) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link; only regular files cross"
    if not stat.S_ISDIR(status.st_mode) and not stat.S_ISREG(status.st_mode):
        return "a device, pipe or socket; only regular files cross"
    if not name.isprintable() or "\\" in name or len(path) > 1000 or path.count("/") > 50:
        return "its name cannot be kept (unprintable, with a backslash, too long or too deep)"
    if stat.S_ISREG(status.st_mode) and status.st_size > budget.bytes:
        return f"{status.st_size} bytes are more than the {budget.bytes} left of the submission's limit"
    return ""


def _open(name: str, folder: int, extra: int) -> int | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | extra
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:  # the command may have locked its own file; it is ours to read all the same
        try:
            os.chmod(name, 0o700 if extra else 0o600, dir_fd=folder)
            return os.open(name, flags, dir_fd=folder)
        except OSError:
            return None
    except OSError:
        return None


def _copy(name: str, folder: int, target: CollectTarget, path: str, status: os.stat_result, budget: _Budget) -> bool:
    source = _open(name, folder, 0)
    if source is None:
        return False
    budget.bytes -= status.st_size
    try:
        target.copy_file(source, path, status.st_size, 0o755 if status.st_mode & 0o100 else 0o644)
    finally:
        os.close(source)
    return True


class _Folder:
    """A folder of the host; see `CollectTarget`."""

    def __init__(self, into: str) -> None:
        self._into = into

    def make_folder(self, path: str) -> None:
        os.mkdir(f"{self._into}/{path}")

    def copy_file(self, source: int, path: str, size: int, mode: int) -> None:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        out = os.open(f"{self._into}/{path}", flags, mode)
        try:
            left = size
            while left > 0 and (chunk := os.read(source, min(_CHUNK, left))):
                left -= len(chunk)
                _write_sparse(out, chunk)
            os.ftruncate(out, size)
        finally:
            os.close(out)


def _write_sparse(out: int, chunk: bytes) -> None:
    if chunk.count(0) == len(chunk):
        os.lseek(out, len(chunk), os.SEEK_CUR)
        return
    view = memoryview(chunk)
    while view:
        view = view[os.write(out, view) :]
