"""Short answers: what surrounds them is forgiven, what they say is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import get


def answer(folder: Path, content: str | bytes, text: str = "stegano") -> float:
    path = folder / "o.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return get("answer_matches").measure(path, text=text).value


@pytest.mark.parametrize("content", ["stegano", " stegano\r\n", "\ufeffstegano", "'stegano'\n", "\u201cstegano\u201d"])
def test_what_surrounds_an_answer(tmp_path: Path, content: str) -> None:
    assert answer(tmp_path, content) == 1


@pytest.mark.parametrize(
    "content", ["Stegano", "stegano.", "'stegano", "'stegano' 'stegano'", "stegano\nno", "ste gano"]
)
def test_what_is_another_answer(tmp_path: Path, content: str) -> None:
    assert answer(tmp_path, content) == 0


def test_quotes_may_be_the_answer(tmp_path: Path) -> None:
    assert answer(tmp_path, "''", "''") == 1


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff", b"\x89PNG\r\n\x1a\n\x00\x00"])
def test_no_text(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableOutput):
        answer(tmp_path, content)


def judged(folder: Path, content: str, truth: str = '{"k": false}') -> float:
    (folder / "o.json").write_text(content, encoding="utf-8")
    (folder / "t.json").write_text(truth, encoding="utf-8")
    return get("json_answer_matches").measure(folder / "o.json", folder / "t.json", key="k").value


def test_json_of_another_type_is_another_answer(tmp_path: Path) -> None:
    assert judged(tmp_path, '\ufeff{"k": false, "l": 1}\r\n') == 1
    for content in ('{"k": 0}', '{"k": "false"}', '{"k": null}', '{"k": [false]}', '{"K": false}', "[]", "false"):
        assert judged(tmp_path, content) == 0
    assert judged(tmp_path, '{"k": true, "k": false}') == 0
    assert judged(tmp_path, '{"k": true}', '{"k": 1}') == 0


@pytest.mark.parametrize("content", ["{", "", "[" * 10**6, '{"k": ' + "9" * 5000 + "}", "{'k': False}"])
def test_no_json(tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableOutput):
        judged(tmp_path, content)
