"""Selection over folders, archives and git, with evidence that says where each value is from."""

from __future__ import annotations

import tarfile
import tomllib
from pathlib import Path

import pytest

from curate.making import TODAY, make_package, make_pool
from repoassay.curate import find_candidates, open_pooled, parse_rule, select_repositories
from repoassay.errors import BadInput
from repoassay.workspace import run_git


def test_each_rule_is_written_with_its_value_and_source(tmp_path: Path) -> None:
    make_package(tmp_path / "candidates" / "tally")
    rules = [parse_rule(each) for each in ("licence in [MIT]", "readme.commands >= 1", "stars >= 50")]
    found = select_repositories(
        find_candidates(tmp_path / "candidates"), rules, tmp_path / "pool", today=TODAY, suites={}
    )
    assert [(each.chosen, each.why) for each in found] == [(False, "stars >= 50: unknown")]
    told = tomllib.loads((tmp_path / "pool/tally/selection.toml").read_text())
    assert [(each["value"], each["holds"], each["source"]) for each in told["rule"]] == [
        ("MIT", True, "LICENSE"),
        (1, True, "README.md"),
        ("unknown", "unknown", "no metadata file says its stars"),
    ]
    assert not (tmp_path / "pool/tally/repository").exists()
    with pytest.raises(BadInput, match="holds no tree"):
        open_pooled(tmp_path / "pool/tally")


def test_what_was_looked_at_is_kept_until_something_changes(tmp_path: Path) -> None:
    make_pool(tmp_path)
    candidates = find_candidates(tmp_path / "candidates", tmp_path / "facts.toml")
    rules = [parse_rule("language = python")]
    again = select_repositories(candidates, rules, tmp_path / "pool", today=TODAY, suites={})
    assert again[0].kept
    other = select_repositories(candidates, [parse_rule("stars >= 71")], tmp_path / "pool", today=TODAY, suites={})
    assert (other[0].kept, other[0].why) == (False, "stars >= 71: does not hold")


def test_a_changed_tree_is_refused(tmp_path: Path) -> None:
    pooled = make_pool(tmp_path)
    (pooled / "repository/tally/tally.py").write_text("count = len\n")
    with pytest.raises(BadInput, match="is not the one that was selected"):
        open_pooled(pooled)


def test_a_source_distribution_and_a_repository(tmp_path: Path) -> None:
    make_package(tmp_path / "made/tally-1.0")
    (tmp_path / "made/tally-1.0/PKG-INFO").write_text("Name: tally\nVersion: 1.0\n\nText\n")
    with tarfile.open(tmp_path / "tally-1.0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "made/tally-1.0", "tally-1.0")
    make_package(tmp_path / "history")
    run_git(tmp_path / "history", "init", "--quiet")
    run_git(tmp_path / "history", "add", ".")
    run_git(tmp_path / "history", "commit", "--quiet", "--message=First")
    (tmp_path / "list.txt").write_text("# candidates\ntally-1.0.tar.gz\nhistory\n")
    (tmp_path / "facts.toml").write_text("[tally]\nuploaded = 2026-05-01\n")
    found = select_repositories(
        find_candidates(tmp_path / "list.txt", tmp_path / "facts.toml"), [parse_rule("last_commit within 90y")],
        tmp_path / "pool", today=TODAY, suites={},
    )  # fmt: skip
    assert [(each.name, each.chosen) for each in found] == [("tally", True), ("history", True)]
    sdist, history = (open_pooled(each.folder).source for each in found)
    assert (sdist["kind"], sdist["package"], sdist["version"], sdist["day"]) == ("sdist", "tally", "1.0", "2026-05-01")
    assert (history["kind"], len(history["pin"])) == ("git", 40)


def test_a_suite_that_has_it_counts_as_overlap(tmp_path: Path) -> None:
    make_package(tmp_path / "candidates" / "tally")
    rule = parse_rule("overlap with published suites = none")
    found = select_repositories(
        find_candidates(tmp_path / "candidates"), [rule], tmp_path / "pool", today=TODAY, suites={"old": ["Tally"]}
    )
    assert not found[0].chosen


def test_a_folder_without_candidates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no candidates"):
        find_candidates(tmp_path)
