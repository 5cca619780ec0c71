"""Twelve pull requests in, reviewed by people, and out as what GitHub's and GitLab's requests accept."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner
from unidiff.patch import PatchSet

from forges.recording import as_gitlab, made, needs_click, of_click
from repoassay.cli.main import cli
from repoassay.diffs import read
from repoassay.forges import read_export
from repoassay.review import add_comment, add_rater, items_of, open_database, open_item, submit
from repoassay.types import Anchor
from review.samples import NOW, answers, later

_SCHEMAS = Path(__file__).with_name("schemas")

Place = tuple[int, str, int | None, int | None]
Lines = dict[tuple[str, str, int | None], Place]


@pytest.mark.parametrize("forge", ["github", "gitlab"])
@pytest.mark.parametrize("source", ["made", pytest.param("click", marks=(needs_click, pytest.mark.exhaustive))])
@pytest.mark.long
def test_twelve_in_reviewed_and_out_as_the_forge_accepts(tmp_path: Path, source: str, forge: str) -> None:
    pulls = made() if source == "made" else of_click(tmp_path)
    export = tmp_path / "pulls.json"
    export.write_text(json.dumps([as_gitlab(pull) for pull in pulls] if forge == "gitlab" else pulls))
    diffs = {pull.number: pull for pull in read_export(export).pulls}
    place, out = tmp_path / "reviews.sqlite", tmp_path / "out.jsonl"
    done = _call("import-pr", export, "--study", "st", "--database", place)
    assert done.exit_code == 0 and "12 pull requests; 0 were passed over" in done.output, done.output
    given = _review(place)
    assert _call("export-pr", "st", "--database", place, "--out", out).exit_code == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(line["number"] for line in lines) == sorted(pull["number"] for pull in pulls)
    check = _check_github if forge == "github" else _check_gitlab
    assert sum(check(line, _lines(diffs[line["number"]].diff)) for line in lines) == given
    assert _call("export-pr", "st", "--database", place, "--out", out, "--comment-only").exit_code == 0
    for line in map(json.loads, out.read_text().splitlines()):
        assert "approval" not in line and line.get("review", {}).get("event", "COMMENT") == "COMMENT"


@needs_click
@pytest.mark.exhaustive
def test_context_of_a_clone_expands_and_is_the_changes_own(tmp_path: Path) -> None:
    pulls = of_click(tmp_path)
    export, place = tmp_path / "pulls.json", tmp_path / "r.sqlite"
    export.write_text(json.dumps(pulls))
    done = _call("import-pr", export, "--study", "st", "--database", place, "--repo", tmp_path / "click.git")
    assert done.exit_code == 0, done.output
    kept = 0
    for item in items_of(open_database(place), "st"):
        files = {file.path: file for file in read(item.payload.diff)}
        for version in item.payload.versions:
            if version.before is None:
                assert files[version.path].old is None
                continue
            (blob,) = tmp_path.glob(f"r.sqlite.files/**/{version.before}*")
            lines = blob.read_text("utf-8").split("\n")
            shown = [row for row in files[version.path].rows if row.old and row.sign in {" ", "-"}]
            assert shown and all(lines[row.old - 1] == row.text for row in shown if row.old)
            kept += 1
    assert kept > 12


def _call(*words: object) -> Any:
    return CliRunner().invoke(cli, ["review", *map(str, words)], catch_exceptions=False)


def _review(place: Path) -> int:
    """Have two people comment on the first, the last and several lines of every hunk, and return how many comments."""
    database = open_database(place)
    count = 0
    for name, merge in (("ana", True), ("bo", False)):
        rater = add_rater(database, "st", name, at=NOW).rater
        for item in items_of(database, "st"):
            open_item(database, rater, item.id, NOW)
            for file in read(item.payload.diff):
                for hunk in range(min(file.hunks, 2)):
                    for side in ("old", "new"):
                        rows = [row for row in file.rows if row.hunk == hunk and row.sign in {" ", "+", "-"}]
                        at = [number for row in rows if (number := row.old if side == "old" else row.new)]
                        for first, last in {(at[0], at[0]), (at[0], at[-1])} if at else ():
                            where = Anchor(path=file.path, side=side, line=first, end_line=last)
                            add_comment(database, rater, item.id, where, "Why, @everyone?\n/merge", now=NOW)
                            count += 1
            submit(database, rater, item.id, answers(would_merge=merge), key=f"{name}-{item.id}", now=later(60))
    database.close()
    return count


def _lines(diff: str) -> Lines:
    """Hunk, sign and both numbers of each line by path, side and number, by another reader than the package's."""
    found: Lines = {}
    hunk = 0
    for file in PatchSet(io.StringIO(diff)):
        for part in file:
            hunk += 1
            for line in part:
                place = (hunk, line.line_type, line.source_line_no, line.target_line_no)
                if not line.is_added:
                    found[file.path, "old", line.source_line_no] = place
                if not line.is_removed:
                    found[file.path, "new", line.target_line_no] = place
    return found


def _validator(name: str) -> Callable[[object], None]:
    return jsonschema_rs.Draft202012Validator(json.loads((_SCHEMAS / name).read_text())).validate


def _check_github(line: Mapping[str, Any], known: Lines) -> int:
    """Hold a request against the schema and each comment's place against the diff, and return how many there are."""
    review = line["review"]
    _validator("github-create-review.json")(review)
    assert review["event"] == "COMMENT"  # one for, one against
    for comment in review["comments"]:
        side = "old" if comment["side"] == "LEFT" else "new"
        ends = [
            known[comment["path"], side, at] for at in (comment.get("start_line", comment["line"]), comment["line"])
        ]
        assert ends[0][0] == ends[1][0], "the lines of a comment are of one hunk"
        assert comment.get("start_line", 0) < comment["line"]
        assert "`@everyone`" in comment["body"] and "\n\\/merge" in comment["body"]
    return len(review["comments"])


def _check_gitlab(line: Mapping[str, Any], known: Lines) -> int:
    review = {key: value for key, value in line.items() if key not in {"forge", "repository", "number"}}
    _validator("gitlab-review.json")(review)
    assert line["forge"] == "gitlab" and "approval" not in review
    for thread in review["discussions"]:
        at = thread["position"]
        for numbers in (at, *(at["line_range"][end] for end in ("start", "end") if "line_range" in at)):
            side = "new" if "new_line" in numbers else "old"
            _, sign, old, new = known[at["new_path"], side, numbers[f"{side}_line"]]
            wanted = {"+": {"new_line": new}, "-": {"old_line": old}, " ": {"old_line": old, "new_line": new}}[sign]
            assert {key: numbers[key] for key in ("old_line", "new_line") if key in numbers} == wanted
            if numbers is not at:
                digest, before, after = numbers["line_code"].split("_")
                assert digest == hashlib.sha1(at["new_path"].encode()).hexdigest()
                assert int(before) == (old if old is not None else int(before))
                assert int(after) == (new if new is not None else int(after))
    return len(review["discussions"])
