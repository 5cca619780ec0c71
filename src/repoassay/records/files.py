"""Reading a file that may come from somebody else: no link, no pipe, and no more bytes than expected."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

__all__ = ["open_regular", "read_regular", "reason"]


def open_regular(path: Path | str, *, follow: bool = False) -> int:
    """Open a regular file for reading, without waiting on a pipe; `follow` permits a link in its last part.

    Raises:
        OSError: When it cannot be opened or is no regular file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    handle = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return handle


def read_regular(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes, through no link in its last part and without waiting on a pipe.

    Raises:
        OSError: When it cannot be read, is no regular file, or is larger.
    """
    handle = open_regular(path)
    try:
        parts = []
        left = limit + 1
        while left and (part := os.read(handle, min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    if not left:
        raise OSError(errno.EFBIG, f"it is larger than {limit} bytes")
    return b"".join(parts)


def reason(error: OSError) -> str:
    """Why a file could not be read or written, as half a sentence."""
    return "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
