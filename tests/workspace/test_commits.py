"""What an agent committed, read from repositories that do their best to mislead whoever reads them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from repoassay.sandbox.cache import settle
from repoassay.sandbox.protocol import Access, Command, ExportSpec, Mount, Sandbox
from repoassay.types import Limits
from repoassay.workspace.checkouts import commit_tree
from repoassay.workspace.commits import LeftCommits, collect_git, read_left

LIMITS = Limits(seconds=60, memory=2**30, disk=512 * 2**20, processes=128)
IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Contributor"), ("EMAIL", "contributor@localhost"))
}
Agent = Callable[[str], LeftCommits]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    top = tmp_path / "base"
    top.mkdir()
    (top / "shop.py").write_text("def total(prices):\n    return sum(prices)\n")
    (top / "link").symlink_to("shop.py")
    commit_tree(top)
    settle(top)
    return top


@pytest.fixture
def agent(base: Path, tmp_path: Path, sandbox: Sandbox) -> Agent:
    """Run a script in a workspace with the repository, and read what it left as a run does."""

    def run(script: str) -> LeftCommits:
        for name in ("tree", "git"):
            (tmp_path / name).mkdir()
        done = sandbox.run(
            Command(
                argv=("/bin/sh", "-e", "-c", f"cd /workspace/repo\n{script}"),
                env={"PATH": "/usr/local/bin:/usr/bin:/bin", **IDENTITY},
                mounts=(Mount(base, "/workspace/repo", Access.COPY_ON_WRITE),),
                scratch=("/workspace",),
                limits=LIMITS,
                collect=(
                    ExportSpec("/workspace/repo", tmp_path / "tree", skip=(".git",)),
                    collect_git(tmp_path / "git"),
                ),
            )
        )
        assert done.exit.code == 0, done.stderr.decode()
        return read_left(base, tmp_path / "tree", tmp_path / "git", sandbox)

    return run


def subjects(left: LeftCommits) -> list[str]:
    return [commit.subject for commit in left.commits.commits]


def test_commits_of_a_branch_come_in_order_with_their_files(agent: Agent) -> None:
    left = agent(
        "git switch -qc fix; echo one > a.txt; git add .; git commit -qm 'Add a' -m 'Because.\n\nSigned: me';"
        "mkdir d; echo two > d/b.txt; rm a.txt; git add -A; git commit -qm 'Move it'"
    )
    assert subjects(left) == ["Add a", "Move it"]
    assert left.commits.branch == "fix"
    assert left.commits.commits[0].body == "Because.\n\nSigned: me"
    assert left.commits.commits[0].author == "Contributor <contributor@localhost>"
    assert [(file.path, file.status) for file in left.commits.commits[1].files] == [("a.txt", "D"), ("d/b.txt", "A")]
    assert left.commits.commits[1].parents == (left.commits.commits[0].id,)
    assert left.commits.commits[0].parents == (left.commits.base,)
    assert left.commits.tip == left.commits.commits[1].id
    assert not left.commits.uncommitted
    assert left.commits.notes == ()
    assert b"+two" in left.diff
    assert b"a.txt" not in left.diff


def test_nothing_left_is_nothing(agent: Agent) -> None:
    left = agent("true")
    assert (left.diff, left.commits.commits, left.commits.uncommitted) == (b"", (), False)
    assert left.commits.branch == "main"


def test_what_is_not_committed_counts_and_is_flagged(agent: Agent) -> None:
    left = agent("git switch -qc fix; echo one > a.txt; git add .; git commit -qm 'Add a'; echo two > a.txt")
    assert left.commits.uncommitted
    assert b"+two" in left.diff
    assert subjects(left) == ["Add a"]


def test_files_without_a_commit_count_and_are_flagged(agent: Agent) -> None:
    left = agent("echo one > a.txt")
    assert left.commits.uncommitted
    assert left.commits.commits == ()
    assert b"+one" in left.diff


def test_a_branch_left_behind_counts_where_the_files_are_untouched(agent: Agent) -> None:
    left = agent("git switch -qc fix; echo one > a.txt; git add .; git commit -qm 'Add a'; git switch -q main")
    assert left.commits.branch == "fix"
    assert left.commits.taken == "branch"
    assert b"+one" in left.diff
    assert "branch were taken" in left.commits.notes[-1]


def test_of_several_branches_left_behind_none_is_chosen(agent: Agent) -> None:
    left = agent(
        "for name in one two; do git switch -qc $name main; echo $name > $name; git add .; git commit -qm $name; done;"
        "git switch -q main"
    )
    assert left.diff == b""
    assert left.commits.commits == ()
    assert "one, two" in left.commits.notes[0]


def test_packed_and_detached_and_merged(agent: Agent) -> None:
    left = agent(
        "git switch -qc side; echo s > s; git add .; git commit -qm side; git switch -qc fix main; echo f > f;"
        "git add .; git commit -qm fix; git merge -q --no-ff -m merge side; git gc -q --prune=now; git pack-refs --all;"
        "git checkout -q --detach"
    )
    assert set(subjects(left)) == {"side", "fix", "merge"}
    assert subjects(left)[-1] == "merge"
    assert left.commits.branch == ""
    assert not left.commits.uncommitted


def test_a_history_of_its_own_is_told(agent: Agent) -> None:
    left = agent("git switch -q --orphan new; echo x > x; git add .; git commit -qm 'Start over'")
    assert subjects(left) == ["Start over"]
    assert "do not build on" in left.commits.notes[0]
    assert b"deleted file" in left.diff


def test_settings_hooks_and_filters_of_the_repository_do_nothing(agent: Agent, tmp_path: Path) -> None:
    left = agent(
        "git switch -qc fix; echo one > a.txt; git add .; git commit -qm 'Add a';"
        "printf '#!/bin/sh\\ntouch /tmp/hooked /workspace/tip/hooked\\n' > /tmp/evil; chmod +x /tmp/evil;"
        "cp /tmp/evil evil;"
        "for hook in post-checkout post-index-change reference-transaction fsmonitor-watchman; do"
        " mkdir -p .git/hooks; cp /tmp/evil .git/hooks/$hook; done;"
        "git config core.fsmonitor /workspace/repo/evil; git config core.hooksPath /workspace/repo/.git/hooks;"
        "git config filter.evil.smudge /workspace/repo/evil; git config core.pager /workspace/repo/evil;"
        "git config alias.log '!touch /tmp/aliased'; git config core.worktree /tmp;"
        "git config diff.external /workspace/repo/evil; git config core.sshCommand /tmp/evil;"
        "echo '* filter=evil diff=evil' > .gitattributes; mkdir -p .git/info; cp .gitattributes .git/info/attributes;"
        "printf '[include]\\n\\tpath = /etc/passwd\\n' >> .git/config"
    )
    assert subjects(left) == ["Add a"]
    assert left.commits.uncommitted  # evil and .gitattributes were left lying about
    assert b"hooked" not in left.diff.replace(b"/tmp/hooked /workspace/tip/hooked", b"")
    assert not Path("/tmp/hooked").exists()
    assert not (tmp_path / "git/hooks").exists()
    assert not (tmp_path / "git/config").exists()


def test_links_and_alternates_lead_nowhere(agent: Agent, tmp_path: Path) -> None:
    left = agent(
        "git switch -qc fix; echo one > a.txt; git add .; git commit -qm 'Add a';"
        "ln -s /etc/passwd .git/packed-refs; ln -s /etc .git/refs/heads/etc;"
        "ln -s /proc/self/environ .git/refs/heads/env;"
        "mkdir -p .git/objects/info; echo /proc/self/root/run/base/.git/objects > .git/objects/info/alternates;"
        "mkfifo .git/refs/heads/pipe; ln -sf refs/heads/fix .git/LINK"
    )
    assert subjects(left) == ["Add a"]
    assert not any(path.is_symlink() for path in (tmp_path / "git").rglob("*"))


@pytest.mark.parametrize(
    "script",
    [
        "rm -rf .git",
        "rm -rf .git; ln -s / .git",
        "rm -rf .git; echo 'gitdir: /etc' > .git",
        "rm -rf .git; mkfifo .git",
        "echo 'ref: ../../../../etc/passwd' > .git/HEAD",
        "echo 'ref: refs/heads/--upload-pack=touch' > .git/HEAD",
        "head -c 1000000 /dev/urandom > .git/HEAD",
        "echo ffffffffffffffffffffffffffffffffffffffff > .git/refs/heads/main",
        "git switch -qc fix; echo x > x; git add .; git commit -qm x; find .git/objects -type f -exec sh -c"
        " 'chmod u+w \"$1\"; echo junk > \"$1\"' _ {} ';'",
        "git switch -qc fix; echo x > x; git add .; git commit -qm x; rm -rf .git/objects",
        "echo '[core' > .git/config; rm -f .git/index; echo x > .git/index",
        "printf '\\377\\376' > .git/refs/heads/main",
    ],
)
@pytest.mark.exhaustive
def test_a_broken_repository_loses_its_commits_and_not_the_change(agent: Agent, script: str) -> None:
    left = agent(f"echo kept > kept.txt; {script}")
    assert b"+kept" in left.diff
    assert left.commits.uncommitted


def test_texts_are_bounded_and_cannot_steer_a_terminal(agent: Agent) -> None:
    left = agent(
        "git switch -qc fix; echo x > \"$(printf 'a\\033[2Jb')\"; git add .;"
        "{ printf 'Su\\033[31mbject \\342\\200\\256 turned '; head -c 5000 /dev/zero | tr '\\0' s; printf '\\n\\n';"
        " head -c 500000 /dev/zero | tr '\\0' b; } > /tmp/message; git commit -qF /tmp/message"
    )
    (commit,) = left.commits.commits
    assert commit.subject.isprintable()
    assert len(commit.subject) < 600
    assert len(commit.body) == 20_000
    assert commit.files[0].path.isprintable()


@pytest.mark.exhaustive
def test_many_commits_and_files_are_counted_not_all_told(agent: Agent) -> None:
    left = agent(
        "git switch -qc fix; mkdir m; for i in $(seq 1300); do echo $i > m/$i; done; git add .; git commit -qm many;"
        'for i in $(seq 230); do git commit -q --allow-empty -m "empty $i"; done'
    )
    assert len(left.commits.commits) == 200
    assert left.commits.more == 31
    assert len(left.commits.commits[0].files) == 1000
    assert left.commits.commits[0].more == 300


@pytest.mark.exhaustive
def test_replaced_and_grafted_objects_are_not_followed(agent: Agent) -> None:
    left = agent(
        "git switch -qc fix; echo bad > a.txt; git add .; git commit -qm bad; bad=$(git rev-parse HEAD);"
        "git switch -qc nice main; echo nice > a.txt; git add .; git commit -qm nice; git replace $bad HEAD;"
        "git switch -q fix; git branch -qD nice; echo bad > a.txt"
    )
    assert subjects(left) == ["bad"]
    assert b"+bad" in left.diff


@pytest.mark.exhaustive
def test_dates_that_are_none(agent: Agent) -> None:
    left = agent(
        "git switch -qc fix; echo x > x; git add .;"
        "export GIT_AUTHOR_DATE='@99999999999999 +0000';"
        "GIT_COMMITTER_DATE='@1 +0000' git commit -qm far || git commit -qm near"
    )
    assert len(left.commits.commits) == 1


@pytest.mark.exhaustive
def test_a_bomb_of_a_tree_does_not_fill_the_disk(agent: Agent) -> None:
    """Ten levels of ten copies: ten thousand million files in a few objects."""
    left = agent(
        "git switch -qc fix; echo x > x; git add .; git commit -qm start; export GIT_INDEX_FILE=/tmp/other;"
        "blob=$(git rev-parse HEAD:x); tree=$(printf '100644 blob %s\\tf\\n' $blob | git mktree);"
        "for level in 1 2 3 4 5 6 7 8 9; do tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do"
        " printf '040000 tree %s\\t%s\\n' $tree $i; done | git mktree); done;"
        "git update-ref refs/heads/fix $(git commit-tree -p HEAD -m bomb $tree)"
    )
    assert b"+x" in left.diff
    assert left.commits.uncommitted


def test_the_base_is_as_it_was(agent: Agent, base: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in (base / ".git").rglob("*") if path.is_file()}
    agent("git switch -qc fix; echo x > shop.py; git commit -qam x; git gc -q --prune=now")
    assert {path: path.read_bytes() for path in (base / ".git").rglob("*") if path.is_file()} == before
    shutil.rmtree(tmp_path / "tree")
