"""JSON and JSON Lines from elsewhere: bounded, and each error with its line.

A document is a list of records, one record, `{"rows": [...]}`, or an object that maps ids to records. JSON Lines are
told by the file's name, or by a first line that is a whole object with another after it.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from repoassay.errors import BadInput, Problem
from repoassay.formats.record_problems import PlacedRecord, Problems, kind_of
from repoassay.text import printable, quote

__all__ = ["MAX_FILE", "MAX_LINE", "open_regular", "parse_json", "read_json_records"]

MAX_FILE = 2**30
"""Bytes of a file that is read."""
MAX_LINE = 64 * 2**20
"""Bytes of a line of JSON Lines."""
_LINES = frozenset({".jsonl", ".ndjson"})
_BOM = b"\xef\xbb\xbf"


class _Unreadable(ValueError):
    """Text that is no JSON; the message is a sentence without its subject."""


def read_json_records(path: Path, problems: Problems, own_keys: frozenset[str]) -> Iterator[PlacedRecord]:
    """Yield the records of a JSON or JSON Lines file; lines that cannot be read are added to `problems`.

    Args:
        path: A regular file of at most `MAX_FILE` bytes.
        problems: Where unreadable records are told.
        own_keys: A single object with one of these keys is itself a record, not a map of ids to records.

    Raises:
        BadInput: When the file cannot be opened or read as a whole, or too much in it is wrong.
    """
    with open_regular(path, MAX_FILE) as stream:
        if stream.read(len(_BOM)) != _BOM:
            stream.seek(0)
        start = stream.tell()
        by_line = path.suffix.lower() in _LINES and _first(stream) != b"["
        stream.seek(start)
        if not by_line:
            whole = stream.read()
            by_line = _looks_like_lines(whole)
            if not by_line:
                yield from _document(whole, problems, own_keys)
                return
            stream.seek(start)
        yield from _lines(stream, problems)


def open_regular(path: Path, limit: int) -> IO[bytes]:
    """Open a regular file of at most `limit` bytes for reading, without waiting on a pipe.

    Raises:
        BadInput: When it cannot be opened, is something else, or is larger.
    """
    name = printable(str(path), 500)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise BadInput(f"The file {name} cannot be opened: {printable(reason)}.", "Check the path.") from error
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise BadInput(f"{name} is not a regular file.", "Write it to a file first.")
    if status.st_size > limit:
        os.close(handle)
        raise BadInput(f"The file {name} has {status.st_size:,} bytes; at most {limit:,} are read.", "Split it.")
    return os.fdopen(handle, "rb")


def parse_json(data: bytes | str) -> object:
    """Parse JSON; every kind of failure is a `ValueError` whose message is a sentence without its subject.

    Keys that stand twice in one object are refused: one of the two would be lost.
    """
    try:
        text = data.decode() if isinstance(data, bytes) else data
        return json.loads(text, object_pairs_hook=_pairs)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        where = f"line {line}, byte" if line > 1 else "byte"
        raise _Unreadable(f"is not UTF-8 ({where} {error.start + 1})") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column" if error.lineno > 1 else "column"
        raise _Unreadable(f"is not JSON: {where} {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except RecursionError:
        raise _Unreadable("is nested too deeply") from None
    except _Unreadable:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise _Unreadable(f"is not JSON that can be read: {printable(str(error))}") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Unreadable(f"holds the key {quote(twice)} twice in one object")
    return found


def _first(stream: IO[bytes]) -> bytes:
    return stream.read(4096).lstrip()[:1]


def _looks_like_lines(whole: bytes) -> bool:
    first, _, rest = whole.lstrip().partition(b"\n")
    if not first.startswith(b"{") or not first.rstrip().endswith(b"}") or not rest.lstrip().startswith(b"{"):
        return False
    try:
        parse_json(first)
    except ValueError:
        return False
    return True


def _lines(stream: IO[bytes], problems: Problems) -> Iterator[PlacedRecord]:
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        place = f"line {number}"
        if len(line) > MAX_LINE:
            problems.add(Problem(place, "", f"is longer than {MAX_LINE:,} bytes.", "Remove it or make it smaller."))
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            continue
        if not line.strip():
            continue
        try:
            yield PlacedRecord(place, None, parse_json(line.rstrip()))
        except ValueError as error:
            problems.add(Problem(place, "", f"{error}.", "Each line must be one JSON object in UTF-8."))


def _document(whole: bytes, problems: Problems, own_keys: frozenset[str]) -> Iterator[PlacedRecord]:
    if not whole.strip():
        problems.add(Problem("file", "", "is empty.", "Write at least one record."))
        return
    try:
        data = parse_json(whole)
    except ValueError as error:
        problems.add(Problem("file", "", f"{error}.", "It must be one JSON document, or JSON Lines, in UTF-8."))
        return
    if isinstance(data, dict) and isinstance(rows := data.get("rows"), list):
        data = [row["row"] if isinstance(row, dict) and "row_idx" in row and "row" in row else row for row in rows]
    if isinstance(data, list):
        for number, value in enumerate(data, 1):
            yield PlacedRecord(f"row {number}", None, value)
    elif isinstance(data, dict) and own_keys & data.keys():
        yield PlacedRecord("row 1", None, data)
    elif isinstance(data, dict):
        for key, value in data.items():
            yield PlacedRecord(f"key {quote(key)}", key, value)
    else:
        problems.add(Problem("file", "", f"is {kind_of(data)}.", "It must be a list or an object of records."))
