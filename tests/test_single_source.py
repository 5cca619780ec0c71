"""One tool for each job: what only its home may hold. Homes and exceptions stand in tests/house."""

from __future__ import annotations

import tomllib

import pytest

from house_lists import HOUSE, assert_only, house_tree

JOBS = tomllib.loads((HOUSE / "single_source.toml").read_text("utf-8"))


@pytest.mark.parametrize("job", JOBS)
def test_only_its_home_holds_it(job: str) -> None:
    rule = JOBS[job]
    found = [path for path in house_tree().matching(lambda source: rule["text"] in source) if path not in rule["home"]]
    assert_only(
        f"outside_{job}.txt", found, f"{rule['text']} belongs to {' or '.join(rule['home'])}: {rule['instead']}"
    )
