"""What crosses out of a box, at both ends: the server sends folders and files, and the host trusts none of it.

Inside, `launcher/collect.py` decides what may cross. Outside every path, count and size is checked again, since a box
may have been broken; what does not fit is a fault of the box.
"""

from __future__ import annotations

import json
import os

from repoassay.sandbox.box.frames import CHUNK
from repoassay.sandbox.box.layout import check_folders
from repoassay.sandbox.launcher.collect import Links, collect_to

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["ExportReceiver", "export_folders"]


def export_folders(gather: list[Any], uid: int, send: Callable[[bytes, int, bytes], None]) -> list[list[str]]:
    """Inside, once everything else is dead: send what is asked for; returns path and reason of what stayed behind.

    Args:
        gather: What is asked for.
        uid: The account of commands; -1 for this process's own.
        send: Sends a frame.
    """
    rejected: list[list[str]] = []
    for number, (source, max_bytes, max_files, skip, kept) in enumerate(gather):
        try:
            check_folders(source)
        except OSError as error:
            rejected.append(["", str(error)])
            continue
        links = None if kept is None else Links("", source, uid if uid >= 0 else os.geteuid(), kept)
        found = collect_to(_Frames(number, send), source, max_bytes, max_files, skip, links)
        rejected += [[path, reason] for path, reason in found]
    return rejected


class _Frames:
    """See `CollectTarget`."""

    def __init__(self, number: int, send: Callable[[bytes, int, bytes], None]) -> None:
        self._number, self._send = number, send

    def make_folder(self, path: str) -> None:
        self._say({"folder": path})

    def copy_file(self, source: int, path: str, size: int, mode: int) -> None:
        self._say({"file": path, "size": size, "executable": bool(mode & 0o100)})
        left = size
        while left > 0 and (data := os.read(source, min(CHUNK, left))):
            left -= len(data)
            self._send(b"g", self._number, data)
        self._say({"end": path})

    def _say(self, document: dict[str, object]) -> None:
        self._send(b"f", self._number, json.dumps(document).encode())


class ExportReceiver:
    """The host's side: writes what comes below the folders that were asked for.

    Args:
        wanted: For each request of the setup, in order: folder of the host, bytes, files at most.
    """

    def __init__(self, wanted: Sequence[tuple[str, int, int]]) -> None:
        self._into = [into for into, *_ in wanted]
        self._bytes = [size for _, size, _ in wanted]
        self._files = [count for *_, count in wanted]
        self._open, self._left = -1, 0

    def take_header(self, number: int, data: bytes) -> None:
        """Take a folder, the beginning of a file, or its end; raises ValueError for what may not cross."""
        document = json.loads(data)
        if "end" in document:
            self.close()
            return
        path = document.get("folder", document.get("file"))
        if not isinstance(path, str) or not _is_below(path):
            raise ValueError("a box sent a path that leads out of its folder")
        self._files[number] -= 1
        if self._files[number] < 0:
            raise ValueError("a box sent more files than asked for")
        place = os.path.join(self._into[number], path)
        if "folder" in document:
            os.mkdir(place)
            return
        size = int(document["size"])
        self._bytes[number] -= size
        if size < 0 or self._bytes[number] < 0:
            raise ValueError("a box sent more bytes than asked for")
        self.close()
        mode = 0o755 if document.get("executable") is True else 0o644
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        self._open, self._left = os.open(place, flags, mode), size
        os.ftruncate(self._open, size)

    def take_data(self, data: bytes) -> None:
        """Take a piece of the file that is open; raises ValueError when there is none, or it is full."""
        self._left -= len(data)
        if self._open < 0 or self._left < 0:
            raise ValueError("a box sent more of a file than it said")
        if data.count(0) == len(data):
            os.lseek(self._open, len(data), os.SEEK_CUR)
            return
        view = memoryview(data)
        while view:
            view = view[os.write(self._open, view) :]

    def close(self) -> None:
        """Close the file that is open, if one is."""
        if self._open >= 0:
            os.close(self._open)
            self._open = -1


def _is_below(path: str) -> bool:
    from repoassay.text import printable  # late: the server in the box has no such module

    return printable(path, 4096) == path and all(part not in ("", ".", "..") for part in path.split("/"))
