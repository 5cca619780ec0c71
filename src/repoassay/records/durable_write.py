"""Writing so that a crash leaves either the whole file or none."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_once"]


def write_once(path: Path, content: bytes) -> None:
    """Write a new file whole and on disk before it can be seen.

    Raises:
        FileExistsError: When the file exists; nothing in a run is ever overwritten.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(part, path)  # refuses an existing name, which a rename would replace
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk is told without one
        raise
    finally:
        part.unlink(missing_ok=True)
