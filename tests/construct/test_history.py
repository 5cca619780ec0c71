"""Copies of repositories, hostile ones among them."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from construct.making import Repo, make_repo
from repoassay.construct.history import LONGEST_MESSAGE, find_repository, open_history
from repoassay.construct.mining.commits import read_commits
from repoassay.errors import BadInput
from repoassay.workspace import fetch_commit


def test_revisions_are_found_by_any_name(shop: Repo) -> None:
    shop.git("tag", "v1")
    shop.git("branch", "other", "HEAD~1")
    head, first = shop.git("rev-parse", "HEAD"), shop.git("rev-parse", "HEAD~1")
    with open_history(str(shop.path), ["HEAD"]) as history:
        assert [history.commit(name) for name in ("HEAD", "v1", "main", head[:9], head)] == [head] * 5
        assert [history.commit(name) for name in ("HEAD~1", "other", "v1^")] == [first] * 3
        assert history.parents(head) == (first,)
        assert history.message(head) == "Add the average of prices"
    assert not history.place.exists()


@pytest.mark.parametrize("name", ["nowhere", "", "--all", "-h", "HEAD:shop.py", "HEAD~9", "main@{1}", "0" * 40, "a b"])
def test_an_unknown_revision_is_one_sentence(shop: Repo, name: str) -> None:
    with (
        pytest.raises(BadInput, match=r"has no commit|cannot be read"),
        open_history(str(shop.path), [name, "HEAD"]) as history,
    ):
        history.commit(name)


def test_full_ids_copy_only_their_commits(shop: Repo) -> None:
    shop.commit({"more.py": "x = 1\n"})
    ids = [shop.git("rev-parse", name) for name in ("HEAD~2", "HEAD~1")]
    with open_history(str(shop.path), ids) as history:
        assert [history.commit(each) for each in ids] == ids
        with pytest.raises(BadInput, match="has no commit"):
            history.commit(shop.git("rev-parse", "HEAD"))


def test_a_commit_of_no_calendar_and_with_a_book_for_a_message_is_read(shop: Repo) -> None:
    written = shop.git("cat-file", "commit", "HEAD")
    head = re.sub(r"(?m)^(committer .*>) \d+", r"\1 99999999999999999", written.partition("\n\n")[0])
    place = shop.path / "odd"
    place.write_text(f"{head}\n\n{'::' * 10**6}\n")
    odd = shop.git("hash-object", "-t", "commit", "-w", "--literally", str(place))
    shop.git("reset", "--quiet", "--hard", odd)
    with open_history(str(shop.path), ["HEAD"]) as history:
        assert history.day(odd).year == 9999 and len(history.message(odd)) == LONGEST_MESSAGE
        assert [len(each.message) for each in read_commits(history)][-1] == LONGEST_MESSAGE


def test_a_commit_is_what_its_id_says_whatever_the_original_puts_in_its_place(shop: Repo) -> None:
    honest = shop.git("rev-parse", "HEAD")
    other = shop.git("commit-tree", "-m", "something else", f"{shop.git('rev-parse', 'HEAD~1')}^{{tree}}")
    shop.git("replace", honest, other)
    with open_history(str(shop.path), (), tags=True) as history:
        assert history.message(honest) != "something else" and len(history.parents(honest)) == 1
    shop.git("replace", "-d", honest)


def test_a_detached_head_is_copied(shop: Repo) -> None:
    shop.git("checkout", "--quiet", "--detach")
    head = shop.commit({"loose.py": "x = 1\n"})
    with open_history(str(shop.path), ["HEAD"]) as history:
        assert history.commit("HEAD") == head


def test_trees_and_contents_are_read_byte_for_byte(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "odd")
    repo.commit({"a.txt": b"one\r\ntwo\n", "ö/日本 x.py": "1\n"})
    repo.commit({".gitattributes": "*.txt filter=evil ident\n"})
    (repo.path / "link").symlink_to("/etc/passwd")
    repo.git("add", "link")
    repo.git("commit", "--quiet", "--message", "Link")
    with open_history(str(repo.path), ["HEAD"]) as history:
        tree = history.tree(history.commit("HEAD"))
        assert set(tree) == {".gitattributes", "a.txt", "ö/日本 x.py", "link"}
        assert history.content(tree["a.txt"]) == b"one\r\ntwo\n"
        assert [name for name, entry in tree.items() if not entry.regular] == ["link"]


@pytest.mark.parametrize("bare", [False, True])
def test_nothing_that_the_original_configures_is_run(shop: Repo, tmp_path: Path, bare: bool) -> None:
    """Hooks, filters, monitors, drivers, helpers: each would leave a mark."""
    mark, evil = tmp_path / "mark", tmp_path / "evil.sh"
    evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\nexit 1\n')
    evil.chmod(0o755)
    shop.commit({".gitattributes": "*.py filter=evil diff=evil merge=evil\n"})
    head, base = shop.git("rev-parse", "HEAD"), shop.git("rev-parse", "HEAD~2")
    place = Path(shutil.move(shop.path / ".git", tmp_path / "bare.git")) if bare else shop.path
    repo = Repo(place)
    settings = {
        "core.fsmonitor": evil, "core.sshCommand": evil, "core.pager": evil, "core.editor": evil, "core.askPass": evil,
        "core.alternateRefsCommand": evil, "core.gitProxy": evil, "core.hooksPath": tmp_path / "hooks",
        "diff.external": evil, "diff.evil.command": evil, "diff.evil.textconv": evil, "filter.evil.clean": evil,
        "filter.evil.smudge": evil, "filter.evil.process": evil, "filter.evil.required": "true",
        "merge.evil.driver": evil, "uploadpack.packObjectsHook": evil, "gpg.program": evil, "log.showSignature": "true",
        "credential.helper": f"!{evil}", "remote.origin.uploadpack": evil, "remote.origin.url": f"ext::{evil}",
        "remote.origin.promisor": "true", "remote.origin.partialCloneFilter": "blob:none", "alias.log": f"!{evil}",
        "protocol.ext.allow": "always", "core.worktree": str(tmp_path),
    }  # fmt: skip
    for name, value in settings.items():
        repo.git("config", "--file", "config" if bare else ".git/config", name, str(value))
    hooks = ("post-checkout", "pre-commit", "reference-transaction", "post-index-change", "pre-auto-gc", "post-rewrite")
    for folder in (tmp_path / "hooks", place / "hooks" if bare else place / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for hook in hooks:
            shutil.copy(evil, folder / hook)
    for revisions in (["HEAD"], [head, base]):
        with open_history(str(place), revisions) as history:
            assert history.commit(revisions[0]) == head
            tree = history.tree(head)
            assert history.content(tree["shop.py"]).startswith(b"def total")
            assert b"average" in history.diff(base, head, ["shop.py", "tests/test_shop.py"])
            assert history.message(head) == "Change it"
    assert not mark.exists(), mark.read_text()
    with contextlib.suppress(subprocess.CalledProcessError):
        repo.git("log", "-1", "-p", "--ext-diff", "HEAD~1")
    assert mark.exists()  # git run there by a trusting user does run it


def test_missing_objects_are_not_fetched_by_the_original(shop: Repo, tmp_path: Path) -> None:
    """A partial clone would ask its remote, with a program of its own choice."""
    mark, evil = tmp_path / "mark", tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    evil.chmod(0o755)
    blob = shop.git("rev-parse", "HEAD:shop.py")
    (shop.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
        "remote.origin.url": str(tmp_path), "remote.origin.uploadpack": str(evil),
    }.items():  # fmt: skip
        shop.git("config", name, value)
    with pytest.raises(BadInput, match="is a partial clone"), open_history(str(shop.path), ["HEAD"]):
        pass
    assert not mark.exists()


def test_a_mirror_may_lack_files_of_years_ago(shop: Repo, tmp_path: Path) -> None:
    """Large files are the first that copies of repositories lack, though nothing of today needs them."""
    shop.commit({"large.bin": "x" * 1000})
    blob = shop.git("rev-parse", "HEAD:large.bin")
    base = shop.commit({"large.bin": None})
    head = shop.commit({"shop.py": "x = 1\n"})
    (shop.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with open_history(str(shop.path), ["HEAD"], tags=True) as history:
        assert history.commit("HEAD") == head and history.parents(head) == (base,)
        assert history.content(history.tree(head)["shop.py"]) == b"x = 1\n"
        assert b"average" in history.diff(base, head, ["shop.py"])
        fetch_commit(str(history.place), base, tmp_path)
    assert "average" in (tmp_path / "shop.py").read_text()
    with pytest.raises(BadInput, match="is a partial clone"), open_history(str(shop.path), ["HEAD~1"], tags=True):
        pass


def test_a_mirror_may_lack_files_of_what_is_not_its_default_branch(shop: Repo) -> None:
    """Mirrors hold the proposals of years, too; of those somebody's large file is the first to be lacking."""
    head = shop.git("rev-parse", "HEAD")
    shop.git("update-ref", "refs/pull/1/head", shop.commit({"large.bin": "x" * 1000}))
    blob = shop.git("rev-parse", "HEAD:large.bin")
    shop.git("reset", "--quiet", "--hard", head)
    (shop.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with open_history(str(shop.path), ["HEAD"], tags=True) as history:
        assert history.commit("HEAD") == head


@pytest.mark.parametrize(
    "name",
    ["", "no/such/folder/here", "ext::sh -c x", "file:///no/such/folder", "file:etc", "-u", "a\x00b", "x" * 5000],
)
def test_what_is_no_repository_is_one_sentence(name: str) -> None:
    with pytest.raises(BadInput, match="neither a folder that is there nor a URL"):
        find_repository(name)


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    for name in (str(tmp_path), tmp_path.as_uri()):
        with pytest.raises(BadInput, match="no git repository"):
            find_repository(name)


def test_a_url_of_a_file_is_its_folder(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "a shop")
    assert find_repository(repo.path.as_uri()) == (str(repo.path), repo.path)


def test_a_folder_that_only_looks_like_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
    url, local = find_repository(str(tmp_path))
    assert local == tmp_path
    with pytest.raises(BadInput, match="cannot be read"), open_history(url, ["HEAD"]):
        pass


def test_urls_are_left_as_they_are() -> None:
    assert find_repository("https://example.org/lib.git") == ("https://example.org/lib.git", None)
    assert find_repository("owner/name") == ("https://github.com/owner/name", None)
