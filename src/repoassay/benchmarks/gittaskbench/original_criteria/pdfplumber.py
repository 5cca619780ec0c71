"""What GitTaskBench's own scripts decide for PDFPlumber_01 to PDFPlumber_03."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import FAILED, junk_ratio, present, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric

__all__ = ["gtb_pdfplumber_01", "gtb_pdfplumber_02", "gtb_pdfplumber_03"]


@metric(
    "gtb_pdfplumber_01",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of PDFPlumber_01",
)
def gtb_pdfplumber_01(of: Path, against: Path) -> Measurement:
    """difflib ratio of the output to the reference, ends stripped, frequent characters of the reference ignored."""
    ours, theirs = (utf8(present(path)).strip() for path in (of, against))
    return Measurement(junk_ratio(ours, theirs))


@metric(
    "gtb_pdfplumber_02",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of PDFPlumber_02",
)
def gtb_pdfplumber_02(of: Path, against: Path) -> Measurement:
    """Share of cells that are equal in rows paired by order, below the header and up to the shorter table."""
    ours, theirs = (_rows(utf8(present(path, filled=False))) for path in (of, against))
    alike = total = 0
    for mine, other in zip(ours[1:], theirs[1:], strict=False):
        total += max(len(mine), len(other))
        alike += sum(one == two for one, two in zip(mine, other, strict=False))
    if not total:
        return Measurement(FAILED, "no rows to compare")
    return Measurement(alike / total, f"{alike} of {total} cells")


def _rows(text: str) -> list[list[str]]:
    csv.field_size_limit(2**20)
    try:
        return list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise UnreadableOutput(f"the script cannot read it: {error}") from error


@metric(
    "gtb_pdfplumber_03",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of PDFPlumber_03",
)
def gtb_pdfplumber_03(of: Path, against: Path) -> Measurement:
    """Share of the reference's addresses among the output's lines that are addresses, lower-cased."""
    ours, theirs = (
        {line.strip().lower() for line in utf8(present(path, filled=False)).split("\n")} for path in (of, against)
    )
    wanted = {line for line in theirs if re.fullmatch(r"[\w.+-]+@[\w-]+\.[\w.-]+", line)}
    return Measurement(len(wanted & ours) / len(wanted), f"{len(wanted & ours)} of {len(wanted)}")
