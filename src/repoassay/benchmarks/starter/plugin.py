"""What the entry points of the starter suite name."""

from __future__ import annotations

from pathlib import Path

import repoassay

__all__ = ["SUITE"]

SUITE = Path(repoassay.__file__).with_name("suites") / "starter"
"""Folder of the suite."""
