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
from itertools import islice
from pathlib import Path
from typing import IO, Any

from repoassay.errors import BadInput, Problem
from repoassay.formats.record_problems import PlacedRecord, Problems, kind_of
from repoassay.records import FilePrefix
from repoassay.text import printable, quote

__all__ = ["MAX_FILE", "MAX_LINE", "MAX_LINES", "open_regular", "parse_json", "read_json_records"]

MAX_FILE = 2**30
"""Bytes of a document, which is read as a whole."""
MAX_LINE = 64 * 2**20
"""Bytes of a line of JSON Lines."""
MAX_LINES = 2**40
"""Bytes of a file of lines, which are read one by one."""
_LINES = frozenset({".jsonl", ".ndjson"})
_BOM = b"\xef\xbb\xbf"


class _Unreadable(ValueError):
    """Text that is no JSON; the message is a sentence without its subject."""


def read_json_records(
    path: Path, problems: Problems, own_keys: frozenset[str], read: FilePrefix | None = None
) -> Iterator[PlacedRecord]:
    """Yield the records of a JSON or JSON Lines file; lines that cannot be read are added to `problems`.

    Args:
        path: A regular file of at most `MAX_FILE` bytes; with `read`, lines may be more in all.
        problems: Where unreadable records are told.
        own_keys: A single object with one of these keys is itself a record, not a map of ids to records.
        read: Lines to pass over, if there are lines; it goes on with those that are read, and stays at 0 otherwise.

    Raises:
        BadInput: When the file cannot be opened or read as a whole, or too much in it is wrong.
    """
    with open_regular(path, MAX_FILE if read is None else MAX_LINES) as stream:
        start = len(_BOM) if stream.read(len(_BOM)) == _BOM else 0
        if _has_lines(stream, start, path):
            yield from _lines(stream, start, problems, read or FilePrefix())
            return
        if (size := os.fstat(stream.fileno()).st_size) > MAX_FILE:
            raise _too_large(printable(str(path), 500), size, MAX_FILE)
        stream.seek(start)
        yield from _document(stream.read(), problems, own_keys)


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
        raise _too_large(name, status.st_size, limit)
    return os.fdopen(handle, "rb")


def _too_large(name: str, size: int, limit: int) -> BadInput:
    return BadInput(f"The file {name} has {size:,} bytes; at most {limit:,} are read.", "Split it.")


def parse_json(data: bytes | str) -> object:
    """Parse JSON; every kind of failure is a `ValueError` whose message is a sentence without its subject.

    Keys that stand twice in one object are refused: one of the two would be lost.
    """
    try:
        text = data.decode() if isinstance(data, bytes) else data
        return _DECODER.decode(text)
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


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs)
"""Made once: a file may have a million lines."""


def _has_lines(stream: IO[bytes], start: int, path: Path) -> bool:
    """Whether a file is JSON Lines: by its name, or a first line that is a whole object with another after it."""
    stream.seek(start)
    if path.suffix.lower() in _LINES and stream.read(4096).lstrip()[:1] != b"[":
        return True
    stream.seek(start)
    found = [line for line in islice(_filled(stream), 2) if line.startswith(b"{")]
    if len(found) < 2 or not found[0].endswith(b"}"):
        return False
    try:
        parse_json(found[0])
    except ValueError:
        return False
    return True


def _filled(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines that hold something, stripped; of one that is too long, its beginning."""
    while line := stream.readline(MAX_LINE):
        if line.strip():
            yield line.strip()


def _lines(stream: IO[bytes], start: int, problems: Problems, read: FilePrefix) -> Iterator[PlacedRecord]:
    stream.seek(0)
    read.digest.update(stream.read(start)) if not read.size else stream.seek(read.size)
    read.size = read.size or start
    while line := stream.readline(MAX_LINE + 1):
        place = f"line {read.lines + 1}"
        read.add(line)
        if len(line) > MAX_LINE:
            problems.add(Problem(place, "", f"is longer than {MAX_LINE:,} bytes.", "Remove it or make it smaller."))
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
                read.add(line)
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
