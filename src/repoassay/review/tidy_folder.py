"""What leaves of a study in one folder: its tidy table in several formats, the codebook, scripts for Python and R."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from repoassay.review.tidy_columns import codebook
from repoassay.review.tidy_files import write_tidy_rows
from repoassay.review.tidy_table import StudyRecords, tidy_rows

__all__ = ["write_tidy_folder"]

_SCRIPTS = ("analyse.py", "analyse.R")


def write_tidy_folder(records: StudyRecords, folder: Path, formats: Iterable[str]) -> int:
    """Write a study's table, its codebook, and scripts that print the figures from the CSV file alone.

    Args:
        records: As `study_records` returns them.
        folder: Made where it is not there.
        formats: Of `TIDY_FORMATS`; each gives a file named after the study.

    Returns:
        The number of rows.

    Raises:
        MissingExtra: For Parquet, without pyarrow.
    """
    rows, name = tidy_rows(records), records.study.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CODEBOOK.md").write_text(codebook(records.rubric, name), encoding="utf-8")
    for each in _SCRIPTS:
        text = (files("repoassay.review") / "examples" / each).read_text(encoding="utf-8")
        (folder / each).write_text(text, encoding="utf-8")
    for each in formats:
        write_tidy_rows(rows, folder / f"{name}.{each}")
    return len(rows)
