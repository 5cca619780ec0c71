"""Delivered files beside the human's: previews within bounds, and the files themselves served so that nothing runs.

Text and delimited tables are read here, a bounded piece of them; whatever has to be parsed is opened in a sandbox (see
`previews`). Sound and film are only looked at for the sign of their kind, and left to the browser.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from fastapi.responses import FileResponse

from repoassay.errors import BadInput
from repoassay.grading import MOST_CELL, MOST_COLUMNS, MOST_ROWS, MOST_TEXT
from repoassay.review import ItemPayload, Output
from repoassay.server.review.auth import HTTPDenied
from repoassay.server.review.previews import NotebookCell
from repoassay.server.review.review_state import ReviewState, ShownItem

__all__ = [
    "OutputSide",
    "Preview",
    "begin_previews",
    "kind_of",
    "media_of",
    "opened_as",
    "send_output",
    "shown_of",
    "version_of",
]

Kind = Literal["image", "audio", "video", "table", "text", "pdf", "other"]

_INLINE: dict[str, tuple[Kind, str]] = {
    "png": ("image", "image/png"), "jpg": ("image", "image/jpeg"), "jpeg": ("image", "image/jpeg"),
    "gif": ("image", "image/gif"), "webp": ("image", "image/webp"), "bmp": ("image", "image/bmp"),
    "wav": ("audio", "audio/wav"), "mp3": ("audio", "audio/mpeg"), "flac": ("audio", "audio/flac"),
    "ogg": ("audio", "audio/ogg"), "m4a": ("audio", "audio/mp4"), "mp4": ("video", "video/mp4"),
    "webm": ("video", "video/webm"), "mov": ("video", "video/quicktime"),
}  # fmt: skip
"""The only type we ever give them."""
_OPENED = {
    "pdf": "pdf", "xlsx": "workbook", "ipynb": "notebook",
    **{ending: "picture" for ending, (kind, _) in _INLINE.items() if kind == "image"},
}  # fmt: skip
"""What is opened in a sandbox, and as what."""
_PLAYED: dict[str, Callable[[bytes], bool]] = {
    "wav": lambda head: head[:4] == b"RIFF" and head[8:12] == b"WAVE",
    "mp3": lambda head: head[:3] == b"ID3" or (head[:1] == b"\xff" and head[1:2] >= b"\xe0"),
    "flac": lambda head: head[:4] == b"fLaC",
    "ogg": lambda head: head[:4] == b"OggS",
    "webm": lambda head: head[:4] == b"\x1a\x45\xdf\xa3",
    **dict.fromkeys(("m4a", "mp4", "mov"), lambda head: head[4:8] in (b"ftyp", b"moov", b"mdat", b"free", b"wide")),
}
"""Signs of what browsers play, which they would else find out for themselves: a playlist makes them fetch."""
_TABLES = {"csv", "tsv", "xlsx"}
_TEXTS = {
    "txt", "md", "json", "jsonl", "xml", "html", "htm", "svg", "yaml", "yml", "toml", "srt", "vtt", "py", "js", "css",
    "log", "ini", "sql", "geojson", "gpx", "ics", "rst", "tex",
}  # fmt: skip
_MOST_FILES = 50
_WHICH = re.compile(r"(?P<side>made|truth)(?P<preview>(\.(?P<number>[1-9][0-9]?))?\.png)?")
_INERT = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    # Files are kept task by task and controls last: the time would tell raters which is which.
    "Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT",
}


@dataclass(frozen=True, slots=True)
class OutputSide:
    """One file of a pair. `text`, `rows` and `cells` hold what is previewed so; `note` says what is not shown, or why.

    `pictures` counts its PNGs; `plays` says that the browser may play it; `waits` that a preview is being made.
    """

    size: int
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""
    cells: tuple[NotebookCell, ...] = ()
    pictures: int = 0
    plays: bool = False
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """A delivered file with the human's one, None where there is none to set beside it."""

    number: int
    path: str
    kind: Kind
    made: OutputSide
    truth: OutputSide | None

    @property
    def waits(self) -> bool:
        """Whether anything of it is being made."""
        return self.made.waits or (self.truth is not None and self.truth.waits)


def kind_of(path: str) -> Kind:
    """How a file is shown, by the ending of its name."""
    ending = _ending(path)
    if ending in _INLINE:
        return _INLINE[ending][0]
    if ending in _TABLES:
        return "table"
    return "pdf" if ending == "pdf" else "text" if ending in {*_TEXTS, "ipynb"} else "other"


def opened_as(path: str) -> str:
    """As what a sandbox opens a file of this name: pdf, workbook, notebook or picture; empty where none does."""
    return _OPENED.get(_ending(path), "")


def media_of(path: str) -> str:
    """The media type under which a file is served: never one that a browser runs."""
    found = _INLINE.get(_ending(path))
    return found[1] if found else "application/octet-stream"


def shown_of(desk: ReviewState, outputs: Sequence[Output]) -> tuple[Preview, ...]:
    """Return what is shown of the first 50 files delivered, as far as it is made yet."""
    found = []
    for number, output in enumerate(outputs[:_MOST_FILES]):
        side = _side(desk, output.sha256, output.path)
        truth = _side(desk, output.truth, output.path) if output.truth else None
        found.append(Preview(number, output.path, kind_of(output.path), side, truth))
    return tuple(found)


def begin_previews(desk: ReviewState, payload: ItemPayload) -> None:
    """Have everything opened that raters will be shown of an item, so that it is there when they come."""
    for output in payload.outputs[:_MOST_FILES]:
        for digest in (output.sha256, output.truth):
            if digest and (kind := opened_as(output.path)):
                desk.previews.get(digest, kind)
    for each in payload.versions:
        for digest in (each.before, each.after):
            if digest and (kind := opened_as(each.path)):
                desk.previews.get(digest, kind)


def version_of(item: ShownItem, number: int) -> tuple[Output, str]:
    """Return a changed file that a sandbox opens as an output, its former version as the truth beside it.

    Args:
        item: The item.
        number: Of the file in the change.

    Returns:
        The output, and which version it is where there is one alone.

    Raises:
        HTTPDenied: When the file is none of these, or is not kept.
    """
    file = item.files[number] if 0 <= number < len(item.files) else None
    kept = next((each for each in item.payload.versions if file is not None and each.path == file.path), None)
    now = kept and (kept.after or kept.before)
    if kept is None or not now or not opened_as(kept.path):
        raise HTTPDenied(404, "There is no such file.")
    former = kept.before if kept.after and kept.before != kept.after else None
    return Output(path=kept.path, media=media_of(kept.path), sha256=now, truth=former), (
        "After" if kept.after else "Before"
    )


def send_output(desk: ReviewState, output: Output, which: str) -> FileResponse:
    """Send a picture's preview, or a file: to be played if it is sound or film, else as a download; it can run nothing.

    Raises:
        BadInput: When the file is not here.
        HTTPDenied: When `which` is neither `made` nor a `truth` there is, nor one of these with `.png` or `.2.png`: the
            first or another picture of its preview.
    """
    found = _WHICH.fullmatch(which)
    digest = {"made": output.sha256, "truth": output.truth}.get(found["side"]) if found else None
    if found is None or digest is None:
        raise HTTPDenied(404, "There is no such file.")
    side, preview = found["side"], bool(found["preview"])
    ending = "png" if preview else _ending(output.path)
    name = f"{side}.{ending}" if ending.isalnum() and ending.isascii() and len(ending) < 10 else side
    inline = "inline" if preview or ending in _PLAYED else "attachment"
    headers = {**_INERT, "Content-Disposition": f'{inline}; filename="{name}"', "ETag": f'"{digest}.{which}"'}
    number = int(found["number"] or 1)
    path = desk.previews.picture(digest, opened_as(output.path), number) if preview else desk.blobs.path(digest)
    return FileResponse(path, media_type=media_of(f"x.{ending}"), headers=headers)


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower().lstrip(".")


def _side(desk: ReviewState, digest: str, name: str) -> OutputSide:
    ending, kind = _ending(name), kind_of(name)
    try:
        path = desk.blobs.path(digest)
    except BadInput as error:
        return OutputSide(0, note=error.message)
    size = path.stat().st_size
    if ending in _OPENED:
        preview = desk.previews.get(digest, _OPENED[ending])
        if preview is None:
            return OutputSide(size, note="A preview is being made.", waits=True)
        rows, cells = tuple(map(tuple, preview.rows)), tuple(preview.cells)
        return OutputSide(size, rows=rows, note=preview.note, cells=cells, pictures=preview.pictures)
    if ending in _PLAYED:
        plays = _PLAYED[ending](_head(path, 16))
        return OutputSide(size, plays=plays, note="" if plays else "It is not what its name says; download it.")
    if kind not in ("text", "table"):
        return OutputSide(size)
    text = _head(path, MOST_TEXT).decode("utf-8", "replace")
    note = f"The first {MOST_TEXT:,} bytes are shown." if size > MOST_TEXT else ""
    return OutputSide(size, text=text, note=note) if kind == "text" else _table(size, text, ending, note)


def _head(path: Path, most: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read(most)


def _table(size: int, text: str, ending: str, note: str) -> OutputSide:
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t" if ending == "tsv" else ","):
            rows.append(tuple(cell[:MOST_CELL] for cell in row[:MOST_COLUMNS]))
            if len(rows) > MOST_ROWS:
                return OutputSide(size, rows=tuple(rows[:MOST_ROWS]), note=f"The first {MOST_ROWS} rows are shown.")
    except csv.Error as error:
        return OutputSide(size, text=text, note=f"This is no table: {error}.")
    return OutputSide(size, rows=tuple(rows), note=note)
