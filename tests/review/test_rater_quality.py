"""Controls caught by each rater, and alarms for raters whose severity or accuracy moves."""

from __future__ import annotations

import random
from datetime import timedelta

from repoassay.review.rater_quality import control_accuracy, rater_drift
from repoassay.review.study import Golden, HiddenPart
from repoassay.types import Rating
from review.samples import NOW, RUBRIC, rating

HIDDEN = {
    "b1": HiddenPart(task="t", golden=Golden.BAD, evidence={"axis": "testing"}),
    "b2": HiddenPart(task="t", golden=Golden.BAD, evidence={"axis": "core"}),
    "a1": HiddenPart(task="t", golden=Golden.BAD, evidence={"axis": "core", "gross": True}),
    "g1": HiddenPart(task="t", golden=Golden.GOOD),
    "x1": HiddenPart(task="t"),
}


def test_what_each_rater_caught() -> None:
    line = [
        rating("cpccc", "b1", "r1"), rating("cpccc", "b2", "r1"), rating("ccccc", "a1", "r1", would_merge=True),
        rating("ccccc", "g1", "r1", would_merge=True), rating("ccccc", "x1", "r2"), rating("pcccc", "a1", "r3"),
    ]  # fmt: skip
    first, third = control_accuracy(line, HIDDEN, RUBRIC)
    assert [(each.successes, each.n) for each in (first.refused, first.located, first.attention, first.accepted)] == [
        (2, 2), (1, 3), (0, 1), (1, 1),
    ]  # fmt: skip
    assert (third.attention.successes, third.attention.n, third.refused.n) == (1, 1, 0)


def drifting(*raters: str, count: int = 24) -> list[Rating]:
    """Ratings in which `r1` alone turns from lenient to strict half-way."""
    draw, line = random.Random(1), []
    for rater in raters:
        for number in range(count):
            strict = rater == "r1" and number >= count // 2
            states = "ppppp" if strict else "".join(draw.choice("ccccp") for _ in range(5))
            given = rating(states, f"s{number}", rater)
            line.append(given.model_copy(update={"submitted": NOW + timedelta(minutes=number)}))
    return line


def test_a_rater_whose_severity_moves_raises_an_alarm_and_the_others_do_not() -> None:
    found = {(row.rater, row.measure): row for row in rater_drift(drifting("r1", "r2", "r3"), HIDDEN, RUBRIC)}
    moved = found["r1", "severity"]
    assert moved.alarm and moved.adjusted is not None and moved.adjusted < 0.01
    assert moved.before is not None and moved.after is not None and moved.after - moved.before > 0.5
    # The others are compared with `r1` too, so that they may seem to move the other way; one alone has nobody beside.
    assert found["r1", "controls"].test.undefined and not found["r1", "controls"].alarm
    alone = rater_drift(drifting("r1"), HIDDEN, RUBRIC)
    assert all(row.test.undefined and not row.alarm for row in alone)


def test_few_false_alarms_where_nobody_moves() -> None:
    alarms = 0
    for seed in range(20):
        draw = random.Random(seed)
        line = [
            rating("".join(draw.choice("ccp") for _ in range(5)), f"s{number}", rater).model_copy(
                update={"submitted": NOW + timedelta(minutes=number)}
            )
            for rater in ("r1", "r2", "r3")
            for number in range(12)
        ]
        alarms += any(row.alarm for row in rater_drift(line, {}, RUBRIC))
    assert alarms <= 3
