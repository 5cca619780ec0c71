"""The tasks under attack, laid out, with an engine that is closed in the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attacks.rows import write_rows
from repoassay.attacks import AttackGround
from repoassay.cli.attack import grounds_of
from repoassay.errors import RepoAssayError
from repoassay.grading.oracle.quick_decision import DecisionQuestion
from repoassay.grading.oracle.sites import AssertionSite, SiteMode


@pytest.fixture(scope="session")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, AttackGround]]:
    folder = tmp_path_factory.mktemp("attacks")
    try:
        rows = write_rows(folder / "rows.jsonl")
    except RepoAssayError as error:
        pytest.skip(f"the demonstration tasks cannot be had here: {error}")
    with grounds_of(str(rows), (), 8.0, 2) as found:
        _start_judge(found)
        yield {ground.folder.task.id: ground for ground in found}


def _start_judge(grounds: list[AttackGround]) -> None:
    """Ask it something, so that it is there before an attack is: nobody takes it for one's descendant."""
    site = AssertionSite(0, "", 1, SiteMode.WITHHELD, "sorted(_0) == []")
    for ground in grounds:
        if ground.target.language == "python":
            language = ground.bench.oracle.language(ground.folder)
            assert language.decide([DecisionQuestion(site, [["list"]])], "") == ["holds"]
