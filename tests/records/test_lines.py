"""JSON lines: one writer and one reader, whatever a crash, another writer or a hand left in the file."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.errors import BadInput
from repoassay.records.lines import OBJECTS, JsonLines, append_line, numbered_lines, record_codec
from repoassay.records.versions import NewerRecord
from repoassay.types import Record


class Note(Record):
    text: str = ""
    number: int = 0


def lines(path: Path, **options: object) -> JsonLines[Note]:
    return JsonLines(path, record_codec(Note), **options)  # type: ignore[arg-type]  # options differ in type


@pytest.mark.parametrize("fsync", [True, False])
def test_what_is_added_comes_back_and_names_its_version(tmp_path: Path, fsync: bool) -> None:
    path = tmp_path / "notes.jsonl"
    notes = [Note(text="a\nb\u2028"), Note(number=2), Note()]
    for note in notes:
        lines(path, fsync=fsync).append(note)
    assert lines(path).read().items == tuple(notes)
    assert [json.loads(line)["schema_version"] for line in path.read_bytes().splitlines()] == [1, 1, 1]


def test_lines_of_repoassay_0_1_have_no_version(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_bytes(b'{"text":"a"}\n{"number":3}\n')
    assert lines(tmp_path / "old.jsonl").read().items == (Note(text="a"), Note(number=3))
    assert lines(tmp_path / "old.jsonl").read_all("note") == [Note(text="a"), Note(number=3)]


@given(st.binary(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_bytes_leave_whole_records_before_and_after_readable(tmp_path_factory, junk: bytes) -> None:  # type: ignore[no-untyped-def]  # fixture
    path = tmp_path_factory.mktemp("lines") / "notes.jsonl"
    notes = lines(path)
    notes.append(Note(text="first"))
    with path.open("ab") as stream:
        stream.write(junk)
    notes.append(Note(text="last"))
    found = notes.read().items
    assert (found[0].text, found[-1].text) == ("first", "last")


def test_a_torn_last_line_is_cut_off_where_lines_must_all_be_whole(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    notes = lines(path)
    assert notes.open_all("note") == []
    notes.append(Note(number=1))
    whole = path.read_bytes()
    for torn in (b"{", b'{"text":"' + b"x" * 200_000):
        path.write_bytes(whole + torn)
        assert notes.read_all("note") == [Note(number=1)]
        assert notes.open_all("note") == [Note(number=1)]
        assert path.read_bytes() == whole
    path.write_bytes(b"torn alone")
    assert notes.open_all("note") == []
    assert path.read_bytes() == b""


def test_another_line_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"number":1}\n{"x":1}\n{"number":2}\n')
    with pytest.raises(BadInput, match=r"notes\.jsonl: line 2 is no note"):
        lines(path).read_all("note")
    assert lines(path).read().torn == (2,)


def test_a_line_of_a_newer_version_is_a_sentence_and_never_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"number":1}\n{"schema_version":2}\n')
    for read in (lines(path).read, lambda: lines(path).read_all("note"), JsonLines(path, OBJECTS).read):
        with pytest.raises(NewerRecord, match=r"notes\.jsonl, line 2, was written by a newer RepoAssay"):
            read()


def test_lines_that_are_too_long_are_numbered_as_one(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"number":1}\n{"text":"' + b"x" * 5000 + b'"}\n{"number":2}\n')
    found = lines(path, longest=1000).read()
    assert [note.number for note in found.items] == [1, 2]
    assert found.torn == (2,)
    assert [number for number, _ in numbered_lines(path, longest=7)] == [1, 2, 3]


def test_a_file_that_is_full_or_too_large_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    notes = lines(path, limit=100)
    notes.append(Note(text="x" * 50))
    with pytest.raises(BadInput, match="no more fit"):
        notes.append(Note(text="x" * 50))
    assert len(notes.read().items) == 1
    with path.open("ab") as stream:
        stream.truncate(200)
    with pytest.raises(BadInput, match="larger than"):
        notes.read()


@pytest.mark.parametrize("what", ["folder", "pipe", "link"])
def test_what_is_no_file_is_neither_read_nor_written(tmp_path: Path, what: str) -> None:
    path = tmp_path / "notes.jsonl"
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    else:
        (tmp_path / "away").write_bytes(b"")
        path.symlink_to(tmp_path / "away")
    notes = lines(path)
    for act in (
        notes.read,
        lambda: notes.read_all("note"),
        lambda: notes.append(Note()),
        notes.create,
        notes.cut_torn_line,
    ):
        with pytest.raises(BadInput, match=r"notes\.jsonl cannot be"):
            act()
    if what == "link":
        lines(path, follow=True).append(Note(number=1))
        assert lines(path, follow=True).read().items == (Note(number=1),)


def test_a_missing_file_is_empty_and_its_folder_is_made_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "new/folder/notes.jsonl"
    assert lines(path).read().items == ()
    assert lines(path).read_all("note") == []
    with pytest.raises(BadInput, match="No such file"):
        lines(path).append(Note())
    assert lines(path).open_all("note") == []
    lines(path).append(Note())


def test_writers_at_the_same_time_tear_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"torn")

    def write(number: int) -> None:
        for _ in range(20):
            lines(path, fsync=False).append(Note(text="x" * 3000, number=number))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = lines(path).read()
    assert len(found.items) == 80
    assert found.torn == (1,)


def test_a_line_goes_to_a_folder_that_is_open_already(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        append_line("notes.jsonl", b"{}", folder=descriptor)
    finally:
        os.close(descriptor)
    assert (tmp_path / "notes.jsonl").read_bytes() == b"{}\n"
