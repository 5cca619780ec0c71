"""Counting lines and tokens of known, of any and of hostile text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.survey.source import code_lines, count_tokens, line_count


@pytest.mark.parametrize(
    ("text", "tokens", "code", "lines"),
    [
        ("", 0, 0, 0),
        ("\n", 0, 0, 1),
        ("# only\n\n   # comments", 0, 0, 3),
        ("x=1", 3, 1, 1),
        ("x = 1  # why\n", 3, 1, 1),
        ('"""One\n\n# two\n"""\n', 1, 3, 4),
        ("a = '''\n#\n''' # b\n# c\n", 3, 3, 4),
        ('s = "#"\n', 3, 1, 1),
        ("a = 1 + \\\n    2\n", 5, 2, 2),
        ('x = 1  # """ opens no string\n# a comment\n', 3, 1, 2),
        ("# don't\n# ''' either\nx = 1", 3, 1, 3),
        ('return"x"', 2, 1, 1),
        ("x = f'{a!r:>{b}} {{'\n", 3, 1, 1),
        ("1if x else 2", 5, 1, 1),
        ("0x1for x in y", 5, 1, 1),  # as Python cuts it: 0x1f, or, x, in, y
        ("1..real", 3, 1, 1),
        ("x[1:...]", 6, 1, 1),
        ("a\n\f\nb\n", 2, 2, 3),
        ("\f# form feed before a comment\n", 0, 0, 1),
        ("ไม่ = 1", 3, 1, 1),  # a combining mark belongs to the name
    ],
)
def test_known_counts(text: str, tokens: int, code: int, lines: int) -> None:
    assert (count_tokens(text), code_lines(text), line_count(text)) == (tokens, code, lines)


@given(st.text(alphabet="'\"\\#\n ab{}frb.0e", max_size=60))
def test_any_text_has_some_count(text: str) -> None:
    assert 0 <= count_tokens(text) <= len(text)
    assert 0 <= code_lines(text) <= line_count(text)


@pytest.mark.by_day(6)
@pytest.mark.parametrize(
    "piece", ['"""\\', "'''\\", "'\\", "'", '"', " ", "\n", "\\\n", "#", "rb", "\n #", "1e", ".", "\\"]
)
def test_hostile_repetition_takes_no_quadratic_time(piece: str) -> None:
    text = piece * (2**21 // len(piece))  # in quadratic time this would outlast the test's time limit
    assert count_tokens(text) <= len(text)
    assert code_lines(text) <= line_count(text)
