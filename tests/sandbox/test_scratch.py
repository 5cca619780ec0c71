"""Temporary folders, and what is left of those of a process that was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repoassay.errors import Unavailable
from repoassay.sandbox.scratch import make_temporary, temporary_folder

MAKES = """
import os, signal, sys
from repoassay.sandbox import make_temporary, temporary_folder
with temporary_folder("proof") as place:
    open(os.path.join(place, "file"), "w").close()
    os.mkdir(make_temporary("box") / "inner", 0)
    if sys.argv[1:]:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def make(place: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", MAKES, *arguments], env=os.environ | {"TMPDIR": str(place)}, check=False)


def test_what_a_killed_process_left_is_removed_and_a_living_ones_is_not(place: Path) -> None:
    own = make_temporary("ours")
    make(place, "killed")
    (left,) = {*place.iterdir()} - {own.parent}
    assert {each.name.partition("-")[0] for each in left.iterdir()} == {".repoassay", "proof", "box"}
    others = [place / f"repoassay-{name}" for name in ("0.log", "link", "folder", "environment-of-uv")]
    others[0].touch()
    others[1].symlink_to(left)
    others[2].mkdir()  # nothing says whose it is
    others[3].mkdir()
    (others[3] / ".lock").touch()
    make(place)
    assert {*place.iterdir()} == {own.parent, *others}
    assert own.is_dir()


def test_a_folder_goes_with_its_context_and_all_with_the_process(place: Path) -> None:
    with temporary_folder("proof") as made:
        assert Path(made).parent == make_temporary("other").parent
    assert not Path(made).exists()


def test_where_nothing_can_be_written_is_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(place / "gone"))
    with pytest.raises(Unavailable, match=r"Temporary files cannot be written .*gone.*TMPDIR"):
        make_temporary("box")
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: [str(place / "gone")])
    with pytest.raises(Unavailable, match="Temporary files cannot be written"):
        make_temporary("box")
