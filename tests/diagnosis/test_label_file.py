"""Labels on disk: added, never changed, read back whatever a crash or a hand left between them."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from repoassay.diagnosis import ErrorClass, Label, label_from_text
from repoassay.diagnosis.labels import LABELS, label_book
from repoassay.errors import BadInput

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def label(attempt: str = "A", author: str = "Ada", said: str = "E1", note: str = "") -> Label:
    return label_from_text(said, attempt=attempt, author=author, at=NOON, note=note)


def test_what_is_added_comes_back_in_order(tmp_path: Path) -> None:
    book = label_book(tmp_path)
    assert book.read().items == ()
    given_ = [label(), label("B", "Grace", "unclear", "nobody can tell\nreally \u202e"), label(said="none")]
    for one in given_:
        book.append(one)
    found = label_book(tmp_path).read()
    assert list(found.items) == given_
    assert found.torn == ()


def test_nothing_that_was_written_changes(tmp_path: Path) -> None:
    book = label_book(tmp_path)
    book.append(label())
    before = (tmp_path / LABELS).read_bytes()
    book.append(label(said="E2"))
    assert (tmp_path / LABELS).read_bytes().startswith(before)


def test_a_torn_last_line_is_told_and_swallows_nothing(tmp_path: Path) -> None:
    book = label_book(tmp_path)
    book.append(label())
    with (tmp_path / LABELS).open("ab") as stream:
        stream.write(b'{"attempt":"A","author":"Gr')
    assert book.read().torn == (2,)
    book.append(label("B"))
    found = book.read()
    assert [one.attempt for one in found.items] == ["A", "B"]
    assert found.torn == (2,)


@pytest.mark.parametrize(
    "line",
    [
        b"null", b"[]", b"{}", b"\xff\xfe", b"{" * 20_000, b'{"attempt":"A","author":"Ada"}',
        b'{"attempt":"A","author":"Ada","at":"2026-01-31T12:00:00","primary":"E1"}',  # a time without its zone
        b'{"attempt":"A","author":"Ada","at":"2026-01-31T12:00:00Z","primary":"E9"}',
        b'{"attempt":"A","author":"Ada","at":"2026-01-31T12:00:00Z","primary":"E1","subclass":"interruption"}',
        b'{"attempt":"A","author":"Ada","at":"2026-01-31T12:00:00Z","primary":"E1","extra":1}',
        b'{"attempt":"A","author":"Ada","at":"2026-01-31T12:00:00Z","note":"' + b"x" * 5000 + b'"}',
    ],
)  # fmt: skip
def test_a_line_that_is_no_label_is_passed_over(tmp_path: Path, line: bytes) -> None:
    (tmp_path / LABELS).write_bytes(line + b"\n")
    book = label_book(tmp_path)
    book.append(label("B"))
    found = book.read()
    assert [one.attempt for one in found.items] == ["B"]
    assert found.torn == (1,)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300))
def test_whatever_stands_there_reading_ends_in_labels_and_line_numbers(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / LABELS).write_bytes(content)
        label_book(Path(folder)).append(label("last"))
        assert label_book(Path(folder)).read().items[-1].attempt == "last"


def test_a_link_is_neither_followed_nor_written_through(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine\n")
    (tmp_path / LABELS).symlink_to(other)
    with pytest.raises(BadInput, match=LABELS):
        label_book(tmp_path).append(label())
    with pytest.raises(BadInput, match=LABELS):
        label_book(tmp_path).read()
    assert other.read_text() == "mine\n"


def test_a_pipe_or_a_folder_in_its_place_is_one_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / LABELS)
    with pytest.raises(BadInput, match="plain file"):
        label_book(tmp_path).read()
    (tmp_path / LABELS).unlink()
    (tmp_path / LABELS).mkdir()
    with pytest.raises(BadInput, match=LABELS):
        label_book(tmp_path).append(label())


def test_a_file_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / LABELS).open("wb") as stream:
        stream.truncate(65 * 2**20)
    with pytest.raises(BadInput, match="64 MiB"):
        label_book(tmp_path).read()
    with pytest.raises(BadInput, match="no more fit"):
        label_book(tmp_path).append(label())


def test_several_writers_tear_nothing(tmp_path: Path) -> None:
    def write(author: str) -> None:
        for number in range(20):
            label_book(tmp_path).append(label(f"A{number}", author, note="n" * 900))

    threads = [threading.Thread(target=write, args=(f"P{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = label_book(tmp_path).read()
    assert len(found.items) == 80
    assert found.torn == ()
    assert {one.primary for one in found.items} == {ErrorClass.E1}
