"""Hostile text made printable: one table for people, judges and the launcher, and nothing hidden gets past it."""

from __future__ import annotations

import sys
import time
import unicodedata

import pytest
from hypothesis import given, strategies as st

from hidden_texts import HIDDEN
from repoassay.sandbox.launcher import collect
from repoassay.text import (
    block,
    clip,
    code_point,
    escape_hidden,
    is_hidden,
    join_names,
    normalize_name,
    one_line,
    printable,
    quote,
    suggest,
)

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]


@pytest.mark.long
def test_the_table_holds_every_character_that_is_not_printable_and_every_default_ignorable_one() -> None:
    # Of Unicode's DerivedCoreProperties, Default_Ignorable_Code_Point.
    ignorable = (
        "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u3164\ufeff\uffa0"
        + "".join(map(chr, (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))))
        + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4))))
        + "".join(map(chr, (*range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000))))
    )
    assert all(map(is_hidden, ignorable))
    categories = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    hidden = {letter for letter in EVERY if is_hidden(letter)}
    assert hidden >= {letter for letter in EVERY if unicodedata.category(letter) in categories} - {" "}
    assert not any(map(is_hidden, " aZ~éß漢字한کखא🙂→…\u0301"))


@pytest.mark.exhaustive
def test_the_launcher_escapes_the_same_characters_in_the_same_way() -> None:
    whole = "".join(EVERY)
    same = collect._legible(whole) == escape_hidden(whole)
    assert same or [letter for letter in EVERY if collect._legible(letter) != escape_hidden(letter)] == []


@pytest.mark.parametrize("kind", HIDDEN)
def test_nothing_hidden_stays(kind: str) -> None:
    for text in (printable(HIDDEN[kind], 2000), block(HIDDEN[kind]), one_line(HIDDEN[kind]), quote(HIDDEN[kind])):
        assert not any(is_hidden(letter) for letter in text)
        assert "\u0301" * 9 not in text
        text.encode()


@given(st.text(), st.text(alphabet="\n\t"))
def test_what_is_left_is_plain_and_what_was_plain_is_left(text: str, keep: str) -> None:
    found = escape_hidden(text, keep)
    assert not any(is_hidden(letter) for letter in found if letter not in keep)
    assert escape_hidden(found, keep) == found
    if not any(is_hidden(letter) for letter in text):
        assert found == text
    assert len(printable(text, 20)) <= 20


def test_a_character_is_written_as_python_or_as_a_report_writes_it() -> None:
    assert block("a\x1b[2J\u202e\U000e0041\n\tb\r") == "a\\x1b[2J\\u202e\\U000e0041\n\tb\\r"
    assert block("a\x1b[2J\u202e\U000e0041\n", code_point) == "a^[[2J⟨U+202E⟩⟨U+E0041⟩\n"
    assert printable("a\nb") == "a\\nb" and one_line(" a\n\n b\t") == "a b"
    assert printable("x" * 50, 10) == "xxxxxxx..." and clip("x" * 50, 10) == "x" * 9 + "…"
    assert quote(3) == "'3'"


def test_languages_with_many_marks_stay_readable() -> None:
    words = "tiếng Việt שָׁלוֹם สวัสดี हिन्दी ཧཱུྃ"
    for form in (words, unicodedata.normalize("NFD", words)):
        assert escape_hidden(form) == form
    assert escape_hidden("a" + "\u0301" * 9) == "a" + "\u0301" * 8 + "\\u0301"


@pytest.mark.parametrize("text", ["\u0301", "\u202e", "漢", "a\u0301", "\ue000\n"])
def test_long_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    escape_hidden(text * 1_000_000)
    assert time.process_time() - start < 10


def test_names_are_listed_and_the_nearest_is_suggested() -> None:
    assert join_names(["a", "b\x1b", "c"], 2) == "a, b\\x1b and 1 more"
    assert suggest("tiemout", ["timeout", "model"]) == "Did you mean timeout?"
    assert suggest("zzz", ["timeout", "model"]) == "Known are model, timeout."
    assert suggest("zzz", ["timeout"], list_known=False) == suggest("zzz", []) == ""
    assert suggest("n1", [f"n{number}" for number in range(501)]) == ""


@pytest.mark.parametrize("name", ["Friendly-Bard", "FRIENDLY.bard", "friendly__bard", "friendly-_.bard"])
def test_names_of_projects_that_an_index_takes_for_one_are_one(name: str) -> None:
    assert normalize_name(name) == "friendly-bard"
