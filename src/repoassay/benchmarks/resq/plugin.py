"""What RES-Q's entry points name."""

from __future__ import annotations

from repoassay.benchmarks.resq.rows import ResqRow

__all__ = ["ResqRow"]
