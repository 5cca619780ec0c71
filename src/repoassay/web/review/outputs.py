"""Delivered files beside the human's: previews within bounds, and the files themselves served so that nothing runs."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Literal

from fastapi.responses import FileResponse

from repoassay.errors import BadInput
from repoassay.review.study import Output
from repoassay.web.review.blobs import Blobs
from repoassay.web.review.guard import Denied

__all__ = ["Preview", "Side", "kind_of", "media_of", "previews", "send_output"]

Kind = Literal["image", "audio", "video", "table", "text", "pdf", "other"]

_INLINE: dict[str, tuple[Kind, str]] = {
    "png": ("image", "image/png"), "jpg": ("image", "image/jpeg"), "jpeg": ("image", "image/jpeg"),
    "gif": ("image", "image/gif"), "webp": ("image", "image/webp"), "bmp": ("image", "image/bmp"),
    "wav": ("audio", "audio/wav"), "mp3": ("audio", "audio/mpeg"), "flac": ("audio", "audio/flac"),
    "ogg": ("audio", "audio/ogg"), "m4a": ("audio", "audio/mp4"), "mp4": ("video", "video/mp4"),
    "webm": ("video", "video/webm"), "mov": ("video", "video/quicktime"),
}  # fmt: skip
"""Shown by the browser itself, under the only type we ever give them."""
_TABLES = {"csv", "tsv", "xlsx"}
_TEXTS = {
    "txt", "md", "json", "jsonl", "xml", "html", "htm", "svg", "yaml", "yml", "toml", "srt", "vtt", "py", "js", "css",
    "log", "ini", "sql", "geojson", "gpx", "ics", "rst", "tex",
}  # fmt: skip
_MOST_FILES = 50
_MOST_TEXT = 200_000
_MOST_ROWS, _MOST_COLUMNS, _MOST_CELL = 200, 40, 500
_MOST_SHEET = 8 * 2**20
_MOST_UNPACKED = 64 * 2**20
_INERT = {"Content-Security-Policy": "sandbox; default-src 'none'", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Side:
    """One file of a pair. `text` and `rows` hold what is previewed as such; `note` says what is not shown, or why."""

    size: int
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """A delivered file with the human's one, None where there is none to set beside it."""

    number: int
    path: str
    kind: Kind
    made: Side
    truth: Side | None


def kind_of(path: str) -> Kind:
    """How a file is shown, by the ending of its name."""
    ending = _ending(path)
    if ending in _INLINE:
        return _INLINE[ending][0]
    return "table" if ending in _TABLES else "text" if ending in _TEXTS else "pdf" if ending == "pdf" else "other"


def media_of(path: str) -> str:
    """The media type under which a file is served: never one that a browser runs."""
    found = _INLINE.get(_ending(path))
    return found[1] if found else "application/octet-stream"


def previews(blobs: Blobs, outputs: Sequence[Output]) -> tuple[Preview, ...]:
    """Return what is shown of the first 50 files delivered."""
    found = []
    for number, output in enumerate(outputs[:_MOST_FILES]):
        kind = kind_of(output.path)
        ending = _ending(output.path)
        made = _side(str(blobs.folder), output.sha256, kind, ending)
        truth = _side(str(blobs.folder), output.truth, kind, ending) if output.truth else None
        found.append(Preview(number, output.path, kind, made, truth))
    return tuple(found)


def send_output(blobs: Blobs, output: Output, which: str) -> FileResponse:
    """Send a file as what it is if browsers only show it, else as a download; it can run nothing either way.

    Raises:
        BadInput: When the file is not here.
        Denied: When `which` is neither `made` nor a `truth` there is.
    """
    digest = {"made": output.sha256, "truth": output.truth}.get(which)
    if digest is None:
        raise Denied(404, "There is no such file.")
    media = media_of(output.path)
    ending = _ending(output.path)
    name = f"{which}.{ending}" if ending.isalnum() and ending.isascii() and len(ending) < 10 else which
    inline = "inline" if _ending(output.path) in _INLINE else "attachment"
    headers = {**_INERT, "Content-Disposition": f'{inline}; filename="{name}"'}
    return FileResponse(blobs.path(digest), media_type=media, headers=headers)


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower().lstrip(".")


@lru_cache(maxsize=64)
def _side(folder: str, digest: str, kind: Kind, ending: str) -> Side:
    try:
        path = Blobs(Path(folder)).path(digest)
    except BadInput as error:
        return Side(0, note=error.message)
    size = path.stat().st_size
    if kind == "text" or (kind == "table" and ending != "xlsx"):
        with path.open("rb") as stream:
            text = stream.read(_MOST_TEXT).decode("utf-8", "replace")
        note = f"The first {_MOST_TEXT:,} bytes are shown." if size > _MOST_TEXT else ""
        if kind == "text":
            return Side(size, text=text, note=note)
        return _table(size, text, "\t" if ending == "tsv" else ",", note)
    if kind == "table":
        return _workbook(size, path)
    return _pdf(size, path) if kind == "pdf" else Side(size)


def _table(size: int, text: str, between: str, note: str) -> Side:
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=between):
            rows.append(tuple(cell[:_MOST_CELL] for cell in row[:_MOST_COLUMNS]))
            if len(rows) > _MOST_ROWS:
                return Side(size, rows=tuple(rows[:_MOST_ROWS]), note=f"The first {_MOST_ROWS} rows are shown.")
    except csv.Error as error:
        return Side(size, text=text, note=f"This is no table: {error}.")
    return Side(size, rows=tuple(rows), note=note)


def _workbook(size: int, path: Path) -> Side:
    """Read the first sheet; a small archive may unpack to very much, so its sizes are looked at first."""
    if size > _MOST_SHEET:
        return Side(size, note="The workbook is too large to show; download it.")
    try:
        import openpyxl

        with zipfile.ZipFile(path) as archive:
            if sum(each.file_size for each in archive.infolist()) > _MOST_UNPACKED:
                return Side(size, note="The workbook is too large to show; download it.")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            sheet = book.worksheets[0]
            rows = tuple(
                tuple("" if cell is None else str(cell)[:_MOST_CELL] for cell in row)
                for row in sheet.iter_rows(max_row=_MOST_ROWS, max_col=_MOST_COLUMNS, values_only=True)
            )
        finally:
            book.close()
    except ImportError:
        return Side(size, note="Install the extra `metrics` to see workbooks here, or download it.")
    except Exception as error:  # noqa: BLE001 - a hostile workbook fails in ways openpyxl does not name
        return Side(size, note=f"The workbook cannot be read ({type(error).__name__}); download it.")
    return Side(size, rows=rows, note="The first sheet is shown, at most 200 rows.")


def _pdf(size: int, path: Path) -> Side:
    """Show the text of the first pages; a browser's own viewer would need the document to leave its cage."""
    if size > _MOST_SHEET:
        return Side(size, note="The document is too large to show; download it.")
    try:
        import pypdf

        reader = pypdf.PdfReader(path, strict=False)
        text = "\n\n".join((page.extract_text() or "")[:20_000] for page in reader.pages[:5])
    except ImportError:
        return Side(size, note="Install the extra `metrics` to see the text of PDFs here, or download it.")
    except Exception as error:  # noqa: BLE001 - a hostile document fails in ways pypdf does not name
        return Side(size, note=f"The document cannot be read ({type(error).__name__}); download it.")
    return Side(
        size, text=text[:_MOST_TEXT], note="Its text is shown, at most five pages; download it to see the pages."
    )
