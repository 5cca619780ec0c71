"""The tasks under attack, laid out, with an engine that is closed in the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attacks.rows import write_rows
from repoassay.attacks import Ground
from repoassay.cli.attack import grounds_of
from repoassay.errors import RepoAssayError


@pytest.fixture(scope="session")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Ground]]:
    folder = tmp_path_factory.mktemp("attacks")
    try:
        rows = write_rows(folder / "rows.jsonl")
    except RepoAssayError as error:
        pytest.skip(f"the demonstration tasks cannot be had here: {error}")
    with grounds_of(str(rows), (), 8.0, 2) as found:
        yield {ground.folder.task.id: ground for ground in found}
