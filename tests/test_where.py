"""The contributors' quiz: twenty questions, and each answer is a file that is there."""

from __future__ import annotations

import re

from house_lists import ROOT, assert_only

QUIZ = (ROOT / "docs" / "contributing" / "where.md").read_text("utf-8")
QUESTIONS = re.findall(r"^(\d+)\. \.\.\. .+\?$", QUIZ, re.MULTILINE)
ANSWERS = re.findall(r"^(\d+)\. `([^`]+)`$", QUIZ, re.MULTILINE)


def test_there_are_twenty_questions_with_an_answer_each() -> None:
    numbers = [str(number) for number in range(1, 21)]
    assert numbers == QUESTIONS
    assert [number for number, _ in ANSWERS] == numbers
    assert len({file for _, file in ANSWERS}) == 20


def test_each_answer_is_there() -> None:
    missing = [file for _, file in ANSWERS if not (ROOT / file).is_file()]
    assert_only("not_there_yet.txt", missing, "Correct the answer in docs/contributing/where.md.")
