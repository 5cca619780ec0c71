"""Published data that lies beside the checkout on some machines, and is no part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["SHARED", "SWEBENCH", "needs_shared", "needs_swebench"]

SHARED = Path(__file__).parents[1].parent / "shared" / "gittaskbench"
needs_shared = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the published data of GitTaskBench is not beside the checkout"
)
SWEBENCH = SHARED.with_name("swebench")
needs_swebench = pytest.mark.skipif(
    not (SWEBENCH / "rows.jsonl").is_file(), reason="real rows of SWE-bench are not beside the checkout"
)
