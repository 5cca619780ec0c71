"""Articles against pages that hold more than them."""

from __future__ import annotations

import difflib
import random
from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.metrics.articles import (
    article_recall,
    article_similarity,
    block_tags,
    numbers_kept,
    text_indel,
    text_worst_part,
)

LINES = [
    "Menu",
    *(f"Sentence {n} is about {n * 37 % 101} rivers and {n * 53 % 97} lakes." for n in range(40)),
    "Related posts",
]


def both(folder: Path, text: str) -> tuple[Path, Path]:
    (folder / "gt.txt").write_text("\n".join(LINES), encoding="utf-8")
    (folder / "output.txt").write_text(text, encoding="utf-8")
    return folder / "output.txt", folder / "gt.txt"


def test_marks_tags_and_spaces_do_not_count(tmp_path: Path) -> None:
    text = "\n\n".join(f"## **{line}**" for line in LINES).replace("rivers", "[rivers](https://a.b/c)")
    assert article_similarity(*both(tmp_path, text)).value == 1
    assert article_similarity(*both(tmp_path, "<p>" + "</p><p>".join(LINES).upper() + "</p>")).value == 1


def test_the_article_alone_is_complete(tmp_path: Path) -> None:
    files = both(tmp_path, "\n".join(LINES[1:41]))
    assert article_similarity(*files).value < 1
    assert article_similarity(*files, parts=["2-41"]).value == 1
    assert article_similarity(*both(tmp_path, "\n".join(LINES[1:30])), parts=["2-41"]).value < 0.9


def test_substitutions_count_once_or_twice(tmp_path: Path) -> None:
    files = both(tmp_path, "\n".join(LINES).replace("rivers", "vapour"))
    assert article_similarity(*files, substitutions=True).value > article_similarity(*files).value - 0.05


def test_recall_asks_for_order(tmp_path: Path) -> None:
    signs = list("".join(LINES))
    random.Random(1).shuffle(signs)
    assert article_recall(*both(tmp_path, "".join(signs))).value < 0.6
    assert article_recall(*both(tmp_path, "x ".join(LINES))).value == 1
    assert article_recall(*both(tmp_path, "\n".join(LINES[:21]))).value == pytest.approx(0.5, abs=0.03)


def test_blocks_are_counted(tmp_path: Path) -> None:
    assert block_tags(both(tmp_path, "<html><body class='a'><p>x</p><a href='y'>z</a> 1 < p")[0]).value == 3
    assert block_tags(both(tmp_path, "# Title\n\n<https://a.b> and <b>this</b>")[0]).value == 0


def test_indel_is_difflib_without_junk(tmp_path: Path) -> None:
    ours, theirs = "\n".join(LINES[:30]), "\n".join(LINES)
    expected = difflib.SequenceMatcher(None, ours.split("\n"), theirs.split("\n"), autojunk=False).ratio()
    assert text_indel(*both(tmp_path, ours)).value == pytest.approx(expected, abs=0.05)
    assert text_indel(*both(tmp_path, theirs.replace(" ", "")), spaces=False).value == 1


@pytest.mark.parametrize(
    "text", ["<" * 100_000, "[" * 100_000, "\n" * 100_000 + "x", " " * 100_000 + "x", "#" * 100_000]
)
def test_hostile_texts_are_measured(text: str, tmp_path: Path) -> None:
    assert article_similarity(*both(tmp_path, text)).value < 0.1


def test_a_lost_part_and_lost_numbers_show_wherever_the_rest_stands(tmp_path: Path) -> None:
    whole = both(tmp_path, "\n".join(LINES).upper())
    assert (text_worst_part(*whole).value, numbers_kept(*whole).value) == (1, 1)
    moved = both(tmp_path, "\n".join(LINES[20:] + LINES[:20]))
    assert text_worst_part(*moved).value > 0.9
    lost = both(tmp_path, "\n".join(LINES[:10] + LINES[13:]))
    assert text_worst_part(*lost).value < 0.75
    assert text_indel(*lost).value > 0.95
    wordy = both(tmp_path, "".join(sign for sign in "\n".join(LINES) if not sign.isdigit()))
    assert numbers_kept(*wordy).value == 0
