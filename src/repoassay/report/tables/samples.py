"""A sample that is the same each time: those whose hashed id is least."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence

from repoassay.report.results import ResultRow

__all__ = ["sample_table"]


def sample_table(rows: Sequence[ResultRow], most: int) -> list[ResultRow]:
    """At most so many rows, in their order. Which they are depends on their ids alone."""
    if len(rows) <= most:
        return list(rows)

    def digest(index: int) -> bytes:
        return hashlib.sha256(rows[index].attempt.encode()).digest()

    kept = heapq.nsmallest(most, range(len(rows)), key=digest)
    return [rows[index] for index in sorted(kept)]
