"""Reading one source file as text, whatever is in it."""

from __future__ import annotations

import codecs
import io
import tokenize
from pathlib import Path

from repoassay.tasks import read_regular
from repoassay.text import printable

__all__ = ["MAX_BYTES", "UnreadableSource", "read_source"]

MAX_BYTES = 8 * 2**20
"""Bytes of a file that is read."""
_SLOW_CODECS = frozenset({"idna", "punycode"})
"""Text encodings a source may name whose decoders take time quadratic in the text."""


class UnreadableSource(Exception):
    """A file is no text that can be had; the message says why, to follow a file name."""


def read_source(path: Path) -> str:
    """Return a Python file as text in the encoding it declares, with plain line feeds as line ends.

    Raises:
        Unreadable: When it is larger than `MAX_BYTES`, no regular file, or not in its encoding.
    """
    try:
        data = read_regular(path, MAX_BYTES)
    except OSError as error:
        raise UnreadableSource(printable(error.strerror or str(error))) from error
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise UnreadableSource(printable(error.msg)) from error
    if codecs.lookup(encoding).name in _SLOW_CODECS:
        raise UnreadableSource(f"its encoding {printable(encoding)} is not one of source files")
    try:
        text = data.decode(encoding)
    except (ValueError, LookupError) as error:  # not in its encoding, or one that makes no text, such as zip
        raise UnreadableSource(f"it is not in its encoding, {printable(encoding)}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
