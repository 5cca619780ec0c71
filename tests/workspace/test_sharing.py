"""Hard links between trees of the cache: only for what is equal, and never through links."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

from repoassay.workspace.build_output import is_intact, manifest_place, take_over
from repoassay.workspace.sharing import file_states, share_files


def a_file(path: Path, text: str, moment: int = 1000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (moment, moment))
    return path


def test_files_of_one_content_and_time_become_one(tmp_path: Path) -> None:
    tree, original = tmp_path / "tree", tmp_path / "original"
    for name, text, moment in (
        ("a/same", "x", 1000),
        ("changed", "y", 1000),
        ("younger", "x", 2000),
        ("new", "x", 1000),
    ):
        a_file(tree / name, text, moment)
    for name in ("a/same", "changed", "younger"):
        a_file(original / name, "x")
    share_files(tree, original)
    assert [path.name for path in sorted(tree.rglob("*")) if path.is_file() and path.stat().st_nlink > 1] == ["same"]
    assert (tree / "a/same").samefile(original / "a/same")
    assert (tree / "changed").read_text() == "y"
    share_files(tree, original, times=False)
    assert (tree / "younger").samefile(original / "younger")


def test_a_file_touched_after_it_was_copied_is_read_again_whatever_time_it_shows(tmp_path: Path) -> None:
    tree, original = tmp_path / "tree", tmp_path / "original"
    for name in ("same", "forged", "unknown"):
        a_file(original / name, "x")
        a_file(tree / name, "x")
    copied = {name: state for name, state in file_states(tree).items() if name != "unknown"}
    time.sleep(0.05)  # the kernel's clock of files ticks some hundred times a second
    a_file(tree / "forged", "y")  # as long, and with the time it had
    share_files(tree, original, copied=copied)
    assert [(tree / name).samefile(original / name) for name in ("same", "forged", "unknown")] == [True, False, True]
    assert (tree / "forged").read_text() == "y"


def test_digests_of_shared_files_are_taken_from_where_they_were_worked_out(tmp_path: Path) -> None:
    tree, original = tmp_path / "tree", tmp_path / "original"
    for name in ("same", "other"):
        a_file(original / name, "x")
        a_file(tree / name, "x" if name == "same" else "z")
    take_over(original, manifest_place(original))
    share_files(tree, original)
    take_over(tree, manifest_place(tree), shared_with=original)
    told = json.loads(manifest_place(tree).read_text())
    assert [told[name][2] for name in ("same", "other")] == [
        hashlib.sha256(content).hexdigest() for content in (b"x", b"z")
    ]
    assert is_intact(tree, manifest_place(tree))


def test_a_program_does_not_become_a_file_that_is_none(tmp_path: Path) -> None:
    tree, original = tmp_path / "tree", tmp_path / "original"
    a_file(tree / "run", "x").chmod(0o755)
    a_file(original / "run", "x").chmod(0o644)
    share_files(tree, original)
    assert os.access(tree / "run", os.X_OK)


def test_links_are_neither_followed_nor_replaced(tmp_path: Path) -> None:
    tree, original, elsewhere = tmp_path / "tree", tmp_path / "original", tmp_path / "elsewhere"
    a_file(elsewhere / "f", "x")
    a_file(original / "folder/f", "x")
    a_file(original / "file", "x")
    tree.mkdir()
    (tree / "folder").symlink_to(elsewhere)
    (tree / "file").symlink_to(elsewhere / "f")
    share_files(tree, original)
    assert (tree / "folder").is_symlink()
    assert (tree / "file").is_symlink()
    share_files(tree / "folder", original / "folder")
    assert (elsewhere / "f").stat().st_nlink == 1


def test_a_tree_stays_intact_when_another_comes_to_share_its_files(tmp_path: Path) -> None:
    tree, original = tmp_path / "tree", tmp_path / "original"
    a_file(original / "f", "x")
    take_over(original, manifest_place(original))
    before = manifest_place(original).read_bytes()
    a_file(tree / "f", "x")
    share_files(tree, original)
    assert is_intact(original, manifest_place(original))
    assert manifest_place(original).read_bytes() != before, "or every process would read the file again"
    is_intact.cache_clear()
    (original / "f").write_text("y")
    assert not is_intact(original, manifest_place(original))
    is_intact.cache_clear()
