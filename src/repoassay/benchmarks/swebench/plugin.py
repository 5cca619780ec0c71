"""What SWE-bench's entry points name."""

from __future__ import annotations

from repoassay.interop.swebench import SweRow

__all__ = ["SweRow"]
