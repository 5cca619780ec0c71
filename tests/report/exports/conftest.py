"""A run of two agents that was made, for exports to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.cli.main import cli

RUN = ["run", "starter", "--agent", "reference", "--agent", "nothing", "--task", "sensor-log-daily", "--attempts", "2"]


@pytest.fixture(scope="package")
def own_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exports") / "runs"
    cli.main([*RUN, "--out", str(place)], standalone_mode=False)
    (folder,) = place.glob("2*")
    return folder
