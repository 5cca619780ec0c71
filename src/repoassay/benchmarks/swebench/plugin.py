"""What SWE-bench's entry points name."""

from __future__ import annotations

from repoassay.benchmarks.swebench.relatives import MultiRow, SmithRow
from repoassay.benchmarks.swebench.rows import SweRow

__all__ = ["MultiRow", "SmithRow", "SweRow"]
