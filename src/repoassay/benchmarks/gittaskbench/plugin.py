"""What GitTaskBench's entry points name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import repoassay

if TYPE_CHECKING:
    from repoassay.report.figuring import Wanted
    from repoassay.report.rows import ResultRow
    from repoassay.report.tables.value import Table

__all__ = ["SUITE", "tables"]

SUITE = Path(repoassay.__file__).with_name("suites") / "gittaskbench"
"""Folder of the suite."""


def tables(rows: Sequence[ResultRow], made: Sequence[Table], wanted: Wanted) -> list[Table]:
    """Tables 3, 7, 10 and Figure 7 of the paper, each after the rows of the table of these runs that is like it."""
    from repoassay.report.tables.beside import beside, wants_published

    return beside(["gittaskbench"], made) if wants_published("gittaskbench", rows, wanted.published) else []
