"""Made-up tables and texts."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.metrics.made_up import (
    columns_distinct,
    lines_kept,
    plausible_rows,
    text_extent,
    text_kept,
    text_variety,
    words_kept,
    words_plausible,
)
from repoassay.errors import InfraFault

TEXT = "\n".join(f"Line {n} tells of the {n * 7}th river and of its {n * 3} bridges." for n in range(20))


def put(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def rows(folder: Path, text: str) -> float:
    looks = ["company", "address", "phone"]
    return plausible_rows(put(folder, "o.csv", text), columns=["Name", "Address", "Phone"], looks=looks).value


GOOD = 'Name,Address,Phone\nA Ltd,"1 Mill Lane, X",841-671-9228x36995\n"B, Inc",Unit 5358 Box 9495,(535)229-4706\n'


def test_plausible_rows_are_counted(tmp_path: Path) -> None:
    assert rows(tmp_path, GOOD) == 2
    assert rows(tmp_path, "\ufeff" + GOOD.upper().replace("\n", "\r\n\r\n")) == 2
    assert rows(tmp_path, GOOD.replace("841-671-9228x36995", "+49 30 1234567 ext. 12")) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [("841-671-9228x36995", ""), ("841-671-9228x36995", "7"), ("841-671-9228x36995", "call 5 times 55555"),
     ("A Ltd", "7"), ("A Ltd", " "), ('"1 Mill Lane, X"', "1 Mill Lane, X"), ('"1 Mill Lane, X"', "aaaaa")],
)  # fmt: skip
def test_one_bad_row_hides_no_missing_one(old: str, new: str, tmp_path: Path) -> None:
    assert rows(tmp_path, GOOD.replace(old, new)) == -1
    assert rows(tmp_path, GOOD.replace(old, new) + "C Ltd,12345 Road,55555\n" * 2) == -1


def test_a_missing_column_leaves_no_row(tmp_path: Path) -> None:
    assert rows(tmp_path, GOOD.replace("Phone", "Fax")) == 0
    assert columns_distinct(put(tmp_path, "o.csv", GOOD), columns=["Fax"]).value == 0


def test_the_least_distinct_column_counts(tmp_path: Path) -> None:
    table = put(tmp_path, "o.csv", "a,b\n1,x\n2,X\n3,y\n4,z\n")
    assert columns_distinct(table, columns=["A", "B"]).value == 0.75
    assert columns_distinct(table, columns=["a"]).value == 1


def test_unknown_looks_are_our_fault(tmp_path: Path) -> None:
    with pytest.raises(InfraFault, match="phone"):
        plausible_rows(put(tmp_path, "o.csv", GOOD), columns=["Name"], looks=["colour"])


def test_what_is_kept_of_a_text(tmp_path: Path) -> None:
    theirs = put(tmp_path, "in.txt", TEXT)
    for same in (TEXT, TEXT.upper(), " ".join(TEXT), TEXT[::-1]):
        assert text_kept(put(tmp_path, "o.txt", same), theirs).value == 1
    half = put(tmp_path, "o.txt", "\n".join(TEXT.splitlines()[:10]) + "\nLorem ipsum dolor")
    assert lines_kept(half, theirs).value == 0.5
    assert words_kept(put(tmp_path, "o.txt", "tells nothing"), put(tmp_path, "i.txt", "nobody tells")).value == 1 / 3


def test_extent_counts_characters_of_scripts_without_spaces(tmp_path: Path) -> None:
    theirs = put(tmp_path, "in.txt", "one two three four")
    assert text_extent(put(tmp_path, "o.txt", "赛里木湖"), theirs).value == 1
    assert text_extent(put(tmp_path, "o.txt", "a b"), theirs).value == 0.5


def test_variety_is_that_of_equally_frequent_words(tmp_path: Path) -> None:
    assert text_variety(put(tmp_path, "o.txt", "a " * 500)).value == 1
    assert text_variety(put(tmp_path, "o.txt", "a b c d " * 9)).value == pytest.approx(4)
    assert text_variety(put(tmp_path, "o.txt", "!!!")).value == 0


@pytest.mark.parametrize("text", [",,,\n", '""\n', ";;\n \n", "\t\t\r\n,\r\n"])
def test_separators_alone_are_no_table(tmp_path: Path, text: str) -> None:
    assert rows(tmp_path, text) == 0
    assert columns_distinct(put(tmp_path, "o.csv", text), columns=["Name"]).value == 0


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("The quick brown fox and 42 geese", 1),
        ("Köln, Ångström, Привет, 東京 und très bien", 1),
        ("mfg pst", 1),
        ("rhythm xkcdq", 1 / 2),
        ("one b4nana x_y", 1 / 3),
        ("a" * 24 + " " + "a" * 25, 1 / 2),
        ("strengths abcdfghjka", 1 / 2),
        ("12 34 56", 0),
    ],
)
def test_words_have_the_shape_of_words(tmp_path: Path, text: str, share: float) -> None:
    assert words_plausible(put(tmp_path, "o.txt", text)).value == pytest.approx(share)


def test_random_letters_are_hardly_words(tmp_path: Path) -> None:
    chance = random.Random(0)
    junk = " ".join("".join(chance.choices(string.ascii_lowercase, k=12)) for _ in range(300))
    assert words_plausible(put(tmp_path, "o.txt", junk)).value < 0.7
    assert words_plausible(put(tmp_path, "o.txt", TEXT)).value > 0.8
