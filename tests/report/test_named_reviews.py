"""Reviews are read where a database is named, and a study without one is no wish that is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.api import compare
from repoassay.errors import BadInput
from repoassay.report import named_reviews


def test_a_study_without_a_database_is_refused() -> None:
    assert named_reviews("") is None
    with pytest.raises(BadInput, match="--reviews"):
        named_reviews("", "mine")


def test_comparing_says_so_too(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--reviews"):
        compare(str(tmp_path), str(tmp_path), study="mine")
