"""Transcripts, against jiwer and against counting by hand."""

from __future__ import annotations

from pathlib import Path

import jiwer
import pytest
from hypothesis import given, settings, strategies as st

from repoassay.benchmarks.gittaskbench.metrics.speech import chinese_words, error_rate, letters_of, words_of
from repoassay.grading.protocol import UnreadableOutput
from repoassay.grading.registry import get

WORDS = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8)
STOP, COMMA = "\u3002", "\uff0c"


def value(name: str, folder: Path, ours: str | bytes, theirs: str, **options: object) -> float:
    (folder / "o.txt").write_bytes(ours.encode() if isinstance(ours, str) else ours)
    (folder / "t.txt").write_text(theirs, encoding="utf-8")
    return get(name).measure(folder / "o.txt", folder / "t.txt", **options).value


@given(WORDS, WORDS)
@settings(max_examples=100, deadline=None)
def test_rates_are_those_of_jiwer(ours: list[str], theirs: list[str]) -> None:
    said, wanted = " ".join(ours), " ".join(theirs)
    assert error_rate(words_of(said), words_of(wanted)) == pytest.approx(jiwer.wer(wanted, said))
    assert error_rate(letters_of(said), letters_of(wanted)) == pytest.approx(jiwer.cer("".join(theirs), "".join(ours)))


def test_what_cannot_be_heard_does_not_count(tmp_path: Path) -> None:
    assert value("transcript_cer", tmp_path, "It\u2019s   HALF\u2014past\n3!", "its half past \uff13") == 0
    assert value("transcript_wer", tmp_path, "\u201cHappy birthday!\u201d", "happy Birthday") == 0
    assert value("transcript_wer", tmp_path, "don't", "dont") == 0


def test_surplus_counts(tmp_path: Path) -> None:
    assert value("transcript_cer", tmp_path, "x" * 300 + "abc", "abc") == 100
    assert value("transcript_wer", tmp_path, "happy birthday to you", "happy birthday") == 1
    assert value("transcript_cer", tmp_path, "...", "abc") == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_encodings_of_chinese(tmp_path: Path, encoding: str) -> None:
    text = f"破除垄断的最好方法{STOP}"
    assert value("transcript_cer", tmp_path, text.encode(encoding), text) == 0


@pytest.mark.parametrize("content", [b"", b"\xff\xff\xff", b"\0\0", b"a" * 300_000])
def test_no_transcript(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableOutput):
        value("transcript_cer", tmp_path, content, "abc")


def test_words_of_chinese_need_no_spaces() -> None:
    assert chinese_words(f"新 经济最终将{COMMA}取得胜利{STOP}") == ["新", "经济", "最终", "将", "取得胜利"]


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ("ab,cd.ef.", 1),
        (f"ab{COMMA}cd{STOP}ef{STOP}", 1),
        ("ab , cd .\nef .", 1),
        ("ax,cd.ef.", 1),  # a misheard letter before a mark
        ("a,cd.ef.", 1),  # a missing one
        ("abb,cd.ef.", 1),  # one too many
        ("abcdef,..", 1 / 3),  # marks at the end: one is at its place
        (",..abcdef", 0),
        ("ab,cd.ef", 2 / 3),
        ("ab.cd,ef.", 1 / 3),
        ("ab,,cd..ef..", 1 / 2),
        ("a,b,c,d,e,f,", 1 / 6),
        ("abcdef", 0),
        (",.!?", 0),
    ],
)
def test_marks_count_where_they_stand(tmp_path: Path, ours: str, expected: float) -> None:
    assert value("marks_agreement", tmp_path, ours, "ab,cd.ef.") == pytest.approx(expected)


def test_the_text_of_a_printed_result(tmp_path: Path) -> None:
    printed = "[{'key': 'rand', 'text': 'ab,cd.', 'timestamp': [[1, 2]]}]"
    assert value("marks_agreement", tmp_path, printed, "ab,cd.", field=True) == 1
    assert value("transcript_wer", tmp_path, printed, "ab cd", field=True) == pytest.approx(0)
    assert value("transcript_wer", tmp_path, printed, "ab cd") > 1
