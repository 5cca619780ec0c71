"""Databases of both kinds, empty or as version 0.1 wrote them, and folders of migrations."""

from __future__ import annotations

from pathlib import Path

import pytest

from postgres import cluster, postgres

__all__ = ["cluster", "place", "postgres"]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Path or URL of an empty database of each kind."""
    return str(tmp_path / "notes.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres"))
