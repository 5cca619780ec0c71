"""Review databases of both kinds, and a small study in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postgres import cluster, postgres
from repoassay.db import Database
from repoassay.review.database import open_database

__all__ = ["cluster", "database", "place", "postgres"]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.exhaustive)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Path or URL of an empty database of each kind; by day, tests/db and tests/server have both."""
    return str(tmp_path / "reviews.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres"))


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    """An open, empty database of each kind."""
    found = open_database(place)
    yield found
    found.close()
