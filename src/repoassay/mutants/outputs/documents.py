"""PDF documents made wrong: pages that are missing, blank, turned or in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.mutants.outputs.mutant import Expected, OutputChange, RightOutput, Same

__all__ = ["SUFFIXES", "document_changes"]

SUFFIXES = frozenset({".pdf"})


def document_changes(source: RightOutput) -> Iterator[OutputChange]:
    """Every mutant of a document."""
    import pypdf

    pages = list(pypdf.PdfReader(source.path).pages)
    yield OutputChange("blank", partial(_write, lambda writer: _blank(writer, pages)))
    yield OutputChange("pages-doubled", partial(_write, lambda writer: _add(writer, pages + pages)))
    if len(pages) > 1:
        yield OutputChange(
            "page-missing", partial(_write, lambda writer: _add(writer, pages[:-1])), share=1 / len(pages)
        )
        yield OutputChange("first-page-only", partial(_write, lambda writer: _add(writer, pages[:1])))
        yield OutputChange("pages-reversed", partial(_write, lambda writer: _add(writer, pages[::-1])))
        yield OutputChange("first-page-repeated", partial(_write, lambda writer: _add(writer, pages[:1] * len(pages))))
    for path in source.inputs:
        if path.suffix.lower() in SUFFIXES:
            yield OutputChange("input", partial(_copied, source.path, path))
            break
    yield OutputChange("written-again", partial(_write, lambda writer: _add(writer, pages)), Expected.RIGHT)


def _write(fill: Callable[[Any], None], place: Path) -> None:
    import pypdf

    writer = pypdf.PdfWriter()
    fill(writer)
    writer.write(place)


def _add(writer: Any, pages: list[Any]) -> None:
    for page in pages:
        writer.add_page(page)


def _blank(writer: Any, pages: list[Any]) -> None:
    for page in pages:
        writer.add_blank_page(page.mediabox.width, page.mediabox.height)


def _copied(right: Path, path: Path, place: Path) -> None:
    if path.read_bytes() == right.read_bytes():
        raise Same
    place.write_bytes(path.read_bytes())
