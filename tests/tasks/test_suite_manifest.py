"""Data apart from task folders: the list of what it must be, and taking it from a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from repoassay.errors import BadInput, BadTask
from repoassay.tasks.suite_data import take_data
from repoassay.tasks.suite_manifest import MANIFEST, DataState, read_manifest
from repoassay.types import SuiteData

DATA = SuiteData(source="https://example.org/x", revision="0" * 40, inputs="in/{task}", truth="gt/{task}")
FILES = {"in/one/a.txt": b"alpha", "in/one/deep/b.txt": b"beta", "gt/one/t.txt": b"truth", "in/two/c.bin": b"\0\1"}
ABSENT = b"nobody had this"
BLOB = hashlib.sha1(b"blob %d\0" % len(ABSENT) + ABSENT).hexdigest()[:8]


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REPOASSAY_DATA", str(tmp_path / "data"))
    lines = [f"{hashlib.sha256(content).hexdigest()}\t{len(content)}\t{name}" for name, content in FILES.items()]
    (tmp_path / MANIFEST).write_text("\n".join(["# comment", *lines, f"git:{BLOB}\t-\tgt/two/absent.wav", ""]))
    source = tmp_path / "source"
    for name, content in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    return tmp_path


def test_what_is_right_is_taken_and_found_by_its_task(suite: Path) -> None:
    manifest = read_manifest(suite, "mine", DATA)
    assert not manifest.root.exists()
    found = take_data(manifest, suite / "source")
    assert {file.path for file in found[DataState.RIGHT]} == set(FILES)
    assert [file.path for file in found[DataState.MISSING]] == ["gt/two/absent.wav"]
    assert manifest.here
    one, two = manifest.elsewhere("one"), manifest.elsewhere("two")
    assert one.files == {"inputs/a.txt": 5, "inputs/deep/b.txt": 4, "tests/t.txt": 5}
    assert (one.inputs / "deep/b.txt").read_bytes() == b"beta"
    assert (one.absent, two.absent) == ((), ("tests/absent.wav",))
    assert one.digest != two.digest


def test_what_nobody_had_is_known_by_its_git_name(suite: Path) -> None:
    manifest = read_manifest(suite, "mine", DATA)
    late = suite / "source/gt/two/absent.wav"
    late.parent.mkdir(parents=True)
    late.write_bytes(b"something else")
    assert [file.path for file in take_data(manifest, suite / "source")[DataState.CHANGED]] == ["gt/two/absent.wav"]
    late.write_bytes(ABSENT)
    assert not take_data(manifest, suite / "source")[DataState.CHANGED]
    assert manifest.elsewhere("two").absent == ()


def test_what_is_changed_is_never_taken_and_a_second_call_goes_on(suite: Path) -> None:
    manifest = read_manifest(suite, "mine", DATA)
    (suite / "source/in/one/a.txt").write_bytes(b"ALPHA")
    (suite / "source/gt/one/t.txt").unlink()
    found = take_data(manifest, suite / "source")
    assert [file.path for file in found[DataState.CHANGED]] == ["in/one/a.txt"]
    assert not (manifest.root / "in/one/a.txt").exists()
    assert "gt/one/t.txt" in {file.path for file in found[DataState.MISSING]}
    (suite / "source/in/one/a.txt").write_bytes(b"alpha")
    before = (manifest.root / "in/two/c.bin").stat().st_mtime_ns
    found = take_data(manifest, suite / "source")
    assert not found[DataState.CHANGED]
    assert (manifest.root / "in/two/c.bin").stat().st_mtime_ns == before


def test_a_link_is_not_the_file(suite: Path) -> None:
    manifest = read_manifest(suite, "mine", DATA)
    (suite / "source/in/one/a.txt").unlink()
    (suite / "elsewhere").write_bytes(b"alpha")
    (suite / "source/in/one/a.txt").symlink_to(suite / "elsewhere")
    assert "in/one/a.txt" in {file.path for file in take_data(manifest, suite / "source")[DataState.MISSING]}


def test_a_folder_without_any_file_is_refused(suite: Path) -> None:
    with pytest.raises(BadInput, match="holds no file"):
        take_data(read_manifest(suite, "mine", DATA), suite / "data")


@pytest.mark.parametrize(
    "line", ["one", "a\tb", "x\t1\tpath", f"{'0' * 64}\t-\tp", f"{'0' * 64}\t1\t../p", f"{'0' * 64}\t1\t/p"]
)
def test_a_list_that_cannot_be_used_is_a_problem(suite: Path, line: str) -> None:
    (suite / MANIFEST).write_text(line + "\n")
    with pytest.raises(BadTask, match="cannot be used"):
        read_manifest(suite, "mine", DATA)
