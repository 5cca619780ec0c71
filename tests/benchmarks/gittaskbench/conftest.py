"""The suite's data, taken from beside the checkout without copying it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared_data import SHARED


@pytest.fixture(autouse=True, scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let the suite find its data."""
    place = tmp_path_factory.mktemp("data")
    (place / "gittaskbench").symlink_to(SHARED / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPOASSAY_DATA", str(place))
        yield place / "gittaskbench"
