"""One commit, no past, no way to the future; hostile repositories are data."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import SANDBOX_UID, Cache
from repoassay.tasks import TaskFolder
from repoassay.types import Task, TaskKind
from repoassay.workspace.checkouts import check_no_history, checkout
from repoassay.workspace.git import run_git


def a_task(path: Path, source: str, revision: str | None = None) -> TaskFolder:
    task = Task.model_validate(
        {
            "id": "some-task",
            "title": "A task",
            "kind": TaskKind.EDIT,
            "domain": "tests",
            "repository": {"source": source, "revision": revision, "licence": "MIT"},
            "grading": {"tests": {"fail_to_pass": ["test_x.py::test"]}},
        }
    )
    return TaskFolder(path=path, task=task, instruction="Do it.", digest="0" * 64)


def git(folder: Path, *arguments: str) -> str:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A repository with a past, a future on the main branch, another branch, tags, notes and a stash."""
    top = tmp_path / "upstream"
    top.mkdir()
    git(top, "init", "-q")
    for number, text in enumerate(("the past", "the base", "the future: solution 7f3a")):
        (top / "file.txt").write_text(text + "\n")
        (top / f"file{number}.txt").write_text(text + "\n")
        git(top, "add", "--all")
        git(top, "commit", "-qm", text)
        git(top, "tag", "-a", f"v{number}", "-m", text)
    git(top, "notes", "add", "-m", "noted: solution 7f3a")
    git(top, "checkout", "-qb", "other", "v0")
    (top / "file.txt").write_text("stashed: solution 7f3a\n")
    git(top, "stash")
    git(top, "checkout", "-q", "main")
    return top


def ours(tree: Path, *arguments: str) -> bytes:
    """Run git in a checkout, whoever owns it."""
    return run_git(tree, *arguments, env={"GIT_DIR": str(tree / ".git"), "GIT_WORK_TREE": str(tree)})


def objects(tree: Path) -> dict[str, bytes]:
    """Every object of a repository by id, reachable or not."""
    names = ours(tree, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").decode().split()
    return {name: ours(tree, "cat-file", "-p", name) for name in names}


def assert_one_commit(tree: Path) -> None:
    kinds = ours(tree, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert kinds.count(b"commit") == 1
    assert ours(tree, "rev-list", "--all", "--count").strip() == b"1"
    assert ours(tree, "remote").strip() == b""
    assert ours(tree, "tag").strip() == b""
    assert ours(tree, "status", "--porcelain", "--ignored").strip() == b""
    for name in (
        "logs",
        "FETCH_HEAD",
        "ORIG_HEAD",
        "packed-refs",
        "shallow",
        "objects/info/alternates",
        "hooks",
        "modules",
    ):
        assert not (tree / ".git" / name).exists()


def test_a_commit_of_a_repository_with_history_brings_nothing_else(
    upstream: Path, tmp_path: Path, cache: Cache
) -> None:
    revision = git(upstream, "rev-parse", "v1^{commit}")
    assert "solution 7f3a" in git(upstream, "log", "--all", "-p")
    tree = checkout(a_task(tmp_path, f"git:{upstream.as_uri()}", revision), None, cache)
    assert (tree / "file.txt").read_text() == "the base\n"
    assert sorted(path.name for path in tree.iterdir()) == [".git", "file.txt", "file0.txt", "file1.txt"]
    assert_one_commit(tree)
    assert not any(b"solution 7f3a" in content for content in objects(tree).values())
    raw = b"".join(
        path.read_bytes() for path in (tree / ".git").rglob("*") if path.is_file() and "objects" not in path.parts
    )
    assert revision.encode() not in raw and str(upstream).encode() not in raw


def test_a_revision_that_is_not_there_is_a_fault_and_not_kept(upstream: Path, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "own")
    with pytest.raises(InfraFault, match=r"upstream lacks the commit 111111111111\. Get a whole copy"):
        checkout(a_task(tmp_path, f"git:{upstream.as_uri()}", "1" * 40), None, cache)
    with pytest.raises(InfraFault, match=r"git fetch failed(?s:.*) Check the network, or name a mirror\."):
        checkout(a_task(tmp_path, "git:file:///nowhere", "1" * 40), None, cache)
    assert list((tmp_path / "own/checkouts").iterdir()) == []


@pytest.mark.parametrize("url", ["--upload-pack=touch /tmp/repoassay-trapped", "ext::touch% /tmp/repoassay-trapped"])
def test_a_url_cannot_run_a_command(tmp_path: Path, cache: Cache, url: str) -> None:
    with pytest.raises(InfraFault):
        checkout(a_task(tmp_path, f"git:{url}", "1" * 40), None, cache)
    assert not Path("/tmp/repoassay-trapped").exists()


@pytest.mark.parametrize("kind", ["folder", "bundled"])
def test_git_folders_of_a_local_repository_are_dropped(upstream: Path, tmp_path: Path, kind: str, cache: Cache) -> None:
    (upstream / "nested").mkdir()
    git(upstream / "nested", "init", "-q")
    (upstream / "nested/kept.txt").write_text("kept\n")
    (upstream / "gitlink").mkdir()
    (upstream / "gitlink/.git").write_text(f"gitdir: {upstream}/.git\n")
    (upstream / "gitlink/kept.txt").write_text("kept\n")
    (upstream / ".gitignore").write_text("*.txt\n")
    folder = a_task(tmp_path, f"{kind}:upstream")
    tree = checkout(folder, tmp_path if kind == "bundled" else None, cache)
    assert_one_commit(tree)
    assert not (tree / "nested/.git").exists() and not (tree / "gitlink/.git").exists()
    listed = ours(tree, "ls-files").decode().split()
    assert "nested/kept.txt" in listed and "gitlink/kept.txt" in listed
    assert not any(b"stashed" in content for content in objects(tree).values())


def test_attributes_and_hooks_of_the_repository_touch_no_byte_and_run_nothing(
    upstream: Path, tmp_path: Path, cache: Cache
) -> None:
    trap = tmp_path / "trapped"
    attributes = "* text eol=crlf ident filter=evil working-tree-encoding=UTF-16\n"
    (upstream / ".gitattributes").write_text(attributes)
    (upstream / "mixed.txt").write_bytes(b"$Id$\r\nplain\n")
    info = upstream / ".git/info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* !text !eol !ident !filter !working-tree-encoding\n")
    git(upstream, "add", "--all")
    git(upstream, "commit", "-qm", "hostile")
    for name in ("post-checkout", "pre-commit", "post-commit"):
        (upstream / ".git/hooks").mkdir(exist_ok=True)
        (upstream / ".git/hooks" / name).write_text(f"#!/bin/sh\ntouch {trap}\n")
        (upstream / ".git/hooks" / name).chmod(0o755)
    revision = git(upstream, "rev-parse", "HEAD")
    for number, folder in enumerate(
        (a_task(tmp_path, f"git:{upstream.as_uri()}", revision), a_task(tmp_path, "folder:upstream"))
    ):
        tree = checkout(folder, None, cache)
        assert (tree / "mixed.txt").read_bytes() == b"$Id$\r\nplain\n", number
        blob = ours(tree, "cat-file", "-p", "HEAD:mixed.txt")
        assert blob == b"$Id$\r\nplain\n"
    assert not trap.exists()


def test_equal_trees_make_one_entry_and_equal_commits(tmp_path: Path, cache: Cache) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text("same\n")
    one, two = (checkout(a_task(tmp_path, f"folder:{name}"), None, cache) for name in ("one", "two"))
    assert ours(one, "rev-parse", "HEAD") == ours(two, "rev-parse", "HEAD")
    (tmp_path / "two/file.txt").write_text("other\n")
    assert checkout(a_task(tmp_path, "folder:two"), None, cache) != two


def test_links_stay_links_and_modes_become_plain(tmp_path: Path, cache: Cache) -> None:
    top = tmp_path / "repository"
    top.mkdir()
    (top / "outside").symlink_to("/etc/passwd")
    (top / "program").write_text("x")
    (top / "program").chmod(0o4711)
    tree = checkout(a_task(tmp_path, "folder:repository"), None, cache)
    assert (tree / "outside").readlink() == Path("/etc/passwd")
    assert (tree / "program").stat().st_mode & 0o7777 == 0o755
    assert Path("/etc/passwd").stat().st_uid == 0
    if os.geteuid() == 0:
        assert {path.lstat().st_uid for path in tree.rglob("*")} == {SANDBOX_UID}


def test_a_pipe_in_a_repository_is_refused_not_waited_for(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "repository").mkdir()
    os.mkfifo(tmp_path / "repository/pipe")
    with pytest.raises(InfraFault, match="cannot be copied"):
        checkout(a_task(tmp_path, "folder:repository"), None, cache)


def test_a_bundled_repository_needs_a_suite_that_has_some(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(InfraFault, match="its suite has none"):
        checkout(a_task(tmp_path, "bundled:upstream"), None, cache)


def test_a_past_is_noticed_wherever_it_hides(upstream: Path, tmp_path: Path) -> None:
    with pytest.raises(InfraFault, match="6 commits, 7 refs"):
        check_no_history(upstream)
    clean = tmp_path / "clean"
    clean.mkdir()
    git(clean, "init", "-q")
    git(clean, "-c", "core.logAllRefUpdates=false", "commit", "-qm", "only", "--allow-empty")
    check_no_history(clean)
    (clean / ".git/objects/info/alternates").write_text(f"{upstream}/.git/objects\n")
    with pytest.raises(InfraFault, match="more than its own commit"):
        check_no_history(clean)
    (clean / ".git/objects/info/alternates").unlink()
    git(clean, "tag", "extra")
    with pytest.raises(InfraFault, match="2 refs"):
        check_no_history(clean)


def test_a_kept_checkout_that_was_tampered_with_is_noticed(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository/file").write_text("tampered test")
    tree = checkout(a_task(tmp_path, "folder:repository"), None, cache)
    (tree / ".git/logs").mkdir()
    with pytest.raises(InfraFault, match="Delete it"):
        checkout(a_task(tmp_path, "folder:repository"), None, cache)
