"""What became of pull requests, told by what forges and git write into reverts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forges.recording import made
from repoassay.cli.main import cli
from repoassay.forges import LandedCommit, PullOutcome, outcomes_of_pulls, read_objects

SHA = f"{102:039x}f"
"""The commit by which number 102 was merged, on 2026-02-02 at 18:30."""


def became(*more: dict[str, Any], commits: tuple[LandedCommit, ...] = ()) -> dict[int, PullOutcome]:
    """Outcomes of the recording with further pull requests."""
    pulls = read_objects([*made(), *more]).pulls
    return {number: outcome for (_, number), outcome in outcomes_of_pulls(pulls, commits).items()}


def revert(number: int = 200, day: int = 20, **more: Any) -> dict[str, Any]:
    """A pull request that was merged on that day of February."""
    given = {"number": number, "html_url": f"https://github.com/acme/shop/pull/{number}", "title": "x", "body": ""}
    return given | {"created_at": f"2026-02-{day}T00:00:00Z", "merged_at": f"2026-02-{day}T18:30:00Z"} | more


@pytest.mark.parametrize("more", [
    {"body": f"This reverts commit {SHA}."},
    {"body": f"This reverts commits {'7' * 40} and {SHA}."},
    {"title": 'Revert "Change 2 of the shop (#102)"'},
    {"title": 'Revert "Change 2 of the shop"'},
    {"body": "Reverts acme/shop#102"},
    {"body": "Reverts #102"},
    {"body": "This reverts merge request !102"},
    {"commits": [{"sha": "9" * 40, "commit": {"message": f"Back\n\nThis reverts commit {SHA}."}}]},
])  # fmt: skip
def test_a_revert_is_found_by_what_forges_write(more: dict[str, Any]) -> None:
    found = became(revert(**more))
    assert [number for number, outcome in found.items() if outcome.reverted] == [102]
    assert found[102].reverted_by == "acme/shop#200" and found[102].hours_to_revert == 18 * 24


@pytest.mark.parametrize("more", [
    {"body": "Reverts other/shop#102"}, {"body": "We may revert #102 later."}, {"title": 'Revert "Something else"'},
    {"body": f"This reverts commit {SHA}.", "merged_at": None}, {"title": "Revert the colour of the shop"},
    {"body": f"This reverts commit {SHA}.", "created_at": "2026-01-01T00:00:00Z", "merged_at": "2026-02-01T00:00:00Z"},
])  # fmt: skip
def test_what_is_no_revert_of_it_is_none(more: dict[str, Any]) -> None:
    assert not any(outcome.reverted for outcome in became(revert(**more)).values())


def test_a_revert_that_was_reverted_does_not_count_and_a_commit_does() -> None:
    again = revert(201, 22, title='Revert "Revert "Change 2 of the shop""', body="Reverts acme/shop#200")
    found = became(revert(body="Reverts acme/shop#102"), again)
    assert not found[102].reverted and found[200].reverted
    commit = LandedCommit("8" * 40, f"Back\n\nThis reverts commit {SHA}.", datetime(2026, 2, 3, 18, 30, tzinfo=UTC))
    assert became(commits=(commit,))[102] == PullOutcome(True, 12, True, 24, "8" * 12, {"code": 1, "test": 1})


@pytest.mark.timeout(30)
def test_a_repository_with_ten_thousand_reverts_takes_no_time() -> None:
    at = datetime(2026, 2, 3, 18, 30, tzinfo=UTC)
    many = [
        LandedCommit(f"{n:07x}{0:033x}", f"Back\n\nThis reverts commit {n + 10**6:07x}.", at) for n in range(10_000)
    ]
    commit = LandedCommit("8" * 40, f"Back\n\nThis reverts commit {SHA[:7]}.", at)
    assert became(commits=(*many, commit))[102].reverted_by == "8" * 12


def test_outcomes_are_written_with_the_names_of_items(tmp_path: Path) -> None:
    source, database, out = (tmp_path / name for name in ("pulls.json", "r.sqlite", "outcomes.jsonl"))
    source.write_text(json.dumps([*made(), revert(body="Reverts acme/shop#102")]))
    for words in (["import-pr", source, "--study", "st"], ["export-pr", "st", "--outcomes", out]):
        done = CliRunner().invoke(cli, ["review", *map(str, words), "--database", str(database)])
        assert done.exit_code == 0, done.output
    lines = {each["number"]: each for each in map(json.loads, out.read_text().splitlines())}
    assert len(lines) == 12 and lines[102]["reverted_by"] == "acme/shop#200" and lines[101]["hours_to_merge"] == 12
    assert lines[104]["merged"] is False and lines[104]["author_kind"] == "agent" and lines[110]["files"] == {
        "code": 1, "docs": 1
    }  # fmt: skip
