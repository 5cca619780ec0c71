"""What SWE-bench's entry points name."""

from __future__ import annotations

from repoassay.benchmarks.swebench.relatives import MultiRow, PolyRow, R2ERow, SmithRow
from repoassay.benchmarks.swebench.rows import SweRow

__all__ = ["MultiRow", "PolyRow", "R2ERow", "SmithRow", "SweRow"]
