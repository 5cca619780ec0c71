"""Answers and the evidence they cite."""

from __future__ import annotations

import json

import pytest

from judges.cases import DIFF, GOOD
from repoassay.judges.answer import read_answer, read_reply, wrong_evidence
from repoassay.judges.diff_lines import number_lines
from repoassay.model_proxy.client import UnreadableAnswer
from review.samples import QUALITY, RUBRIC

SHOWN = number_lines(DIFF, 10_000)


def why(**cited: object) -> str:
    text = json.dumps({"state": "problem", "evidence": [GOOD | cited]})
    return wrong_evidence(read_answer(text, RUBRIC, "core"), SHOWN, RUBRIC, "core")


@pytest.mark.parametrize(
    "cited",
    [
        {},
        {"quote": "    total = first + b"},
        {"quote": "total  =  first"},
        {"quote": "total = first + b\n    return total"},
        {"quote": "return first", "side": "old"},
        {"quote": "first = a", "line": 3},
        {"quote": "first = a", "line": 3, "side": "old"},
        {"quote": "# end", "line": 6},
    ],
)
def test_a_quote_of_a_line_that_was_shown_stands(cited: dict[str, object]) -> None:
    assert why(**cited) == ""


@pytest.mark.parametrize(
    "cited",
    [
        {"quote": "tot"},
        {"quote": "a"},
        {"quote": " "},
        {"quote": "\n"},
        {"quote": "total = first + b\nreturn first"},
        {"quote": "total = first + b\n\n"* 2 + "x"},
        {"quote": "# end\nbeyond", "line": 6},
        {"quote": "first = a", "line": 2},
        {"path": "b/calc/add.py"},
        {"path": "/calc/add.py"},
        {"path": "calc/../calc/add.py"},
        {"line": 10**8},
        {"quote": "Total = First + B"},
    ],
)  # fmt: skip
def test_anything_else_does_not(cited: dict[str, object]) -> None:
    assert why(**cited).startswith("It cites ")


def test_what_does_not_apply_needs_no_evidence_but_what_it_cites_must_stand() -> None:
    for state in ("unsure", "not_applicable"):
        plain = read_answer(json.dumps({"state": state}), RUBRIC, "core")
        assert wrong_evidence(plain, SHOWN, RUBRIC, "core") == ""
        cited = read_answer(json.dumps({"state": state, "evidence": [GOOD | {"line": 9}]}), RUBRIC, "core")
        assert "no such line" in wrong_evidence(cited, SHOWN, RUBRIC, "core")
    level = read_answer('{"state": "0.75"}', QUALITY, "quality")
    assert wrong_evidence(level, SHOWN, QUALITY, "quality") == "It answers '0.75' and cites no line."


def test_evidence_becomes_anchors_with_their_last_line() -> None:
    text = json.dumps({"state": "problem", "evidence": [GOOD | {"quote": "total = first + b\n    return total\n"}]})
    (anchor,) = read_reply(read_answer(text, RUBRIC, "core")).evidence
    assert (anchor.path, anchor.side, anchor.line, anchor.end_line) == ("calc/add.py", "new", 4, 5)


def test_an_answer_of_another_scale_is_refused() -> None:
    with pytest.raises(UnreadableAnswer, match=r"'problem' is none of 0, 0\.25, 0\.5, 0\.75, 1\."):
        read_answer('{"state": "problem"}', QUALITY, "quality")
