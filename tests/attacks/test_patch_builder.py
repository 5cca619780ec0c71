"""Patches as attacks make them: Git's lines, any bytes, new files and changed ones."""

from __future__ import annotations

from pathlib import Path

from repoassay.attacks import Target
from repoassay.attacks.patch_builder import appended, binary, created
from repoassay.diffs import apply_patch, read_patch


def applied(patch: bytes, base: Path) -> dict[str, bytes]:
    return {name: edit.content for name, edit in apply_patch(read_patch(patch), base).edits.items() if edit}


def test_what_is_appended_leaves_every_byte_above_it_alone(tmp_path: Path) -> None:
    for old in (b"", b"a = 1\n", b"a = 1", b"a = 1\r\n\x0cb = '\xe2\x80\xa8'\n", b"# \xff\xfe\nx = 1\n"):
        (tmp_path / "one.py").write_bytes(old)
        target = Target("task", "python", tmp_path, "one.py", (), ())
        made = applied(appended(target, "attack = 1"), tmp_path)["one.py"]
        assert made.startswith(old) and made.endswith(b"\n\nattack = 1\n")


def test_files_are_made_or_changed_and_what_is_the_same_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("old\n")
    (tmp_path / "same.txt").write_text("same\n")
    target = Target("task", "python", tmp_path, "one.py", (), ())
    patch = created(target, {"old.txt": "new\n", "same.txt": "same\n", "sub/new.txt": "new"}) + binary("b", b"\0\1")
    assert applied(patch, tmp_path) == {"old.txt": b"new\n", "sub/new.txt": b"new", "b": b"\0\1"}
