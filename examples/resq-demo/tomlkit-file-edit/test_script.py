import os
from pathlib import Path

import pytest

from tomlkit.toml_file import TOMLFile

TEXT = "# kept\n[project]\nversion = '1.0'  # also kept\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.toml"
    path.write_bytes(TEXT.encode())
    return path


def test_change_is_written(path):
    with TOMLFile(path).edit() as document:
        document["project"]["version"] = "1.1"
        assert path.read_bytes() == TEXT.encode()
    assert path.read_bytes() == TEXT.replace("'1.0'", '"1.1"').encode()


def test_nothing_is_written_on_error(path):
    with pytest.raises(KeyError):
        with TOMLFile(path).edit() as document:
            document["project"]["version"] = "1.1"
            document["absent"]
    assert path.read_bytes() == TEXT.encode()


def test_nothing_is_written_without_change(path):
    os.utime(path, ns=(10**18, 10**18))
    with TOMLFile(path).edit() as document:
        assert document["project"]["version"] == "1.0"
    assert path.stat().st_mtime_ns == 10**18
    assert path.read_bytes() == TEXT.encode()


def test_line_ends_are_kept(path):
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    with TOMLFile(path).edit() as document:
        document["project"]["name"] = "x"
    content = path.read_bytes()
    assert b'name = "x"\r\n' in content
    assert content.count(b"\n") == content.count(b"\r\n")


def test_several_changes(path):
    with TOMLFile(path).edit() as document:
        document["project"]["build"] = 4107
        document["project"]["tags"] = ["new", "hot"]
        del document["project"]["version"]
    with TOMLFile(path).edit() as document:
        document["project"]["build"] += 6
    assert path.read_text() == '# kept\n[project]\nbuild = 4113\ntags = ["new", "hot"]\n'


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        with TOMLFile(tmp_path / "absent.toml").edit():
            pass
    assert not (tmp_path / "absent.toml").exists()


def test_reading_and_writing_are_as_before(path):
    file = TOMLFile(path)
    file.write(file.read())
    assert path.read_bytes() == TEXT.encode()


def test_changelog():
    text = Path("CHANGELOG.md").read_text(encoding="utf-8")
    assert "edit()" in text.split("## [0.13.3]")[0]
