"""How the published scripts of text tasks read files, shared by their emulations."""

from __future__ import annotations

import difflib
import math
import re
from pathlib import Path

from repoassay.grading import UnreadableOutput, need

__all__ = ["FAILED", "junk_ratio", "levenshtein_share", "present", "spaced_words", "utf8"]

FAILED = math.nan
"""Measured where a script got as far as its metric and failed there: Process holds, Result does not."""

_MOST = 4 * 2**20
_MOST_COMPARED = 20_000


def present(path: Path, *, filled: bool = True) -> bytes:
    """The bytes of a file, which must be there and, where `filled`, hold some; else the script says Process false."""
    if not path.is_file():
        raise UnreadableOutput("it is missing")
    if path.lstat().st_size > _MOST:
        raise UnreadableOutput(f"it is larger than the {_MOST} bytes that are read")
    data = path.read_bytes()
    if filled and not data:
        raise UnreadableOutput("it is empty")
    return data


def utf8(data: bytes) -> str:
    """Strict UTF-8 that keeps a byte-order mark, line ends as newlines, as Python opens text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableOutput(f"the script crashes: it is not UTF-8 at byte {error.start}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def junk_ratio(one: str, other: str) -> float:
    """`difflib` ratio with its rule that frequent characters of a long `other` do not count; order matters."""
    if max(len(one), len(other)) > _MOST_COMPARED:
        # What lengths alone allow: no reference is near this length, so that it decides nothing, in bounded time.
        return 2 * min(len(one), len(other)) / (len(one) + len(other))
    return difflib.SequenceMatcher(None, one, other).ratio()


def levenshtein_share(one: str, other: str) -> float:
    """Levenshtein distance over the longer length; 0 for two empty texts."""
    return float(need("rapidfuzz.distance.Levenshtein").normalized_distance(one, other))


def spaced_words(text: str) -> list[str]:
    """Words as the published measures of speech split them: at spaces alone, runs of white space being one."""
    return [word for word in re.sub(r"\s\s+", " ", text).strip().split(" ") if word]
