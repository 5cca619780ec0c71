"""Rates on both sides of a model's cut-off date."""

from __future__ import annotations

import datetime

import pytest

from repoassay.errors import BadInput
from repoassay.report.results import ResultRow
from repoassay.report.tables.cut_offs import cut_off_of, cut_offs, read_cut_offs
from repoassay.stats import Proportion
from repoassay.types import Outcome
from report.made_rows import entry, row, task


def known_row(name: str, since: str | None, outcome: Outcome) -> ResultRow:
    return row(outcome, by=entry(model="openai/m"), of=task(name).model_copy(update={"known_since": since}))


def test_both_sides_stand_with_their_intervals() -> None:
    rows = [
        known_row("a", "2024-05-31", Outcome.PASSED),
        known_row("b", "2024-06-01", Outcome.FAILED),
        known_row("c", "2024-06-02", Outcome.PASSED),
    ]
    table = cut_offs([*rows, known_row("d", None, Outcome.PASSED)], {"m": datetime.date(2024, 6, 1)})
    names = [column.key for column in table.columns]
    side, rate = names.index("side"), names.index("tpr_all")
    told = [(str(each[side]), each[rate]) for each in table.rows]
    assert [(name, value.successes, value.n) for name, value in told if isinstance(value, Proportion)] == [
        ("before", 1, 2),
        ("after", 1, 1),
        ("undated", 1, 1),
    ]


def test_a_model_is_named_with_or_without_its_provider() -> None:
    known = read_cut_offs(["openai/m=2024-06-01", "n=2023-01-01"])
    assert cut_off_of("openai/m", known) == datetime.date(2024, 6, 1)
    assert cut_off_of("other/n", known) == datetime.date(2023, 1, 1)
    assert cut_off_of("openai/x", known) is None
    assert cut_off_of("", known) is None


@pytest.mark.parametrize("text", ["m", "m=soon", "=2024-01-01"])
def test_what_is_no_cut_off_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="The cut-off"):
        read_cut_offs([text])
