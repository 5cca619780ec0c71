"""Dates compared as what they mean."""

from __future__ import annotations

import pytest

from repoassay.benchmarks.gittaskbench.metrics.dates import moments, same_moment

PDF = "D:20061207105020Z00'00'"


@pytest.mark.parametrize(
    "text",
    [
        "2006-12-07T10:50:20+00:00", "2006-12-07 10:50:20", "2006-12-07", "2006-12-07T11:50:20+01:00", "20061207",
        "D:20061207115020+01'00'", "2006年12月7日", "7 December 2006", "Dec 7, 2006", "Thursday, December 7, 2006",
        "Thu Dec  7 10:50:20 2006", "12/07/2006", "2006/12/7 10:50", "2006-12-07T10:50:20Z", "2006-12-07 10:50:20 UTC",
    ],
)  # fmt: skip
def test_one_moment_is_written_in_many_ways(text: str) -> None:
    expected = text != "2006/12/7 10:50"  # seconds were written as nought
    assert same_moment(text, PDF) is expected


@pytest.mark.parametrize(
    "text",
    ["2006-12-08", "2006-12-07T10:50:20+01:00", "2006-12-07 22:50:20", "2006", "December 2006", "", "yesterday",
     "2006-13-45", "9999999999999999", "D:20061207995020", "32 December 2006", "7 Foober 2006"],
)  # fmt: skip
def test_others_are_not_it(text: str) -> None:
    assert not same_moment(text, PDF)


def test_an_ambiguous_date_has_two_readings() -> None:
    assert len(moments("03/04/2025")) == 2
    assert same_moment("03/04/2025", "2025-04-03")
    assert same_moment("03/04/2025", "2025-03-04")


def test_edges_of_time_do_not_crash() -> None:
    assert not same_moment("0001-01-01T00:30:00+14:00", "9999-12-31T23:30:00-14:00")
