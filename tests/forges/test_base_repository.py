"""What a clone adds: files before a change, where they agree with it, and commits that revert."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from repoassay.cli.main import cli
from repoassay.errors import BadInput
from repoassay.forges.base_repository import landed_commits, lay_files_before, opened_clone
from repoassay.forges.pull import ForgePull
from repoassay.review import items_of, open_database

PATCH = "@@ -2,2 +2,2 @@\n two\n-three\n+THREE"


@pytest.fixture(name="clone")
def _clone(tmp_path: Path) -> Path:
    """A repository with one change of `a.txt`, and a commit that takes it back."""
    place = tmp_path / "clone"
    place.mkdir()
    for message, text in (
        ("Begin", "one\ntwo\nthree\nfour\n"), ("Shout", "one\ntwo\nTHREE\nfour\n"), ("Back", "one\ntwo\nthree\nfour\n"),
    ):  # fmt: skip
        (place / "a.txt").write_text(text)
        body = f"\n\nThis reverts commit {git(place, 'rev-parse', 'HEAD')}." if message == "Back" else ""
        if message == "Begin":
            git(place, "init", "--quiet")
        git(place, "add", ".")
        git(place, "-c", "user.name=A", "-c", "user.email=a@b.example", "commit", "--quiet", "-m", message + body)
    return place


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(place), *words], check=True, capture_output=True, text=True).stdout.strip()


def taken(clone: Path, **more: Any) -> Any:
    base, head = git(clone, "rev-parse", "HEAD~2", "HEAD~1").split()
    pull = {
        "number": 1, "html_url": "https://github.com/acme/shop/pull/1", "title": "Shout", "base": {"sha": base},
        "head": {"sha": "f" * 40}, "merge_commit_sha": head, "merged_at": "2001-01-01T00:00:00Z",
        "files": [{"filename": "a.txt", "status": "modified", "patch": PATCH}],
    } | more  # fmt: skip
    source, database = clone.with_name("pulls.json"), clone.with_name("r.sqlite")
    source.write_text(json.dumps([pull]))
    words = ["review", "import-pr", source, "--study", "st", "--database", database, "--repo", clone]
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return items_of(open_database(database), "st")[0]


def test_a_file_before_the_change_is_kept_and_a_commit_reverts_it(clone: Path) -> None:
    item = taken(clone)
    (version,) = item.payload.versions
    (blob,) = clone.parent.glob(f"r.sqlite.files/**/{version.before}*")
    assert blob.read_text() == "one\ntwo\nthree\nfour\n"
    forge = item.hidden.evidence["forge"]
    assert forge["reverted"] and git(clone, "rev-parse", "HEAD").startswith(forge["reverted_by"])


def test_what_does_not_agree_with_the_diff_is_left_out(clone: Path) -> None:
    files = [{"filename": "a.txt", "status": "modified", "patch": PATCH.replace(" two", " other")}]
    assert [version.before for version in taken(clone, files=files).payload.versions] == [None]


def test_hostile_commits_and_paths_are_only_looked_for(clone: Path) -> None:
    files = [{"filename": name, "status": "modified", "patch": PATCH} for name in ("a.txt", "a.txt/b", "b c.txt", "-x")]
    item = taken(clone, files=files, base={"sha": "0" * 40}, merge_commit_sha="abcdef1")
    assert [version.before for version in item.payload.versions] == [None] * 4


def test_a_folder_that_is_no_repository_is_one_sentence(clone: Path, tmp_path: Path) -> None:
    words = ["review", "import-pr", clone.with_name("pulls.json"), "--study", "s", "--database", tmp_path / "n.sqlite"]
    taken(clone)
    with pytest.raises(BadInput, match="is no git repository"):
        CliRunner().invoke(cli, [str(w) for w in [*words, "--repo", "/proc"]], catch_exceptions=False)


def test_a_path_that_leads_away_writes_nothing_and_spoils_nothing(clone: Path, tmp_path: Path) -> None:
    base = git(clone, "rev-parse", "HEAD~2")
    below, into = clone / "below", tmp_path / "into"
    below.mkdir()
    into.mkdir()
    names = ("../a.txt", "./a.txt", "/a.txt", ".git/config", "x//a.txt", "a.txt")
    diff = "".join(f"diff --git a/{n} b/{n}\n--- a/{n}\n+++ b/{n}\n{PATCH}\n" for n in names)
    pull = ForgePull(forge="github", repository="acme/shop", number=1, base=base, diff=diff)
    # A folder within a clone is one, too, and git reads `../` from there.
    for place in (below, clone):
        with opened_clone(place) as ours:
            assert lay_files_before(ours, pull, into) == 1
    assert [path.name for path in into.iterdir()] == ["a.txt"] and not (tmp_path / "a.txt").exists()


def test_what_a_clone_configures_is_not_run(clone: Path, tmp_path: Path) -> None:
    """Git would check a signature by the clone's program, and fetch what is absent by the clone's command."""
    ran, program, blob = tmp_path / "ran", tmp_path / "program", git(clone, "rev-parse", "HEAD~2:a.txt")
    program.write_text(f"#!/bin/sh\necho {program.name} >> '{ran}'\nexit 1\n")
    program.chmod(0o755)
    signed = git(clone, "cat-file", "commit", "HEAD").replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n\n", 1)
    words = ["git", "-C", str(clone), "hash-object", "-t", "commit", "-w", "--stdin"]
    newest = subprocess.run(words, check=True, input=f"{signed}\n", capture_output=True, text=True).stdout.strip()
    git(clone, "reset", "--quiet", "--hard", newest)
    (clone / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "log.showSignature": "true", "gpg.program": str(program), "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin", "remote.origin.url": str(tmp_path), "remote.origin.promisor": "true",
        "remote.origin.uploadPack": str(program),
    }.items():  # fmt: skip
        git(clone, "config", name, value)
    base, reverted = git(clone, "rev-parse", "HEAD~2", "HEAD~1").split()
    diff = f"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n{PATCH}\n"
    pull = ForgePull(forge="github", repository="acme/shop", number=1, base=base, merge=reverted, diff=diff)
    with opened_clone(clone) as ours:
        assert [commit.sha for commit in landed_commits(ours)] == [newest]
        assert lay_files_before(ours, pull, tmp_path / "into") == 0
    assert not ran.exists()
    assert landed_commits(clone) and lay_files_before(clone, pull, tmp_path / "into") == 0 and ran.exists()
