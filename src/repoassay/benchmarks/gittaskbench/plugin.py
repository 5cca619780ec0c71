"""What GitTaskBench's entry points name."""

from __future__ import annotations

from pathlib import Path

import repoassay

__all__ = ["SUITE"]

SUITE = Path(repoassay.__file__).with_name("suites") / "gittaskbench"
"""Folder of the suite."""
