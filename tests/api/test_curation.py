"""Curation in one call: each candidate as far as it gets, and nothing done twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from curate.making import TODAY, make_draft, make_package
from repoassay.api import CuratedRepository, curate_repositories


@pytest.mark.exhaustive
def test_candidates_become_tasks_or_say_where_they_stopped(tmp_path: Path) -> None:
    for name in ("tally", "other", "none"):
        make_package(tmp_path / "candidates" / name)
    (tmp_path / "candidates/none/LICENSE").unlink()
    (tmp_path / "facts.toml").write_text(
        "".join(f'[{name}]\nuploaded = "2026-05-01"\nsource = "made up"\n' for name in ("tally", "other", "none"))
    )
    (tmp_path / "rules.toml").write_text('rules = ["licence in [MIT]"]\n')
    make_draft(tmp_path / "drafts/tally")

    def again() -> dict[str, CuratedRepository]:
        found = curate_repositories(
            tmp_path / "candidates", pool=tmp_path / "pool", suite=tmp_path / "suite", drafts=tmp_path / "drafts",
            rules=tmp_path / "rules.toml", metadata=tmp_path / "facts.toml", day=TODAY, times=1, proofs=1,
        )  # fmt: skip
        return {each.name: each for each in found}

    first = again()
    assert {name: each.stage for name, each in first.items()} == {"tally": "", "other": "draft", "none": "select"}
    assert first["tally"].admitted
    assert first["tally"].task == "tally-words"
    assert "there is no draft" in first["other"].why
    assert again() == first
