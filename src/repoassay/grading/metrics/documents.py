"""Metrics of PDF documents."""

from __future__ import annotations

import io
import logging
from pathlib import Path

from repoassay.grading.metrics.opening import LONG, content, mapped, need, reference
from repoassay.grading.metrics.text import normal
from repoassay.grading.protocol import Measurement, UnreadableOutput
from repoassay.grading.registry import metric

__all__ = ["pdf_pages", "pdf_text_similarity", "read_pdf"]

_MAX_PAGES = 2000


def read_pdf(path: Path) -> list[str]:
    """The text of every page."""
    pypdf = need("pypdf")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    data = content(path)
    with mapped("a PDF", LONG):
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            raise UnreadableOutput("it is locked with a password")
        if len(reader.pages) > _MAX_PAGES:
            raise UnreadableOutput(f"its {len(reader.pages)} pages are more than are opened")
        return [page.extract_text() for page in reader.pages]


@metric("pdf_pages", unit="pages", span="[0, 2000]", better="neither", source="page tree", packages=("pypdf",))
def pdf_pages(of: Path) -> Measurement:
    """Number of pages."""
    return Measurement(float(len(read_pdf(of))))


@metric(
    "pdf_text_similarity",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="as text_similarity, over the text of all pages",
    packages=("pypdf", "rapidfuzz"),
)
def pdf_text_similarity(of: Path, against: Path) -> Measurement:
    """1 minus the normalised Levenshtein distance of the texts of both documents."""
    distance = need("rapidfuzz.distance.Levenshtein")
    ours, theirs = (normal("\n".join(pages)) for pages in (read_pdf(of), reference(read_pdf, against)))
    return Measurement(
        float(distance.normalized_similarity(ours, theirs)), f"{len(ours)} characters against {len(theirs)}"
    )
