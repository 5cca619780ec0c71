"""Text and JSON as people leave them, and files that are neither."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text, read_documents, similarity
from repoassay.grading.protocol import UnreadableOutput


def written(folder: Path, data: bytes) -> Path:
    place = folder / "output.txt"
    place.write_bytes(data)
    return place


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_text_is_read_in_every_usual_encoding(encoding: str, tmp_path: Path) -> None:
    assert decode_text(written(tmp_path, "赛里木湖\r\n湖".encode(encoding)), chinese=True) == "赛里木湖\n湖"


@pytest.mark.parametrize(
    "data",
    [b"", b" \n\t", b"a\0b", bytes(range(256)) * 20, "赛里木湖".encode("gb18030"), b"\xff\xfe\x00", b"caf\xe9 x"],
)
def test_what_is_no_text_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(UnreadableOutput):
        decode_text(written(tmp_path, data))


def test_random_bytes_are_not_chinese(tmp_path: Path) -> None:
    data = bytes(pow(7, i, 65537) & 0xFF for i in range(1, 3000))
    with pytest.raises(UnreadableOutput):
        decode_text(written(tmp_path, data), chinese=True)


def test_documents_are_read_one_after_the_other(tmp_path: Path) -> None:
    assert read_documents(written(tmp_path, b'{"a": 1}\n{"a": 2}\r\n')) == [{"a": 1}, {"a": 2}]
    assert read_documents(written(tmp_path, b"[1,\n 2]")) == [[1, 2]]
    assert read_documents(written(tmp_path, b'{\n"a": 1\n}\n{\n"a": 2\n}')) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "data", [b"1 2 3", b'{"a": NaN}', b"[1, 2", b"{'a': 1}", b"[" * 100_000, b"[" * 300 + b"]" * 300]
)
def test_what_is_no_json_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(UnreadableOutput):
        read_documents(written(tmp_path, data))


@pytest.mark.parametrize(("one", "other"), [("kitten", "sitting"), ("", ""), ("abc", ""), ("a day", "a daisy")])
def test_similarity_is_that_of_difflib_without_its_junk(one: str, other: str) -> None:
    assert similarity(one, other) == pytest.approx(difflib.SequenceMatcher(None, one, other, autojunk=False).ratio())
