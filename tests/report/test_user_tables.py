"""Scores and sizes a user gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.errors import BadInput
from repoassay.report.user_tables import read_scores, read_sizes


def test_csv_and_toml_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("\ufeffmodel,benchmark,score\r\na,HumanEval,90.5\r\nb,HumanEval,1e1\r\n", "utf-8")
    (tmp_path / "s.toml").write_text(
        '[[score]]\nmodel = "a"\nbenchmark = "HumanEval"\nscore = 90.5\n'
        '[[score]]\nmodel = "b"\nbenchmark = "HumanEval"\nscore = 10\n'
    )
    assert read_scores(tmp_path / "s.csv") == read_scores(tmp_path / "s.toml") == {"HumanEval": {"a": 90.5, "b": 10}}
    (tmp_path / "z.csv").write_text("repository,measure,value\nsums,lines,12\n")
    assert read_sizes(tmp_path / "z.csv") == {"lines": {"sums": 12}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", ""), ("s.csv", "model,score\na,1\n"), ("s.csv", "model,benchmark,score\na,b,nan\n"),
        ("s.csv", "model,benchmark,score\na,b,\n"), ("s.csv", "model,benchmark,score\n,b,1\n"),
        ("s.csv", "model,benchmark,score\na,b,1\na,b,2\n"), ("s.csv", "model,benchmark,score\na,b\n"),
        ("s.csv", 'model,benchmark,score\n"a,b,1\n'), ("s.csv", f"model,benchmark,score\n{'x' * 999},b,1\n"),
        ("s.toml", "score = 1"), ("s.toml", "[[score]]\nmodel = 1\nbenchmark = 'b'\nscore = 1"), ("s.toml", "["),
        ("s.toml", "[[score]]\nmodel = 'a'\nbenchmark = 'b'\nscore = true"),
        ("s.csv", "model,benchmark,score\na,b,1e999\n"),
    ],
)  # fmt: skip
def test_what_is_no_score_is_one_sentence(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=name):
        read_scores(tmp_path / name)


def test_no_file_and_no_text(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.csv", tmp_path / "s.csv", tmp_path):
        with pytest.raises(BadInput):
            read_scores(path)
