"""A PDF split into one file a page, against the pages as they should be."""

from __future__ import annotations

import io
import logging
import re
import stat
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.decoding import similarity
from repoassay.grading import Measurement, UnreadableOutput, content, mapped, metric, need, reference

__all__ = ["natural_order", "pdf_pages_split"]

_MOST_FILES = 500
_MOST_ENTRIES = 5000
_LONGEST = 50_000
_SIZE = 0.05


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sorting key by which page_2 comes before page_10, whatever other numbers names share."""
    return [(int(part[:18]), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name.casefold())]


def _documents(folder: Path) -> list[Path]:
    """The .pdf files below a folder in the order their names number them; nothing is followed."""
    pending, found, seen = [folder], [], 0
    while pending:
        for path in pending.pop().iterdir():
            seen += 1
            if seen > _MOST_ENTRIES:
                raise UnreadableOutput(f"there are more than {_MOST_ENTRIES} files")
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                pending.append(path)
            elif stat.S_ISREG(mode) and path.suffix.lower() == ".pdf":
                found.append(path)
    if not found:
        raise UnreadableOutput("there is no .pdf file")
    if len(found) > _MOST_FILES:
        raise UnreadableOutput(f"its {len(found)} documents are more than are opened")
    return sorted(found, key=lambda path: natural_order(path.stem))


def _pages(path: Path) -> list[Any]:
    """The pages of a document, their texts not yet extracted."""
    pypdf = need("pypdf")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    data = content(path)
    with mapped("a PDF"):
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            raise UnreadableOutput("it is locked with a password")
        return [reader.pages[number] for number in range(min(len(reader.pages), 2))]


def _drawn(page: Any) -> bytes:
    with mapped("a PDF"):
        drawn = page.get_contents()
        return b"" if drawn is None else bytes(drawn.get_data())


def _text(page: Any) -> str:
    with mapped("a PDF"):
        return re.sub(r"\s", "", page.extract_text())[:_LONGEST]


def _shown(page: Any) -> tuple[float, float]:
    """Width and height of what a reader shows of a page, in points: text beyond the crop box is still extracted."""
    with mapped("a PDF"):
        box, turned = page.cropbox, page.rotation % 180 == 90
        sides = abs(float(box.width)), abs(float(box.height))
    return sides[::-1] if turned else sides


def _same(page: Any, other: Any, alike: float) -> bool:
    """Whether two pages show as much and say the same; what is drawn alike need not be extracted to know that."""
    if any(abs(mine - its) > _SIZE * its for mine, its in zip(_shown(page), _shown(other), strict=True)):
        return False
    drawn = _drawn(page)
    return (drawn and drawn == _drawn(other)) or similarity(_text(page), _text(other)) >= alike


@metric(
    "pdf_pages_split",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of pages in files of their own, by text",
    packages=("pypdf", "rapidfuzz"),
)
def pdf_pages_split(of: Path, against: Path, *, alike: float = 0.95) -> Measurement:
    """Share of pages that stand alone in the file of their turn; both arguments are folders of .pdf files.

    Files are taken in the order of the numbers in their names, from nought or one. A page is right when its file has
    one page, as wide and high as the reference's within a twentieth, and its text has an Indel similarity of at least
    `alike` to the reference's, white space aside. Files too many count as pages that are wrong. Raises
    `UnreadableOutput` when any file is no PDF.
    """
    theirs = [reference(_pages, path)[0] for path in reference(_documents, against)]
    ours = []
    for path in _documents(of):
        try:
            ours.append((path.name, _pages(path)))
        except UnreadableOutput as error:
            raise UnreadableOutput(f"{path.name}: {error}") from error
    wrong = [
        name
        for (name, pages), other in zip(ours, theirs, strict=False)
        if len(pages) != 1 or not _same(pages[0], other, alike)
    ]
    most = max(len(ours), len(theirs))
    right = min(len(ours), len(theirs)) - len(wrong)
    note = f"{right} of {len(theirs)} pages right in {len(ours)} files" + (f"; {wrong[0]} is not" if wrong else "")
    return Measurement(right / most, note)
