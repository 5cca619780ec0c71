"""What GitTaskBench's entry points name."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SUITE"]

SUITE = Path(__file__).with_name("suite")
"""Folder of the suite."""
