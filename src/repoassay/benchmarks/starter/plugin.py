"""What the entry points of the starter suite name."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SUITE"]

SUITE = Path(__file__).with_name("suite")
"""Folder of the suite."""
