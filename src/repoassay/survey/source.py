r"""Reading one source file as text, whatever is in it, and counting its lines and tokens without token objects.

Python's `tokenize` makes an object of each token, which takes longer than parsing the file. Here one regular
expression runs over the whole text and only the number of its matches is kept. On source that Python can parse, that
number is the one `tokenize` of Python 3.11 gives (from 3.12 on `tokenize` cuts f-strings into parts; here an f-string
stays one token, so that counts do not depend on the Python that counts). On other text it is still a number, found
in time linear in the text: every repetition is possessive and no alternative can fail far from where it began.

Before 3.11.5 Python went on at the wrong place when the last turn of a possessive group failed after a look ahead or
a repetition inside it (CPython's issue 106052), so the groups here have neither where a turn can fail.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from pathlib import Path

from repoassay.tasks import read_regular
from repoassay.text import printable

__all__ = ["MAX_BYTES", "UnreadableSource", "code_lines", "count_tokens", "line_count", "read_source"]

MAX_BYTES = 8 * 2**20
"""Bytes of a file that is read."""
_SLOW_CODECS = frozenset({"idna", "punycode"})
"""Text encodings a source may name whose decoders take time quadratic in the text."""


class UnreadableSource(Exception):
    """A file is no text that can be had; the message says why, to follow a file name."""


def read_source(path: Path) -> str:
    """Return a Python file as text in the encoding it declares, with plain line feeds as line ends.

    Raises:
        UnreadableSource: When it is larger than `MAX_BYTES`, no regular file, or not in its encoding.
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


_LONG_QUOTED = "|".join(
    rf"{q * 3}[^{q}\\]*+(?:(?:\\.|{q}\\.|{q}{q}\\.|{q}[^{q}\\]|{q}{q}[^{q}\\])[^{q}\\]*+)*+(?:{q * 3}|{q}?{q}?\Z)"
    for q in "'\""
)
_QUOTED = "|".join(rf"{quote}[^\n{quote}\\]*+(?:\\.[^\n{quote}\\]*+)*+{quote}?" for quote in "'\"")
_STRING = f"(?:{_LONG_QUOTED}|{_QUOTED})"
# In source that parses, a letter beyond ASCII that is in no string or comment belongs to a name.
_NAME = r"[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*+"
_NUMBER = (
    r"0[xX][0-9a-fA-F_]++|0[oO][0-7_]++|0[bB][01_]++"
    r"|(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][-+]?[0-9][0-9_]*+)?[jJ]?"
)
_OPERATOR = r"\*\*=?|//=?|>>=?|<<=?|\.\.\.|->|:=|[-+*/%@&|^=!<>]=?|[^\s#]"
# A name before a quote is the string's prefix, or a keyword such as `return"x"`.
_TOKEN = rf"(?:{_NAME}(?!['\"])|[bBfFrRtTuU]{{0,2}}{_STRING}|{_NAME}|{_NUMBER}|{_OPERATOR})"
_BETWEEN = r"(?:[ \t\f\n]++|\\\n|#[^\n]*+)"
_TOKENS = re.compile(rf"{_BETWEEN}++(?:{_TOKEN}|\Z)|{_TOKEN}", re.DOTALL)
# Finds strings only to step over them: a line inside one may look like a comment.
_COMMENT_LINES = re.compile(rf"\n[ \t\f]*+(#)[^\n]*+|#[^\n]*+|{_STRING}", re.DOTALL)


def count_tokens(text: str) -> int:
    """Return the number of tokens; comments, line ends and indentation are none.

    Args:
        text: Source with plain line feeds as line ends.
    """
    return _TOKENS.subn("", f"{text}\n")[1] - 1  # the last match is the line feed added here


def line_count(text: str) -> int:
    """Return the number of physical lines; the last one need not end in a line feed."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def code_lines(text: str) -> int:
    """Return the number of physical lines that are neither blank nor only a comment.

    A line inside a string of several lines is code unless it is blank.
    """
    filled = sum(bool(line) and not line.isspace() for line in text.split("\n"))
    return filled - sum(map(bool, _COMMENT_LINES.findall(f"\n{text}")))
