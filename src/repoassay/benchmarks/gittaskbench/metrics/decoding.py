"""Text as people leave it: UTF-8 or, marked as such, UTF-16; for Chinese texts GB 18030 too."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

from repoassay.grading import UnreadableOutput, content, need

__all__ = ["decode_text", "read_documents", "similarity"]

_MOST = 4 * 2**20
_MOST_DOCUMENTS = 100_000
_MOST_DEPTH = 200


def decode_text(path: Path, *, chinese: bool = False) -> str:
    """The text of a file that holds more than white space, without byte-order mark, line ends as newlines.

    Raises `UnreadableOutput` for what is no text: other encodings, NUL and most control characters.
    """
    data = content(path, _MOST)
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    encodings = ["utf-16"] if marked else ["utf-8-sig", *(["gb18030"] if chinese else [])]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if (encoding == "utf-8-sig" and "\0" not in text) or _is_prose(text):
            if not text.strip("\ufeff \t\r\n\f\v\u3000\xa0"):
                raise UnreadableOutput("it holds white space alone")
            return text.replace("\r\n", "\n").replace("\r", "\n")
    raise UnreadableOutput("it is not text in UTF-8")


def _is_prose(text: str) -> bool:
    """Whether what an encoding that accepts nearly any bytes made of a file looks written by somebody."""
    strange = sum(unicodedata.category(sign) in ("Cc", "Cn", "Co", "Cs") and sign not in "\t\r\n\f" for sign in text)
    return strange == 0


def read_documents(path: Path) -> list[Any]:
    """Every JSON document of a file: usually one, or one a line; they may also just follow each other.

    Raises `UnreadableOutput` when any of it is no JSON, NaN included.
    """
    text = decode_text(path)

    def refuse(word: str) -> float:
        raise UnreadableOutput(f"{word} is not JSON")

    decoder = json.JSONDecoder(parse_constant=refuse)
    found: list[Any] = []
    place = 0
    try:
        while place < len(text) and len(found) <= _MOST_DOCUMENTS:
            if text[place].isspace():
                place += 1
                continue
            item, place = decoder.raw_decode(text, place)
            found.append(item)
    except RecursionError as error:
        raise UnreadableOutput("it is nested too deeply") from error
    except ValueError as error:
        raise UnreadableOutput(f"it is not JSON: {error}") from error
    if len(found) > 1 and not all(isinstance(item, dict | list) for item in found):
        raise UnreadableOutput("it is not JSON: bare values follow each other")
    _shallow(found)
    return found


def _shallow(found: list[Any]) -> None:
    level = found
    for _ in range(_MOST_DEPTH):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return
    raise UnreadableOutput(f"it is nested deeper than {_MOST_DEPTH} levels")


def similarity(one: str, other: str) -> float:
    """Indel similarity: twice the longest common subsequence over both lengths together, 1 for two empty texts.

    What `difflib` approximates, without its rule that frequent characters do not count.
    """
    return float(need("rapidfuzz.distance.Indel").normalized_similarity(one, other))
