"""The diff of what an agent changed, taken from a tree that does its best to mislead."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from repoassay.diffs import apply_patch, read_patch
from repoassay.sandbox.cache import settle
from repoassay.sandbox.launcher.collect import collect
from repoassay.types import FileEdit
from repoassay.workspace import changes
from repoassay.workspace.changes import changes_between
from repoassay.workspace.checkouts import commit_tree

HOSTILE_ATTRIBUTES = "* -diff -text filter=evil diff=evil eol=crlf ident working-tree-encoding=UTF-16 export-ignore\n"


def commit(top: Path) -> Path:
    commit_tree(top)
    settle(top)
    return top


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A checkout with text, a binary, a program, a link and an ignore file."""
    top = tmp_path / "base"
    (top / "src/pkg").mkdir(parents=True)
    (top / "src/pkg/__init__.py").write_text("def total(items):\n    return sum(items)\n")
    (top / "data.bin").write_bytes(bytes(range(256)) * 4)
    (top / "windows.txt").write_bytes(b"one\r\ntwo\r\n")
    (top / "no-newline.txt").write_bytes(b"end")
    (top / "run.sh").write_text("#!/bin/sh\n")
    (top / "run.sh").chmod(0o755)
    (top / "link").symlink_to("src/pkg")
    (top / "deep").mkdir()
    (top / "deep/link").symlink_to("/etc/passwd")
    (top / ".gitignore").write_text("build/\n*.log\n")
    return commit(top)


@pytest.fixture
def tree(base: Path, tmp_path: Path) -> Path:
    """What crosses from a sandbox when nothing was changed: regular files alone, without `.git`."""
    top = tmp_path / "tree"
    shutil.copytree(base, top, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for path in [path for path in top.rglob("*") if path.is_symlink()]:
        path.unlink()
    return top


def applied(base: Path, diff: bytes, into: Path) -> Path:
    """The base with a diff applied by git."""
    shutil.copytree(base, into, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    if diff:
        subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=into, input=diff, check=True)
    return into


def content(top: Path) -> dict[str, tuple[bytes, bool]]:
    files = (path for path in top.rglob("*") if path.is_file() and not path.is_symlink() and ".git" not in path.parts)
    return {str(path.relative_to(top)): (path.read_bytes(), bool(path.stat().st_mode & 0o100)) for path in files}


def test_nothing_changed_is_nothing(base: Path, tree: Path) -> None:
    assert changes_between(base, tree) == b""


def test_every_kind_of_change_comes_back(base: Path, tree: Path, tmp_path: Path) -> None:
    (tree / "src/pkg/__init__.py").write_text("def total(items):\n    return sum(i for i in items if i)\n")
    (tree / "data.bin").write_bytes(bytes(reversed(range(256))) * 4)
    (tree / "new.bin").write_bytes(os.urandom(1000))
    (tree / "windows.txt").write_bytes(b"one\r\nthree\r\n")
    (tree / "no-newline.txt").write_bytes(b"the end")
    (tree / "run.sh").chmod(0o644)
    (tree / "made/by/agent").mkdir(parents=True)
    (tree / "made/by/agent/größe.txt").write_text("ä\n")
    (tree / "made/program").write_text("x")
    (tree / "made/program").chmod(0o755)
    (tree / "empty.txt").touch()
    (tree / ".gitignore").unlink()
    diff = changes_between(base, tree)
    assert content(applied(base, diff, tmp_path / "again")) == content(tree)
    assert b"120000" not in diff


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        st.from_regex(r"[a-z]{1,3}|[A-Z]{1,3}/[a-z]{1,3}", fullmatch=True),
        st.binary(max_size=60),
        min_size=1,
        max_size=5,
    )
)
def test_any_content_comes_back(base: Path, tmp_path: Path, files: dict[str, bytes]) -> None:
    shutil.rmtree(tmp_path / "any", ignore_errors=True)
    shutil.rmtree(tmp_path / "again", ignore_errors=True)
    shutil.copytree(base, tmp_path / "any", symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for name, data in files.items():
        path = tmp_path / "any" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    diff = changes_between(base, tmp_path / "any")
    assert content(applied(base, diff, tmp_path / "again")) == content(tmp_path / "any")


def test_a_hostile_attributes_file_changes_nothing_of_the_content(base: Path, tree: Path, tmp_path: Path) -> None:
    (tree / ".gitattributes").write_text("[attr]all -diff filter=evil\n* all\n" + HOSTILE_ATTRIBUTES)
    (tree / "src/pkg/.gitattributes").write_text(HOSTILE_ATTRIBUTES)
    (tree / "src/pkg/__init__.py").write_text("changed = '$Id$'\n")
    (tree / "windows.txt").write_bytes(b"one\nmixed\r\n")
    diff = changes_between(base, tree)
    assert b"+changed = '$Id$'" in diff
    assert content(applied(base, diff, tmp_path / "again")) == content(tree)


def test_git_folders_of_the_copy_run_nothing_and_are_no_change(base: Path, tree: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trapped"
    run = f"touch {trap}"
    config = f"[core]\n\tfsmonitor = {run}\n\thooksPath = hooks\n\tsshCommand = {run}\n[diff]\n\texternal = {run}\n"
    for place in (".git", "nested/.git", "src/pkg/.git"):
        folder = tree / place
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(folder.parent)], check=True)
        (folder / "config").write_text(config + f'[filter "evil"]\n\tclean = {run}\n')
        for hook in ("pre-commit", "post-index-change", "fsmonitor-watchman"):
            (folder / "hooks").mkdir(exist_ok=True)
            (folder / "hooks" / hook).write_text(f"#!/bin/sh\n{run}\n")
            (folder / "hooks" / hook).chmod(0o755)
    (tree / "deep").mkdir(exist_ok=True)
    (tree / "deep/.git").write_text("gitdir: /etc\n")
    (tree / ".gitattributes").write_text("* filter=evil\n")
    (tree / "nested/file.txt").write_text("kept\n")
    diff = changes_between(base, tree)
    assert not trap.exists()
    assert b"160000" not in diff
    assert set(content(applied(base, diff, tmp_path / "again"))) - set(content(base)) == {
        ".gitattributes",
        "nested/file.txt",
    }


@pytest.mark.parametrize("name", ["con", "trailing ", "back\\slash"])
def test_odd_names_are_taken_down_not_stumbled_over(base: Path, tree: Path, name: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("odd\n")
    assert b"+odd" in changes_between(base, tree)


@pytest.mark.parametrize("name", [".GIT/config", "a/.gIt/hooks/x", "b/.giT", "git~1", ".git /x", ".g\u200cit/x"])
def test_git_folders_in_any_spelling_are_no_change(base: Path, tree: Path, name: str) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text("odd\n")
    assert changes_between(base, tree) == b""


def test_ignored_files_and_the_litter_of_tools_are_left_out(base: Path, tree: Path) -> None:
    for name in ("build/out.o", "x.log", "src/__pycache__/m.cpython-311.pyc", ".pytest_cache/v", "p.egg-info/PKG-INFO"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("junk")
    assert changes_between(base, tree) == b""


def test_an_ignore_file_that_hides_everything_hides_no_change_of_known_files(base: Path, tree: Path) -> None:
    (tree / ".gitignore").write_text("*\n")
    (tree / "run.sh").write_text("#!/bin/sh\nchanged\n")
    assert b"+changed" in changes_between(base, tree)


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".gitmodules"])
def test_special_files_that_are_folders_or_huge_are_no_obstacle(base: Path, tree: Path, name: str) -> None:
    (tree / name).unlink(missing_ok=True)
    (tree / name).mkdir()
    (tree / name / "x").write_text("inside\n")
    (tree / "src" / name).write_bytes(b"* -diff filter=x\n" * 100_000)
    (tree / "run.sh").write_text("#!/bin/sh\nchanged\n")
    assert b"+changed" in changes_between(base, tree)


def test_links_count_as_unchanged_unless_something_took_their_place(base: Path, tree: Path) -> None:
    shutil.rmtree(tree / "deep", ignore_errors=True)
    assert changes_between(base, tree) == b""
    (tree / "link").write_text("now a file\n")
    (tree / "deep").write_text("where a folder was\n")
    diff = changes_between(base, tree)
    assert diff.count(b"deleted file mode 120000") == 2
    assert apply_patch(read_patch(diff), base).edits == {
        "link": FileEdit(b"now a file\n"), "deep": FileEdit(b"where a folder was\n"), "deep/link": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [b"caf\xe9.txt", b"back\\slash", b"new\nline", b"git~1", b"d/" * 51 + b"x", b"soft\xc2\xad", b"caf\xe9/in.txt"],
)
def test_files_whose_names_no_copy_keeps_count_as_unchanged(tmp_path: Path, name: bytes) -> None:
    base, tree = tmp_path / "base", tmp_path / "tree"
    place = base / os.fsdecode(name)
    place.parent.mkdir(parents=True)
    place.write_text("kept\n")
    place.chmod(0o755)
    (base / "module.py").write_text("value = 1\n")
    commit(base)
    tree.mkdir()
    assert not collect(str(base), str(tree), 2**20, 1000, [".git"]) or not (tree / os.fsdecode(name)).exists()
    assert changes_between(base, tree) == b""
    (tree / "module.py").write_text("value = 2\n")
    diff = changes_between(base, tree)
    assert diff.count(b"diff --git ") == 1 and b"+value = 2" in diff
    assert apply_patch(read_patch(diff), base).edits.keys() == {"module.py"}


@pytest.mark.parametrize("name", ["env", "build/my venv", "[x]"])
def test_a_virtual_environment_is_no_change_whatever_its_name(base: Path, tree: Path, name: str) -> None:
    venv.create(tree / name, symlinks=True)
    (tree / name / "lib" / "more.py").write_text("x = 1\n")
    (tree / "node_modules" / "tool").mkdir(parents=True)
    (tree / "node_modules" / "tool" / "index.js").write_text("0\n")
    assert b"more.py" in changes_between(base, tree, everything=True)
    assert changes_between(base, tree) == b""


def test_the_file_of_an_environment_in_a_folder_of_the_repository_hides_nothing(base: Path, tree: Path) -> None:
    (tree / "src/pkg/pyvenv.cfg").write_text("")
    (tree / "example").mkdir()
    (tree / "example/pyvenv.cfg").write_text("")
    (tree / "src/pkg/new.py").write_text("x = 1\n")
    (tree / "pyvenv.cfg").write_text("")
    edits = apply_patch(read_patch(changes_between(base, tree)), base).edits
    assert edits.keys() == {"example/pyvenv.cfg", "pyvenv.cfg", "src/pkg/new.py", "src/pkg/pyvenv.cfg"}


def test_new_folders_with_nothing_in_them_are_told(base: Path, tree: Path) -> None:
    (tree / "data.bin").unlink()
    (tree / "run.sh").unlink()
    for name in ("new/deep", "odd name", "run.sh/in"):
        (tree / name).mkdir(parents=True)
    assert b"deep" not in changes_between(base, tree)
    told = apply_patch(read_patch(changes_between(base, tree, everything=True)), base).keep_folders().edits
    deleted = {path: edit for path, edit in told.items() if edit is None}
    assert list(told)[:2] == list(deleted) and set(deleted) == {"data.bin", "run.sh"}
    assert set(told) - set(deleted) == {"new/deep/", "odd name/", "run.sh/in/"}


def test_too_large_a_change_becomes_a_sentence(base: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_MAX_CHANGED", 1000)
    (tree / "large.bin").write_bytes(bytes(1001))
    assert changes_between(base, tree) == b"The changes come to 1001 bytes; at most 1000 are taken.\n"
    (tree / "large.bin").write_bytes(bytes(1000))
    assert changes_between(base, tree).startswith(b"diff --git")


def test_environments_are_left_out_of_all_that_counts_where_it_is_too_much(
    base: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (base / "kept/node_modules").mkdir(parents=True)
    for place in ("kept/node_modules", "web/node_modules/tool/node_modules", "env/lib", "env/bin"):
        (tree / place).mkdir(parents=True)
        (tree / place / "file").write_bytes(bytes(100))
    (tree / "env/pyvenv.cfg").touch()
    monkeypatch.setattr(changes, "_MAX_READ", 400)
    assert changes.drop_environments(base, tree) == () and (tree / "env/lib/file").exists()
    (tree / "more").write_text("1")
    assert sorted(changes.drop_environments(base, tree)) == ["env", "web/node_modules"]
    edits = apply_patch(read_patch(changes_between(base, tree, everything=True)), base).edits
    assert edits.keys() == {"kept/node_modules/file", "more", "web/.repoassay-empty-folder"}


def test_too_many_new_files_become_a_sentence(base: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_MAX_NEW", 2)
    for number in range(3):
        (tree / f"{number}.txt").write_text("")
    assert changes_between(base, tree) == b"There are 3 new files; at most 2 are taken.\n"
    assert changes_between(base, tree, everything=True) == b"There are 3 new files; at most 2 are taken.\n"


def test_neither_side_is_changed_by_looking(base: Path, tree: Path) -> None:
    def state(top: Path) -> list[tuple[str, int, bytes]]:
        files = [path for path in sorted(top.rglob("*")) if path.is_file()]
        return [(str(path), path.stat().st_mode, path.read_bytes()) for path in files]

    (tree / "new.txt").write_text("new\n")
    before = state(base), state(tree)
    changes_between(base, tree)
    assert (state(base), state(tree)) == before
