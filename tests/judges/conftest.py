"""One kind of database is enough where the database is not what is tested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repoassay.db import Database
from repoassay.review.database import open_database


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    """An open, empty SQLite database."""
    found = open_database(str(tmp_path / "own.sqlite"))
    yield found
    found.close()
