"""Reading a file that may come from somebody else: no link, no pipe, and no more bytes than expected."""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["load_toml", "load_yaml", "many_dots", "open_regular", "read_regular", "reason"]

_MAX_DOTS, _MAX_SQUARES = 1000, 10**8
"""Dots on one line, and the sum over all lines of their squares, by which the parser's time grows for dotted keys."""
_MOST_NODES = 200_000


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


def load_toml(text: str) -> dict[str, Any]:
    """Read TOML that a stranger wrote.

    Raises:
        ValueError: When it is none, or has more dots than its reader bears.
    """
    if why := many_dots(text):
        raise ValueError(why)
    return tomllib.loads(text)


def load_yaml(text: str) -> Any:
    """Read YAML that a stranger wrote. Needs PyYAML.

    Raises:
        ImportError: Without it.
        ValueError: When it is none, or its aliases unfold to more than a document has.
    """
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if _unfolded(node, {}) > _MOST_NODES:
            raise ValueError("its aliases unfold without end")
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)) from error
    finally:
        loader.dispose()


def _unfolded(node: Any, known: dict[int, int]) -> int:
    """How many nodes there are where each alias stands for all that it names; too many where it names itself."""
    if id(node) not in known:
        known[id(node)] = _MOST_NODES + 1
        inner = node.value if node is not None and not isinstance(node.value, str) else ()
        parts = [each for item in inner for each in (item if isinstance(item, tuple) else (item,))]
        known[id(node)] = 1 + sum(_unfolded(each, known) for each in parts)
    return known[id(node)]


def many_dots(text: str) -> str:
    """Why TOML is not read, as half a sentence: its reader takes the square of a key's parts in time and memory."""
    squares = 0
    for number, line in enumerate(text.split("\n"), 1):
        dots = line.count(".")
        squares += dots * dots
        if dots > _MAX_DOTS:
            return f"line {number} has more than {_MAX_DOTS} dots"
        if squares > _MAX_SQUARES:
            return "long lines have many dots"
    return ""


def reason(error: OSError) -> str:
    """Why a file could not be read or written, as half a sentence."""
    return "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
