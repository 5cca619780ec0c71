"""What RES-Q's entry points name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from repoassay.interop.resq import ResqRow

if TYPE_CHECKING:
    from repoassay.report.figuring import Wanted
    from repoassay.report.rows import ResultRow
    from repoassay.report.tables.value import Table

__all__ = ["ResqRow", "tables"]


def tables(rows: Sequence[ResultRow], made: Sequence[Table], wanted: Wanted) -> list[Table]:
    """Table 2 of the paper, after the rows of the table of these runs that is like it."""
    from repoassay.report.tables.beside import beside, wants_published

    return beside(["resq"], made) if wants_published("resq", rows, wanted.published) else []
