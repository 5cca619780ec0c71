"""Quality from ratings: every way five ratings can fall on five levels, and the ones that hurt."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, strategies as st

from repoassay.economics import LEVELS, QualityRule, QualitySource, by_result, from_ratings

levels = st.sampled_from(LEVELS)


def _levels(*figures: str) -> list[Decimal]:
    return [Decimal(figure) for figure in figures]


def test_the_126_profiles_of_five_ratings_part_into_75_20_and_31() -> None:
    rules = Counter(from_ratings(profile).rule for profile in combinations_with_replacement(LEVELS, 5))
    assert rules == {QualityRule.MAJORITY: 75, QualityRule.PLURALITY: 20, QualityRule.MEDIAN: 31}


@pytest.mark.parametrize(
    ("ratings", "level", "rule"),
    [
        (("0", "0", "0.5", "1", "1"), "0.5", QualityRule.MEDIAN),
        (("1", "1", "1", "0", "0.25"), "1", QualityRule.MAJORITY),
        (("1", "1", "0", "0.25", "0.5"), "1", QualityRule.PLURALITY),
        (("0", "0.25", "0.5", "0.75", "1"), "0.5", QualityRule.MEDIAN),
        (("0", "1"), "0", QualityRule.MEDIAN),
        (("0.75",), "0.75", QualityRule.MAJORITY),
        (("1", "1", "0", "0"), "0", QualityRule.MEDIAN),
    ],
)
def test_rule(ratings: tuple[str, ...], level: str, rule: QualityRule) -> None:
    quality = from_ratings(_levels(*ratings))
    assert (quality.level, quality.rule) == (Decimal(level), rule)
    assert quality.flagged is (rule is not QualityRule.MAJORITY)
    assert quality.source is QualitySource.REVIEWED


def test_a_tie_is_flagged_and_has_median_and_mean_beside_it() -> None:
    quality = from_ratings(
        {"ann": Decimal(0), "bo": Decimal(0), "cy": Decimal("0.5"), "di": Decimal(1), "ed": Decimal(1)}
    )
    assert (quality.median, quality.mean) == (Decimal("0.5"), Decimal("0.5"))
    assert quality.by_rater("di") == 1
    assert quality.by_rater("nobody") is None


@given(st.lists(levels, min_size=1, max_size=9))
def test_every_reading_is_in_range_and_the_rule_gives_a_level_whatever_the_order(ratings: list[Decimal]) -> None:
    quality = from_ratings(ratings)
    assert quality.level in LEVELS
    assert quality.median in LEVELS
    assert min(ratings) <= quality.mean <= max(ratings)
    assert from_ratings(ratings[::-1]).level == quality.level
    if quality.rule is not QualityRule.MEDIAN:
        assert ratings.count(quality.level) == max(map(ratings.count, ratings))


def test_by_result_says_so_and_keeps_unknown_unknown() -> None:
    passed, failed = by_result(True), by_result(False)
    assert passed is not None
    assert failed is not None
    assert (passed.level, failed.level) == (Decimal(1), Decimal(0))
    assert passed.source is QualitySource.BY_RESULT
    assert not passed.flagged
    assert {passed.median, passed.mean, passed.by_rater("anyone")} == {Decimal(1)}
    assert by_result(None) is None


@pytest.mark.parametrize("ratings", [[], [Decimal("0.3")], [Decimal(-1)], [Decimal("NaN")], [Decimal(1), Decimal(2)]])
def test_what_is_no_rating_is_refused(ratings: list[Decimal]) -> None:
    with pytest.raises(ValueError, match=r"rating|not one of"):
        from_ratings(ratings)
