"""Dawid and Skene's model on their own data, on simulated raters, and where it cannot know."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from repoassay.stats import dawid_skene

# Their table 1: 45 patients, each seen three times by the first observer and once by four others.
TABLE = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212
1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111
1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111
2322222 1211111 2222222
"""
PATIENTS = TABLE.split()


def test_the_anaesthetists() -> None:
    observers = "AAABCDE"
    ratings = [(i, who, said) for i, row in enumerate(PATIENTS) for who, said in zip(observers, row, strict=True)]
    found = dawid_skene(ratings)
    assert found.n == 45
    # As printed in the paper, to two decimals; and the shares of the likeliest labels, to three.
    assert {label: round(share, 2) for label, share in found.shares.items()} == {
        "1": 0.4,
        "2": 0.42,
        "3": 0.11,
        "4": 0.07,
    }
    assert Counter(found.label(patient) for patient in range(45)) == {"1": 18, "2": 19, "3": 5, "4": 3}
    assert [round(count / 45, 3) for count in (18, 19, 5, 3)] == [0.400, 0.422, 0.111, 0.067]
    assert found.note == ""
    assert found.method.startswith("Dawid-Skene, EM, ")
    for truth in found.truths.values():
        assert sum(truth.values()) == pytest.approx(1)
    for table in found.raters.values():
        for row in table.values():
            assert sum(row.values()) == pytest.approx(1)


def test_it_sees_through_a_contrarian_as_a_majority_cannot() -> None:
    random = Random(5)
    skills = {"good": 0.95, "fair": 0.8, "other": 0.8, "contrarian": 0.1, "guess": 0.5}
    truth = {unit: random.random() < 0.4 for unit in range(400)}
    ratings = [
        (unit, rater, truth[unit] if random.random() < skill else not truth[unit])
        for unit in truth
        for rater, skill in skills.items()
    ]
    found = dawid_skene(ratings)
    assert sum(found.label(unit) == truth[unit] for unit in truth) / 400 > 0.95
    assert found.shares[True] == pytest.approx(sum(truth.values()) / 400, abs=0.03)
    for rater in skills:
        for true in (True, False):
            said = [label for unit, who, label in ratings if who == rater and truth[unit] is true]
            assert found.raters[rater][true][true] == pytest.approx(said.count(true) / len(said), abs=0.05)


def test_missing_ratings_and_unanimity_are_no_trouble() -> None:
    found = dawid_skene([(unit, rater, "no") for unit in range(40) for rater in "abc" if (unit, rater) != (3, "b")])
    assert found.shares == {"no": pytest.approx(1.0)}
    assert found.label(3) == "no"
    many = dawid_skene([(0, rater, rater % 2) for rater in range(5000)] + [(1, rater, 0) for rater in range(3)])
    assert all(0 <= share <= 1 for share in many.shares.values())


def test_too_little_is_said_to_be_too_little() -> None:
    few = dawid_skene([(unit, rater, unit % 2) for unit in range(10) for rater in "ab"])
    assert "2 raters are too few" in few.note and "10 units are few" in few.note
    none = dawid_skene([])
    assert (none.undefined, none.n) == ("there are no ratings", 0)
    with pytest.raises(ValueError, match="rounds"):
        dawid_skene([], rounds=0)
