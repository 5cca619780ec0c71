"""Rules as data: what they say of values, and that what is unknown never passes."""

from __future__ import annotations

import datetime

import pytest

from repoassay.curate.rules import DEFAULT_RULES, Value, parse_rule
from repoassay.errors import BadInput

TODAY = datetime.date(2026, 11, 23)


@pytest.mark.parametrize(
    ("rule", "value", "holds"),
    [
        ("language = python", "Python", True),
        ("language = python", "Rust", False),
        ("stars >= 50", 50, True),
        ("stars >= 50", 49, False),
        ("stars >= 50", None, None),
        ("last_commit within 5y", datetime.date(2021, 11, 24), True),
        ("last_commit within 5y", datetime.date(2021, 11, 20), False),
        ("licence in [MIT, ISC]", "ISC", True),
        ("licence in [MIT, ISC]", "MIT OR GPL-3.0-only", False),
        ("weights = none|bundled", "bundled", True),
        ("weights = none|bundled", "needed", False),
        ("archived != yes", "no", True),
        ("size <= 500 MB", 500_000_000, True),
        ("size <= 500 MB", 500_000_001, False),
        ("overlap with published suites = none", "starter", False),
        ("language >= 3", "Python", False),
    ],
)
def test_a_rule_decides(rule: str, value: Value, holds: bool | None) -> None:
    assert parse_rule(rule).holds(value, TODAY) is holds


@pytest.mark.parametrize(
    "rule", ["stars", "starz >= 5", "stars >= many", "last_commit within long", "licence in MIT", "size ~ 4", ""]
)
def test_what_is_no_rule_is_refused_in_a_sentence(rule: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_rule(rule)
    assert caught.value.message.startswith("The rule ")
    assert caught.value.remedy


def test_the_default_rules_are_rules() -> None:
    assert [parse_rule(rule).fact for rule in DEFAULT_RULES][:2] == ["language", "stars"]
