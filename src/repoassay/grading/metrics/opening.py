"""Opening hostile files within bounds; what cannot be opened is the output's fault or, for a reference, ours."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import re
import signal
import stat
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from repoassay.errors import InfraFault, MissingExtra
from repoassay.grading.protocol import UnreadableOutput

__all__ = [
    "LONG",
    "content",
    "extra_of",
    "need",
    "read_json",
    "read_table",
    "read_text",
    "reference",
    "regular",
    "workbook",
]

_MAX_TEXT = 64 * 2**20
_MAX_UNPACKED = 256 * 2**20
_MAX_DEPTH = 200
LONG = 45.0
"""Seconds of computing that opening a workbook or a document may take; honest ones take a few."""
_Result = TypeVar("_Result")


_BASE = "metrics"
"""The extra on which all others with packages for metrics are built."""
_DISTRIBUTIONS = {"PIL": "pillow", "cv2": "opencv-python-headless"}
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*\bextra == ['\"]([a-z0-9-]+)['\"]")


def extra_of(package: str) -> str:
    """The smallest extra that brings a package and those of `metrics`, by its name on the index or its import name."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("repoassay") or []
    except PackageNotFoundError:
        lines = []
    brings: dict[str, set[str]] = {_BASE: set()}
    for found in filter(None, map(_REQUIREMENT.match, lines)):
        brings.setdefault(found[2], set()).add(found[1].lower())
    name = _DISTRIBUTIONS.get(package, package).lower().replace("_", "-")
    extras = [extra for extra, names in brings.items() if name in names and names >= brings[_BASE]]
    return min(extras, key=lambda extra: len(brings[extra]), default=_BASE)


def need(module: str) -> ModuleType:
    """Import a module of an optional package; raises `MissingExtra` when it is absent."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtra(package, extra_of(package)) from error


def reference(read: Callable[[Path], _Result], path: Path) -> _Result:
    """Read a reference; that it cannot be read is the suite's fault and stops grading."""
    try:
        return read(path)
    except UnreadableOutput as error:
        raise InfraFault(f"The reference {path.name} cannot be read: {error}.") from error


def content(path: Path, most: int = _MAX_TEXT) -> bytes:
    """The bytes of a regular file that is neither empty nor larger than `most`."""
    regular(path, most)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableOutput(f"it cannot be read: {error.strerror}") from error
    if not data:
        raise UnreadableOutput("it is empty")
    return data


def regular(path: Path, most: int) -> os.stat_result:
    """What the file system knows of a regular file of `most` bytes at most."""
    try:
        status = path.lstat()
    except OSError as error:
        raise UnreadableOutput(f"it cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableOutput("it is not a regular file")
    if status.st_size > most:
        raise UnreadableOutput(f"its {status.st_size} bytes are more than the {most} that are read")
    return status


def read_text(path: Path) -> str:
    """UTF-8 text, with or without a byte-order mark, that holds more than white space."""
    try:
        text = content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableOutput(f"it is not UTF-8 at byte {error.start}") from error
    if "\0" in text:
        raise UnreadableOutput("it holds NUL characters and is no text")
    if not text.strip():
        raise UnreadableOutput("it holds white space alone")
    return text


def read_table(path: Path, delimiter: str = ",") -> tuple[list[str], list[list[str]]]:
    """Header and rows of delimited text; every row as wide as the header, no column twice."""
    delimiter = "\t" if path.suffix == ".tsv" else delimiter
    csv.field_size_limit(2**20)
    try:
        rows = [row for row in csv.reader(io.StringIO(read_text(path), newline=""), delimiter=delimiter) if row]
    except csv.Error as error:
        raise UnreadableOutput(f"it is not a table: {error}") from error
    if not rows:
        raise UnreadableOutput("it has no header")
    header = [name.strip() for name in rows[0]]
    if len(set(map(str.casefold, header))) != len(header):
        raise UnreadableOutput("a column stands twice in its header")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise UnreadableOutput(f"row {number} has {len(row)} fields and the header {len(header)}")
    return header, rows[1:]


def read_json(path: Path) -> Any:
    """A JSON document (or, for `.jsonl`, a list of one a line) no deeper than 200 levels, without NaN."""
    text = read_text(path)

    def refuse(word: str) -> float:
        raise UnreadableOutput(f"{word} is not JSON")

    try:
        if path.suffix == ".jsonl":
            data: Any = [json.loads(line, parse_constant=refuse) for line in text.splitlines() if line.strip()]
        else:
            data = json.loads(text, parse_constant=refuse)
    except RecursionError as error:
        raise UnreadableOutput("it is nested too deeply") from error
    except ValueError as error:
        raise UnreadableOutput(f"it is not JSON: {error}") from error
    if _depth(data) > _MAX_DEPTH:
        raise UnreadableOutput(f"it is nested deeper than {_MAX_DEPTH} levels")
    return data


def _depth(data: Any) -> int:
    deepest, queue = 0, [(data, 1)]
    while queue:
        item, depth = queue.pop()
        deepest = max(deepest, depth)
        if depth > _MAX_DEPTH:
            return depth
        if isinstance(item, dict):
            queue += [(inner, depth + 1) for inner in item.values()]
        elif isinstance(item, list):
            queue += [(inner, depth + 1) for inner in item]
    return deepest


def workbook(path: Path) -> dict[str, dict[str, object]]:
    """Cells of an .xlsx workbook: sheet -> coordinate -> value, empty cells left out."""
    openpyxl = need("openpyxl")
    data = content(path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sizes = [item.file_size for item in archive.infolist()]
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise UnreadableOutput(f"it is not a workbook: {error}") from error
    if sum(sizes) > _MAX_UNPACKED or len(sizes) > 5000:
        raise UnreadableOutput(f"it unpacks to {sum(sizes)} bytes in {len(sizes)} parts, more than is opened")
    if any(name.lower().endswith("vbaproject.bin") for name in names):
        raise UnreadableOutput("it holds macros")
    with _mapped("a workbook", LONG):
        book = openpyxl.load_workbook(io.BytesIO(data), data_only=False)
        # Only cells there are: between the first and one in the last corner lie seventeen thousand million places.
        return {
            sheet.title: {cell.coordinate: cell.value for cell in sheet._cells.values() if cell.value is not None}
            for sheet in book.worksheets
        }


class _TooLong(BaseException):
    """Computing took too long; no `Exception`, which libraries catch and go on."""


def _over(*_: object) -> None:
    raise _TooLong


class _mapped:  # noqa: N801 - read as a clause: with _mapped("an image")
    """Turns whatever a parsing library raises over a hostile file into `UnreadableOutput`.

    So it does with a library that computes for more than `seconds`, if these are given and it is written in Python;
    what is not, only the sandbox can stop.
    """

    def __init__(self, what: str, seconds: float = 0) -> None:
        self._what = what
        self._seconds = seconds
        self._before: Any = None

    def __enter__(self) -> None:
        sys.setrecursionlimit(2000)
        free = signal.getitimer(signal.ITIMER_PROF)[0] == 0 and signal.getsignal(signal.SIGPROF) is signal.SIG_DFL
        if self._seconds and free and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGPROF, _over)
            signal.setitimer(signal.ITIMER_PROF, self._seconds, 1)  # and again, should it be passed over

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self._before is not None:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, self._before)
        if isinstance(error, _TooLong):
            raise UnreadableOutput("opening it takes more time than is allowed") from None
        if isinstance(error, Exception) and not isinstance(error, UnreadableOutput | MissingExtra | MemoryError):
            raise UnreadableOutput(f"it does not open as {self._what}: {type(error).__name__}: {error}") from error


mapped = _mapped
