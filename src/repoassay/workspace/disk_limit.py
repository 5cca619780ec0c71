"""A bound for what a build writes to the host's disk, where no file system of its own bounds it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["MOST_FILES", "Growth"]

MOST_FILES = 500_000
_LOOK = 3.0
"""Seconds between two looks."""


class Growth:
    """Watches folders while a build writes to them; `exceeded` is set when they hold too much. A context manager."""

    def __init__(self, folder: Path, most_bytes: int, *more: Path) -> None:
        self._watched, self._most = (folder, *more), most_bytes
        self._over = threading.Event()
        self.exceeded = threading.Event()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._watch, name="growth", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK):
            if not self._fits():
                self.exceeded.set()
                return

    def _fits(self) -> bool:
        used, seen = 0, 0
        counted: set[int] = set()
        folders = [str(folder) for folder in self._watched]
        while folders and not self._over.is_set():
            try:
                entries = list(os.scandir(folders.pop()))
            except OSError:  # gone again, or not to be read
                continue
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                seen += 1
                if status.st_ino not in counted:
                    counted.add(status.st_ino)
                    used += status.st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
            if used > self._most or seen > MOST_FILES:
                return False
        return True
