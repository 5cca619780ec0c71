"""Pull requests in from an export and out as reviews, through the command line and a real database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from repoassay.cli.main import cli
from repoassay.forges import read_export
from repoassay.forges.pull_items import author_kind
from repoassay.review import add_comment, add_rater, items_of, open_database, open_item, payload_of, submit
from repoassay.types import Anchor
from review.samples import NOW, answers, later

PATCH = "@@ -1,2 +1,3 @@\n import os\n-x = 1\n+x = 2\n+y = 3"


def pull(number: int, **more: Any) -> dict[str, Any]:
    """A pull request as GitHub's REST API has it."""
    return {
        "number": number,
        "html_url": f"https://github.com/acme/shop/pull/{number}",
        "title": f"Repair the till {number}",
        "body": "Closes #3\n\nCo-authored-by: Zoe Quark <zoe@acme.example>",
        "user": {"login": "zoe-quark", "type": "User"},
        "head": {"ref": "zoe-quark/till", "sha": "ab" * 20},
        "base": {"ref": "main", "sha": "cd" * 20},
        "created_at": "2026-01-01T00:00:00Z",
        "merged_at": "2026-01-02T12:00:00Z",
        "files": [{"filename": "till.py", "status": "modified", "patch": PATCH}],
        "commits": 2,
    } | more


def export(folder: Path, *pulls: Any) -> Path:
    """Write an export with an issue."""
    place = folder / "pulls.json"
    place.write_text(json.dumps({"pulls": pulls, "issues": [{"number": 3, "title": "The till is broken"}]}))
    return place


def call(*words: object) -> Any:
    return CliRunner().invoke(cli, ["review", *map(str, words)], catch_exceptions=False)


def test_twelve_go_in_blinded_are_reviewed_and_come_out_as_reviews(tmp_path: Path) -> None:
    place = tmp_path / "reviews.sqlite"
    source = export(tmp_path, *(pull(number) for number in range(1, 13)))
    done = call("import-pr", source, "--study", "st", "--database", place)
    assert done.exit_code == 0 and "12 pull requests; 0 were passed over" in done.output
    database = open_database(place)
    items = items_of(database, "st")
    for item in items:
        shown = payload_of(database, "st", item.id).model_dump_json().lower()
        assert "zoe" not in shown and "the till is broken" in shown
        assert item.hidden.evidence["forge"]["hours_to_merge"] == 36
    rater = add_rater(database, "st", "ana", at=NOW).rater
    for item in items:
        open_item(database, rater, item.id, NOW)
        add_comment(database, rater, item.id, Anchor(path="till.py", line=2, end_line=3), "Why three?", now=NOW)
        add_comment(database, rater, item.id, Anchor(path="till.py", line=90, end_line=90), "Not here.", now=NOW)
        submit(database, rater, item.id, answers(), key=f"key-{item.id}", now=later(60))
    database.close()
    out = tmp_path / "out.jsonl"
    assert call("export-pr", "st", "--database", place, "--out", out).exit_code == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(line["number"] for line in lines) == list(range(1, 13))
    review = lines[0]["review"]
    assert lines[0]["repository"] == "acme/shop" and review["event"] == "REQUEST_CHANGES"
    assert review["comments"] == [
        {
            "path": "till.py", "body": "Why three?", "line": 3, "side": "RIGHT", "start_line": 2,
            "start_side": "RIGHT",
        }
    ]  # fmt: skip
    assert "Not here." in review["body"] and "30" in review["body"]


def test_a_bad_one_is_refused_by_name_and_the_others_go_in(tmp_path: Path) -> None:
    bad = [
        pull(2, title=["x"]),
        pull(3, files=[{"filename": "../up.py", "patch": PATCH}]),
        pull(4, files=[{"filename": "a.py", "patch": PATCH + "\ndiff --git a/evil b/evil"}]),
        pull(5, merged_at="2025-01-01T00:00:00Z"),
        pull(6, files=[{"filename": "a\x1b[2J.py", "patch": PATCH}]),
        {"title": "no number"},
        7,
    ]
    found = read_export(export(tmp_path, pull(1), *bad))
    assert [each.number for each in found.pulls] == [1]
    assert len(found.problems) == len(bad)
    text = "\n".join(found.problems)
    for said in (
        "pull request 2: `title` is a list",
        "`files[0].filename`",
        "`files[0].patch`",
        "`merged_at` is before",
    ):
        assert said in text, text
    assert "\x1b" not in text


def test_a_merge_request_of_gitlab_is_read(tmp_path: Path) -> None:
    request = {
        "iid": 9, "web_url": "https://gitlab.com/acme/tools/shop/-/merge_requests/9", "title": "Till",
        "description": "Text", "state": "merged", "source_branch": "till", "author": {"username": "zoe"},
        "diff_refs": {"base_sha": "a" * 40, "head_sha": "b" * 40, "start_sha": "c" * 40},
        "changes": [{"old_path": "a.py", "new_path": "b.py", "renamed_file": True, "diff": PATCH}],
    }  # fmt: skip
    (found,) = read_export(export(tmp_path, request)).pulls
    assert found.name == "acme/tools/shop!9" and found.was_merged and found.files == ("b.py",)
    assert "rename from a.py" in found.diff and found.start == "c" * 40


def test_an_author_is_told_by_stated_rules_with_what_shows_it(tmp_path: Path) -> None:
    credited = "Fix\n\nGenerated with [Claude Code](https://claude.example)\n\nCo-Authored-By: Claude <x@y.example>"
    given = [
        pull(1), pull(2, user={"login": "dependabot[bot]", "type": "Bot"}), pull(3, body=credited), pull(4, user="zoe"),
        pull(5, head={"ref": "codex/till"}), pull(6, user={"login": "openhands-agent", "type": "User"}),
    ]  # fmt: skip
    found = {each.number: author_kind(each) for each in read_export(export(tmp_path, *given)).pulls}
    assert [found[number][0] for number in range(1, 7)] == ["person", "app", "agent", "", "agent", "agent"]
    assert any(each.startswith("trailer: Claude") for each in found[3][1])
    assert found[5][1] == ("branch: codex",)
