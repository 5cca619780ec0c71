"""Suites that come with the package: the folders beside this file."""

from __future__ import annotations

from pathlib import Path

__all__ = ["bundled_suite", "bundled_suites"]

_HERE = Path(__file__).parent


def bundled_suites() -> list[str]:
    """Names of the suites that come with the package, sorted."""
    return sorted(path.parent.name for path in _HERE.glob("*/suite.toml"))


def bundled_suite(name: str) -> Path | None:
    """Folder of a suite that comes with the package; None when there is no such suite."""
    return _HERE / name if name in bundled_suites() else None
