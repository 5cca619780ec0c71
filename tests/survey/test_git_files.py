"""What git ignores and links stored as text are no part of a repository; its tracked files are, whatever is ignored."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from repoassay.survey import survey_repository
from repoassay.survey.git_files import GitFiles


def put(root: Path, *names: str, text: str = "x = 1\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
    return done.stdout


RULES = """
# comment
*.log
build/
/only_here.py
!kept.log
doc/**/gen.py
**/deep/x.py
a/*/b.py
tmp[0-9].py
sp\\ ace.py
trail.py{end}
nested
!nested/again.py
"""
NAMES = [
    "a.py", "x.log", "kept.log", "build/a.py", "src/build/b.py", "buildx/c.py", "only_here.py", "sub/only_here.py",
    "doc/gen.py", "doc/q/gen.py", "doc/q/r/gen.py", "gen.py", "deep/x.py", "q/deep/x.py", "a/z/b.py", "a/z/y/b.py",
    "tmp1.py", "q/tmp7.py", "tmpx.py", "sp ace.py", "trail.py", "nested/again.py", "q/nested", "sub/inner/k.py",
    "sub/inner/m.py", "tracked/build/t.py",
]  # fmt: skip


def test_the_same_files_are_left_out_as_git_says(tmp_path: Path) -> None:
    put(tmp_path, *NAMES)
    (tmp_path / ".gitignore").write_text(RULES.replace("{end}", "   "))
    (tmp_path / "sub" / ".gitignore").write_text("inner/*\n!inner/m.py\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", "tracked/build/t.py")
    listed = git(tmp_path, "ls-files", "-c", "-o", "--exclude-standard", "-z").split("\0")
    wanted = {name for name in listed if name.endswith(".py")}
    assert survey_repository(tmp_path).measures.files == len(wanted)
    found = GitFiles.of(tmp_path)
    found.enter("")
    found.enter("sub/")
    assert {name for name in NAMES if name.endswith(".py") and not found.leaves_out(name)} == wanted


@pytest.mark.parametrize("version", [2, 4])
def test_the_index_is_read_in_each_version(tmp_path: Path, version: int) -> None:
    put(tmp_path, *(name for name in NAMES if name.endswith(".py")))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "update-index", f"--index-version={version}")
    assert sorted(GitFiles.of(tmp_path).modes) == sorted(git(tmp_path, "ls-files", "-z").split("\0")[:-1])


def test_nothing_is_ignored_where_there_is_no_working_tree(tmp_path: Path) -> None:
    put(tmp_path, *NAMES)
    (tmp_path / ".gitignore").write_text(RULES.replace("{end}", "   "))
    assert survey_repository(tmp_path).measures.files == sum(name.endswith(".py") for name in NAMES)


def test_links_stored_as_text_are_left_out(tmp_path: Path) -> None:
    put(tmp_path, "src/real.py", "src/short.py")
    put(tmp_path, "link.py", text="src/real.py")
    put(tmp_path, "gone.py", text="src/none.py")
    put(tmp_path, "out.py", text="../../etc/x.py")
    assert survey_repository(tmp_path).measures.files == 4


def test_a_broken_index_has_no_tracked_files(tmp_path: Path) -> None:
    chance = random.Random(3)
    put(tmp_path, "a.py")
    (tmp_path / ".git").mkdir()
    for length in (0, 3, 12, 80, 500):
        (tmp_path / ".git" / "index").write_bytes(
            b"DIRC\0\0\0\2\0\0\1\0"[:length] + chance.randbytes(max(0, length - 12))
        )
        assert survey_repository(tmp_path).measures.files == 1


def test_model_tokens_are_those_of_the_encoding() -> None:
    pytest.importorskip("bpe_openai")
    from repoassay.survey import model_token_counter

    count = model_token_counter()
    assert (count(""), count("hello world"), count("x = 1\n")) == (0, 2, 5)
    # Long texts are counted in pieces: the same as their parts, which end where no token crosses.
    part = "value = [1, 2, 3]\n    # more\n"
    assert count(part * 5000) == 5000 * count(part)
