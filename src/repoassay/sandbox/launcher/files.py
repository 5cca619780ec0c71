"""What a session does to files, within its sandbox's view: each in a child of process 1 that may no more than commands.

Links are followed as any command would, to places inside, save those of /proc that lead out of every view. Anything
but a regular file is refused, so that nobody waits at a pipe. Results go to standard output; an error is its number and
its text, apart by a zero byte, on standard error.
"""

from __future__ import annotations

import errno
import os
import stat

from repoassay.sandbox.launcher import kernel

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["ACTIONS"]

_CHUNK = 1 << 18
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def _read(request: dict[str, Any]) -> int:
    descriptor = kernel.open_inside(request["path"], _READ, kernel.NO_MAGIC_LINKS)
    status = _regular(descriptor)
    left = request["limit"] + 1
    if status.st_size >= left:
        raise OSError(errno.EFBIG, f"{status.st_size} bytes are more than {request['limit']}")
    while left > 0 and (data := os.read(descriptor, min(left, _CHUNK))):
        left -= len(data)
        _put(1, data)
    return 0


def _write(request: dict[str, Any]) -> int:
    path = request["path"]
    os.makedirs(os.path.dirname(path) or b".", exist_ok=True)
    descriptor = kernel.open_inside(path, _WRITE, kernel.NO_MAGIC_LINKS, 0o644)
    _regular(descriptor)
    os.ftruncate(descriptor, 0)
    while data := os.read(0, _CHUNK):
        _put(descriptor, data)
    os.fchmod(descriptor, 0o755 if request["executable"] else 0o644)
    return 0


def _regular(descriptor: int) -> os.stat_result:
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    return status


def _put(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _list(request: dict[str, Any]) -> int:
    """Write what `_listing` finds below `request["folders"]`: facts and path of each, each ending in a zero byte."""
    parts: list[bytes] = []
    for folder in request["folders"]:
        descriptor = kernel.open_inside(folder, _FOLDER, kernel.NO_LINKS)
        for path, status in _listing(descriptor):
            facts = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            parts.append(b"%o %d %d %d\0%s/%s\0" % (*facts, folder.rstrip(b"/"), path))
            if len(parts) > 1000:
                _put(1, b"".join(parts))
                parts.clear()
        os.close(descriptor)
    _put(1, b"".join(parts))
    return 0


def _listing(top: int) -> Iterator[tuple[bytes, os.stat_result]]:
    """Whatever but folders lies below an open folder, and facts of it; links and other mounts are not entered."""
    waiting = [b"."]
    while waiting:
        folder = waiting.pop()
        try:
            resolve = kernel.NO_LINKS | kernel.NO_OTHER_MOUNT
            descriptor = kernel.open_inside(folder, _FOLDER, resolve, folder=top)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV):
                continue  # another mount; or it went while we looked
            raise
        try:
            for name in map(os.fsencode, os.listdir(descriptor)):
                path = name if folder == b"." else folder + b"/" + name
                try:
                    status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(path)
                else:
                    yield path, status
        finally:
            os.close(descriptor)


def _reported(action: Callable[[dict[str, Any]], int]) -> Callable[[dict[str, Any]], int]:
    def run(request: dict[str, Any]) -> int:
        try:
            return action(request)
        except OSError as error:
            os.write(2, b"%d\0%s" % (error.errno or 0, (error.strerror or str(error)).encode(errors="replace")[:2000]))
            return 1

    return run


ACTIONS = {"read": _reported(_read), "write": _reported(_write), "list": _reported(_list)}
