"""A change under review becomes a branch: no history, no way out of the folder, and no program of it runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from repoassay.cli.review_checkout import checkout_item
from repoassay.engine.item_branch import branch_of_item, write_branch
from repoassay.errors import BadInput
from repoassay.review import HiddenPart, Item, ItemPayload, Study, create_study, open_database, read_rubric
from repoassay.sandbox import Cache
from repoassay.tasks import find_suite
from review.samples import NOW

TASK = "edit-ledger-elided-amount"
NEW = "diff --git a/{0} b/{0}\nnew file mode {1}\n--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+{2}\n"
HOSTILE = {
    "a path upward": NEW.format("../out", "100644", "x"),
    "an absolute path": "--- /dev/null\n+++ /tmp/out\n@@ -0,0 +1 @@\n+x\n",
    "a hook": NEW.format(".git/hooks/post-checkout", "100755", "touch ran"),
    "a hook in capitals": NEW.format(".GIT/hooks/post-checkout", "100755", "touch ran"),
    "a hook by a short name": NEW.format("git~1/hooks/post-checkout", "100755", "touch ran"),
    "a nested .git": NEW.format("src/.git/config", "100644", "[core]"),
    "a link out": NEW.format("link", "120000", "/etc") + "\\ No newline at end of file\n",
    "a submodule": NEW.format("sub", "160000", "Subproject commit " + "a" * 40),
    "a bare repository": "".join(
        NEW.format(f"bare/{name}", "100644", text)
        for name, text in (
            ("HEAD", "ref: refs/heads/main"), ("config", "[core] fsmonitor = touch ran"), ("objects/x", "x"),
            ("refs/x", "x"),
        )
    ),
    "a bare repository elsewhere": NEW.format("w/head", "100644", "ref: refs/heads/main")
    + NEW.format("w/commondir", "100644", "../src"),
}  # fmt: skip


def git(folder: Path, *arguments: str) -> str:
    """Run the user's git in a folder, without his configuration."""
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *arguments], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def diff() -> str:
    return (find_suite("starter", only=[TASK]).tasks[0].path / "solution" / "changes.diff").read_text()


def made(diff: str, into: Path) -> Path:
    """Check a change out."""
    suite = find_suite("starter", only=[TASK])
    write_branch(branch_of_item(suite.tasks[0], suite.repositories, diff, Cache()), into)
    return into


def test_a_branch_has_two_commits_and_no_more_to_find(tmp_path: Path, diff: str) -> None:
    folder = made(diff, tmp_path / "item")
    assert git(folder, "log", "--format=%s %an").splitlines() == [
        "The change under review RepoAssay", "Base of the task RepoAssay",
    ]  # fmt: skip
    assert git(folder, "status", "--porcelain") == "" and git(folder, "branch", "--show-current").strip() == "change"
    kinds = git(folder, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert kinds.count("commit") == 2 and "tag" not in kinds
    assert not (folder / ".git/logs").exists() and not (folder / ".git/objects/info/alternates").exists()
    assert "One posting may leave out its amount" in git(folder, "diff", "main")
    hidden = find_suite("starter", only=[TASK]).tasks[0].path / "tests"
    there = {path.name for path in folder.rglob("*") if ".git" not in path.parts}
    assert there.isdisjoint({path.name for path in hidden.rglob("test_*.py")})
    with pytest.raises(BadInput, match="is there already"):
        made(diff, folder)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_changes_write_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="change of this item"):
        made(HOSTILE[name], tmp_path / "item")
    assert list(tmp_path.iterdir()) == []


def test_attributes_filters_and_modules_of_a_change_do_nothing(tmp_path: Path) -> None:
    lines = {
        ".gitattributes": "* filter=evil diff=evil merge=evil text eol=crlf",
        ".gitmodules": '[submodule "a"]',
        ".gitconfig": "[core] hooksPath = .",
        "post-checkout": "touch ran",
        "ran.txt": "$Id$",
    }
    diff = "".join(
        NEW.format(name, "100755" if name == "post-checkout" else "100644", text) for name, text in lines.items()
    )
    folder = made(diff, tmp_path / "item")
    git(folder, "-c", "filter.evil.clean=touch ran; cat", "-c", "filter.evil.smudge=touch ran; cat",
        "-c", "diff.evil.command=touch ran", "checkout", "--quiet", "main")  # fmt: skip
    git(folder, "-c", "filter.evil.smudge=touch ran; cat", "checkout", "--quiet", "change")
    assert (folder / "ran.txt").read_text() == "$Id$\n"
    assert not list(tmp_path.rglob("ran"))


@pytest.fixture
def database(tmp_path: Path, diff: str) -> Path:
    """A study of one item, as an agent's change."""
    rubric, place = read_rubric("mergeable"), tmp_path / "reviews.sqlite"
    hidden = HiddenPart(task=TASK, system="secret-agent", agent="secret-agent", origin="starter", tests=True)
    item = Item(id="sabc", payload=ItemPayload(title="Amounts", diff=diff), hidden=hidden)
    opened = open_database(place)
    create_study(opened, Study(name="st", rubric=rubric.digest), rubric, [item], at=NOW)
    opened.close()
    return place


def test_tests_and_lines_run_in_the_sandbox_alone(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    common = ["sabc", "--database", str(database)]
    run = CliRunner()
    done = run.invoke(checkout_item, [*common, "--into", "item"], catch_exceptions=False)
    assert done.exit_code == 0 and "secret" not in done.output and TASK not in done.output
    tested = run.invoke(checkout_item, [*common, "--test"], catch_exceptions=False)
    assert tested.exit_code == 0 and " passed" in tested.output, tested.output
    one = run.invoke(checkout_item, [*common, "--test", "--", "sh", "-c", "echo '\x1b[31m'; exit 3"])
    assert one.exit_code == 3 and "\x1b" not in one.output
    lines = f"cd src\npwd\ntouch {tmp_path}/ran\nid -un; ls {database}; ls /workspace\nexit\n"
    typed = run.invoke(checkout_item, [*common, "--shell"], input=lines, catch_exceptions=False)
    assert "/workspace/repo/src" in typed.output and "instruction.md" in typed.output
    assert not (tmp_path / "ran").exists() and "No such file" in typed.output
    assert "secret" not in typed.output + tested.output


def test_what_cannot_be_checked_out_says_why(tmp_path: Path, database: Path) -> None:
    run = CliRunner()
    for arguments, said in (
        (["other", "--database", str(database)], "no study has it"),
        (["sabc", "--database", str(database), "--suite", str(tmp_path)], "is not on this machine"),
        (["sabc", "--database", str(database), "ls"], "--test"),
    ):
        done = run.invoke(checkout_item, arguments)
        assert isinstance(done.exception, BadInput) and said in str(done.exception)
        assert "secret" not in str(done.exception)
