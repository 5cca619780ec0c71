"""What people are shown of a file nobody trusts: rows, cells or pictures. Runs inside a sandbox, for one file.

Told on standard input which kind of file `/file` is; leaves `shown.json` in `/shown`, and beside it `shown-1.png` and
so on. What comes out is plain: text, or a PNG made anew of pixels, without whatever else the file held.
"""

from __future__ import annotations

import base64
import io
import json
import resource
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repoassay.errors import MissingExtra
from repoassay.grading.metrics.opening import content, mapped, need
from repoassay.grading.protocol import UnreadableOutput

__all__ = [
    "FILE",
    "MOST_CELL",
    "MOST_CELLS",
    "MOST_COLUMNS",
    "MOST_PICTURES",
    "MOST_ROWS",
    "MOST_SIDE",
    "MOST_TEXT",
    "PLACE",
    "main",
]

FILE, PLACE = "/file", "/shown"
MOST_TEXT = 200_000
MOST_ROWS, MOST_COLUMNS, MOST_CELL = 200, 40, 500
MOST_SIDE = 4096
"""Pixels along an edge of a picture; a larger one is made smaller."""
MOST_PICTURES = 20
"""Pages of a document, or pictures in a notebook."""
MOST_CELLS = 400
_PAGE_SIDE = 1400
_PAGES_SECONDS = 8.0
_MOST_PRINTED = 20_000
_MOST_PIXELS = 64_000_000
_MOST_FRAMES = 100
_MOST_FILE = 64 * 2**20
_MOST_DOCUMENT = 8 * 2**20
_MOST_UNPACKED = 64 * 2**20
_MOST_PNG = 8 * 2**20


def main() -> None:
    """Open the file and leave what is shown of it."""
    settings = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (settings["cpu"], settings["cpu"] + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (settings["memory"], settings["memory"]))
    try:
        found = _KINDS[settings["kind"]](Path(FILE))
    except UnreadableOutput as error:
        found = {"note": f"This cannot be shown: {error}."[:500]}
    except MissingExtra:
        found = {"note": "Install the extra `metrics` to see this here.", "kept": False}
    except MemoryError:
        found = {"note": "This cannot be shown: opening it takes more memory than is allowed."}
    Path(PLACE, "shown.json").write_text(json.dumps(found))


def _pdf(path: Path) -> dict[str, Any]:
    """The first pages as pictures: a browser's own viewer would need the document to leave its cage."""
    pdfium = need("pypdfium2")
    content(path, _MOST_DOCUMENT)
    begun, pictures, held = time.process_time(), 0, 0
    with mapped("a PDF"):
        document = pdfium.PdfDocument(path)
        count = len(document)
        for number in range(min(count, MOST_PICTURES)):
            page = document[number]
            scale = min(2.0, _PAGE_SIDE / max(1.0, *page.get_size()))
            frame = page.render(scale=scale, may_draw_forms=False).to_pil().convert("RGB")
            place = _picture_place(number + 1)
            frame.save(place, format="PNG")
            held += place.stat().st_size
            if held > _MOST_PNG and pictures:
                place.unlink()
                break
            pictures += 1
            if time.process_time() - begun > _PAGES_SECONDS:
                break
    if not pictures:
        raise UnreadableOutput("it has no pages")
    note = f"The first {pictures} of {count} pages are shown." if pictures < count else ""
    return {"pictures": pictures, "note": note}


def _picture_place(number: int) -> Path:
    return Path(PLACE, f"shown-{number}.png")


def _workbook(path: Path) -> dict[str, Any]:
    """The first sheet; a small archive may unpack to very much, so its sizes are looked at first."""
    openpyxl = need("openpyxl")
    data = io.BytesIO(content(path, _MOST_DOCUMENT))
    with mapped("a workbook"):
        with zipfile.ZipFile(data) as archive:
            if (size := sum(each.file_size for each in archive.infolist())) > _MOST_UNPACKED:
                raise UnreadableOutput(f"it unpacks to {size} bytes, more than is opened")
        book = openpyxl.load_workbook(data, read_only=True, data_only=True)
        rows = [
            ["" if cell is None else str(cell)[:MOST_CELL] for cell in row]
            for row in book.worksheets[0].iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True)
        ]
    # Sheets say that they are wide and long; what is empty to the end is left out.
    wide = max((number for row in rows for number, cell in enumerate(row, 1) if cell), default=0)
    long = max((number for number, row in enumerate(rows, 1) if any(row)), default=0)
    rows = [row[:wide] for row in rows[:long]]
    return {"rows": rows, "note": f"The first sheet is shown, at most {MOST_ROWS} rows."}


def _notebook(path: Path) -> dict[str, Any]:
    """The cells of a notebook, with what they printed and drew."""
    with mapped("a notebook"):
        cells = json.loads(content(path, _MOST_DOCUMENT))["cells"]
        found: list[dict[str, Any]] = []
        left, drawn = MOST_TEXT, 0
        for cell in cells[:MOST_CELLS]:
            kind = str(cell.get("cell_type"))
            source = _joined(cell.get("source"))[: min(_MOST_PRINTED, left)]
            left -= len(source)
            outputs: list[dict[str, Any]] = []
            for output in cell.get("outputs", [])[:20]:
                data = output.get("data", {})
                if drawn < MOST_PICTURES and (image := data.get("image/png") or data.get("image/jpeg")):
                    drawn += _drawn(_joined(image), drawn + 1, outputs)
                elif printed := output.get("text") or data.get("text/plain") or output.get("evalue"):
                    text = _joined(printed)[: min(_MOST_PRINTED, left)]
                    left -= len(text)
                    outputs.append({"text": text})
            found.append(
                {"kind": kind if kind in ("markdown", "code") else "raw", "source": source, "outputs": outputs}
            )
    note = f"The first {len(found)} of {len(cells)} cells are shown." if len(found) < len(cells) else ""
    return {
        "cells": found,
        "pictures": drawn,
        "note": note or ("It ends here: the rest is too long." if left <= 0 else ""),
    }


def _drawn(encoded: str, number: int, outputs: list[dict[str, Any]]) -> bool:
    """Keep a picture that a cell drew; one that does not open is a sentence among the outputs."""
    image: Any = need("PIL.Image")
    image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    try:
        with image.open(io.BytesIO(base64.b64decode(encoded)), formats=_FORMATS) as opened:
            opens = bool(opened.width * opened.height <= _MOST_PIXELS // 4)
            if opens:
                _plain(opened, 1000).save(_picture_place(number), format="PNG")
    except Exception:  # noqa: BLE001 - whatever a decoder raises for a hostile file, the notebook is still shown
        opens = False
    outputs.append({"picture": number} if opens else {"text": "[a picture that does not open]"})
    return opens


def _joined(text: object) -> str:
    return "".join(map(str, text[:10_000])) if isinstance(text, list) else str(text)


def _picture(path: Path) -> dict[str, Any]:
    """The pixels as a PNG; of a moving picture as many frames as are opened."""
    image: Any = need("PIL.Image")
    content(path, _MOST_FILE)
    image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    with mapped("a picture"), image.open(path, formats=_FORMATS) as opened:
        width, height = opened.size
        if width * height > _MOST_PIXELS:
            raise UnreadableOutput(f"its {width} x {height} pixels are more than are opened")
        count = int(getattr(opened, "n_frames", 1))
        side = MOST_SIDE if count == 1 else min(MOST_SIDE, 800)
        frames, waits = [], []
        for number in range(min(count, _MOST_FRAMES, max(1, _MOST_PIXELS // (width * height)))):
            opened.seek(number)
            frames.append(_plain(opened, side))
            waits.append(min(10_000, max(20, int(opened.info.get("duration") or 100))))
        place = _picture_place(1)
        _save(frames, waits, place)
        while place.stat().st_size > _MOST_PNG:
            frames = [each.resize((max(1, each.width // 2), max(1, each.height // 2))) for each in frames]
            _save(frames, waits, place)
    notes = [f"{width} x {height} pixels, shown smaller."] if frames[0].size != (width, height) else []
    notes += [f"The first {len(frames)} of {count} frames are shown."] if len(frames) < count else []
    return {"pictures": 1, "note": " ".join(notes)}


_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def _plain(opened: Any, side: int) -> Any:
    ops = need("PIL.ImageOps")
    see_through = "A" in opened.getbands() or "transparency" in opened.info
    frame = ops.exif_transpose(opened.convert("RGBA" if see_through else "RGB"))
    frame.thumbnail((side, side))
    frame.info = {}  # colour profiles and texts would go along, and could say who made it
    return frame


def _save(frames: list[Any], waits: list[int], place: Path) -> None:
    more = {"save_all": True, "append_images": frames[1:], "duration": waits, "loop": 0} if len(frames) > 1 else {}
    frames[0].save(place, format="PNG", **more)


_KINDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "pdf": _pdf, "workbook": _workbook, "notebook": _notebook, "picture": _picture,
}  # fmt: skip
