"""A scripted judge behind a real model proxy, held against people: every figure is computed by hand beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from judges.cases import begin, items, judged, turns
from repoassay.db import Database
from repoassay.judges.calibration import Calibration, calibrate
from repoassay.judges.dev_test_split import DevTestSplit, split_items
from repoassay.judges.store import JudgeRecord, judgements_of
from repoassay.judges.substitute import substitute
from repoassay.review.adjudication import latest
from repoassay.review.database import open_database
from repoassay.review.rater_accounts import add_rater
from repoassay.review.studies import items_of
from repoassay.review.study import Golden, Item
from repoassay.review.submitting import import_ratings, ratings_of
from repoassay.types import RatingPhase
from review.samples import NOW, RUBRIC, rating


def people_say(database: Database, answers: Mapping[str, Sequence[str]]) -> None:
    """Let people answer; of each item one word a person, one letter an axis."""
    count = max(map(len, answers.values()))
    ids = [add_rater(database, "st", f"person {number}", at=NOW).rater.id for number in range(count)]
    line = [
        rating(word, item, person) for item, words in answers.items() for person, word in zip(ids, words, strict=False)
    ]
    import_ratings(database, "st", line, at=NOW, by="lead")


def calibrated(database: Database, judge: JudgeRecord, **more: object) -> Calibration:
    people = latest(ratings_of(database, "st", RatingPhase.BLIND))
    samples = judgements_of(database, judge)
    return calibrate(items_of(database, "st"), people, samples, RUBRIC, judge.definition, draws=200, **more)  # type: ignore[arg-type]  # settings of the test


CORE = {
    # people, judge
    "i0": ("ppp", "p"),
    "i1": ("ppc", "p"),
    "i2": ("ppp", "c"),
    "i3": ("ccc", "c"),
    "i4": ("ccp", "p"),
    "i5": ("ccc", "c"),
    "i6": ("nnn", "c"),
    "i7": ("ccc", "u"),
    "i8": ("", "p"),
    "i9": ("", "c"),
    "i10": ("", "c"),
    "i11": ("", "p"),
}
"""The core axis, one letter a person. On every other axis everybody, the judge too, sees no problem."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    """Twelve items judged through the model proxy, eight of them rated by three people."""
    place = tmp_path_factory.mktemp("judged")
    with closing(open_database(place / "reviews.sqlite")) as database:
        judge = begin(database, items(12))
        rated = {item: [f"{letter}cccc" for letter in people] for item, (people, _) in CORE.items() if people}
        people_say(database, rated)
        script = turns("".join(f"{letter}cccc" for _, letter in CORE.values()))
        done, _ = judged(database, judge, script, place)
        assert (done.stored, done.void) == (60, 0)
        return calibrated(database, judge)


def test_what_it_finds_and_misses_is_as_counted_by_hand(found: Calibration) -> None:
    core = found.axes[0]
    # Seven items have a label and a verdict (i7: the judge is unsure). People see a problem on i0, i1, i2 and none on
    # i3, i4, i5; i6 does not apply. The judge finds i0 and i1, misses i2, and raises an alarm on i4.
    assert (core.n, core.abstained, core.unsettled) == (7, 1, 0)
    assert (core.found, core.missed, core.false_alarm, core.rejected) == (2, 1, 1, 2)
    assert core.precision.value == core.recall.value == core.specificity.value == 2 / 3
    # R: prop.test(2, 3, correct = FALSE)
    assert core.precision.interval.low == pytest.approx(0.2076596, abs=1e-6)
    assert core.precision.interval.high == pytest.approx(0.9385081, abs=1e-6)


def test_agreement_is_as_computed_by_hand(found: Calibration) -> None:
    core = found.axes[0]
    # Equal on i0, i1, i3, i5 of seven.
    assert core.percent.figure.value == pytest.approx(4 / 7)
    # People 3 problem, 3 none, 1 n/a; judge 3 problem, 4 none. Chance (3*3 + 3*4 + 1*0)/49 = 3/7.
    assert core.kappa.figure.value == pytest.approx((4 / 7 - 3 / 7) / (1 - 3 / 7)) == pytest.approx(0.25)
    # Of 14 values 6, 7 and 1: expected disagreement 1 - (6*5 + 7*6 + 1*0)/(14*13) = 110/182; observed 3/7.
    assert core.alpha.figure.value == pytest.approx(1 - (3 / 7) / (110 / 182))
    # Gwet: chance = sum p(1-p) / (3-1) = (6*8 + 7*7 + 1*13)/196/2 = 110/392; (224 - 110)/(392 - 110).
    assert core.chance_free.figure.value == pytest.approx(114 / 282)
    for each in (core.kappa, core.alpha, core.chance_free):
        assert each.interval.low is not None and each.interval.high is not None and each.figure.value is not None
        assert each.interval.low <= each.figure.value <= each.interval.high


def test_the_judge_stands_beside_people_who_are_each_left_out(found: Calibration) -> None:
    core = found.axes[0]
    # Unanimous items (i0 i2 i3 i5 i6 i7) give 3 of 3 each. On i1 and i4 two of three leave a tie behind; the third is
    # against the majority: 0 of 1 each. 18 of 20.
    assert core.human.value == pytest.approx(18 / 20) and core.human.n == 20
    # The judge against those same majorities: i0 3/3, i1 1/1, i2 0/3, i3 3/3, i4 0/1, i5 3/3, i6 0/3; none on i7.
    assert core.judge_beside.value == pytest.approx(10 / 17) and core.judge_beside.n == 17


def test_one_vote_is_right_or_wrong(found: Calibration) -> None:
    core = found.axes[0]
    # i2 and i4 are wrong by 1, of six with a problem or none.
    assert core.brier.value == pytest.approx(2 / 6)
    # Share 0 holds i2 i3 i5, one of which is a problem; share 1 holds i0 i1 i4, two of which are: (1 + 1)/6.
    assert core.calibration_error.value == pytest.approx(2 / 6)


def test_an_axis_where_all_agree_has_no_kappa(found: Calibration) -> None:
    lint = next(axis for axis in found.axes if axis.key == "lint")
    assert (lint.n, lint.rejected, lint.precision.value, lint.sensitivity.value) == (8, 8, None, None)
    assert (
        lint.specificity.value == 1
        and lint.kappa.figure.value is None
        and "no variation" in lint.kappa.figure.undefined
    )
    assert lint.chance_free.figure.value == pytest.approx(1)


def test_mergeable_follows_from_the_axes(found: Calibration) -> None:
    merge = found.axes[-1]
    # People: i0 i1 i2 no, i3 to i7 yes. Judge: i2 i3 i5 i6 yes, i0 i1 i4 no, i7 open.
    assert (merge.key, merge.positive, merge.n, merge.abstained) == ("mergeable", "mergeable", 7, 1)
    assert (merge.found, merge.missed, merge.false_alarm, merge.rejected) == (3, 1, 1, 2)
    # 5 of 7 equal; chance (4*4 + 3*3)/49.
    assert merge.kappa.figure.value == pytest.approx((35 - 25) / (49 - 25))


def test_the_rate_is_prediction_powered_as_by_hand(found: Calibration) -> None:
    assert found.rate is not None
    estimate = found.rate.estimate
    # Labels y 0 0 0 1 1 1 1 1, judge f 0 0 1 1 0 1 1 1/2, judge alone 0 1 1 0.
    mean_y, mean_f = Fraction(5, 8), Fraction(9, 16)
    cov = (Fraction(7, 2) - 8 * mean_y * mean_f) / 7
    var_y = (5 - 8 * mean_y**2) / 7
    var_f = (Fraction(17, 4) - 8 * mean_f**2) / 7
    var_all = (Fraction(25, 4) - Fraction(13, 2) ** 2 / 12) / 11
    weight = cov / ((1 + Fraction(8, 4)) * var_all)
    assert weight == Fraction(121, 917)
    value = weight * Fraction(1, 2) + mean_y - weight * mean_f
    error2 = weight**2 * Fraction(1, 3) / 4 + (var_y - 2 * weight * cov + weight**2 * var_f) / 8
    assert (estimate.labelled, estimate.unlabelled, found.rate.open) == (8, 4, 0)
    assert estimate.weight == pytest.approx(float(weight)) and estimate.value == pytest.approx(float(value))
    assert estimate.error == pytest.approx(sqrt(error2))
    assert estimate.effective_n == pytest.approx(float(var_y / error2))
    assert found.rate.gained.value == pytest.approx(float(var_y / error2) - 8)
    assert found.rate.people.value == 5 / 8
    # The judge says yes to i2 i3 i5 i6 i9 i10 of the 11 it does not leave open; sensitivity 3/4, specificity 2/3.
    assert (found.rate.naive.successes, found.rate.naive.n) == (6, 11)
    corrected = (Fraction(6, 11) + Fraction(2, 3) - 1) / (Fraction(3, 4) + Fraction(2, 3) - 1)
    assert corrected == Fraction(28, 55) and found.rate.corrected.value == pytest.approx(28 / 55)
    p, se, sp, true = 6 / 11, 3 / 4, 2 / 3, 28 / 55
    spread = p * (1 - p) / 11 + true**2 * se * (1 - se) / 4 + (1 - true) ** 2 * sp * (1 - sp) / 3
    half = 1.959964 * sqrt(spread) / (se + sp - 1)
    assert found.rate.corrected_interval.low == max(0.0, true - half) == 0
    assert found.rate.corrected_interval.high == min(1.0, true + half) == 1


def test_it_is_refused_as_a_substitute_in_one_sentence(found: Calibration) -> None:
    assert not found.substitute.accepted and found.substitute.floor == 0.6
    text = found.substitute.sentence
    assert text.startswith("Refused as a substitute for people: Cohen's kappa on 'testing' is undefined (")
    assert text.endswith(".") and text.count(". ") == 0


def test_submissions_of_the_judges_own_vendor_are_told_apart(found: Calibration) -> None:
    assert found.kin.family == "" and found.kin.own.n == found.kin.other.n == 0
    # The 8 rated items have 5 axes each; on i7's core there is no verdict. Wrong on i2, i4, i6.
    assert (found.kin.unknown.successes, found.kin.unknown.n) == (36, 39)


def test_the_share_of_votes_is_its_confidence(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(4))
    people_say(sqlite, {"i0": ["pcccc"], "i1": ["pcccc"], "i2": ["ccccc"], "i3": ["ccccc"]})
    done, _ = judged(sqlite, judge, turns("pppppppcpcccppcc"), tmp_path, samples=4, axes=["core"])
    assert (done.stored, done.rated) == (16, 0)
    (core,) = calibrated(sqlite, judge).axes
    # Shares 1, 3/4, 1/4 and 1/2 of a problem; people say yes, yes, no, no. i3 is tied: a share, but no verdict.
    assert core.brier.value == pytest.approx((0 + 1 / 16 + 1 / 16 + 1 / 4) / 4)
    assert core.calibration_error.value == pytest.approx((0 + 1 / 4 + 1 / 4 + 1 / 2) / 4)
    assert (core.n, core.abstained, core.found, core.rejected) == (3, 1, 2, 1)


def test_controls_and_flagged_items_are_left_out(sqlite: Database, tmp_path: Path) -> None:
    given = items(4)
    odd: dict[int, dict[str, Any]] = {1: {"golden": Golden.BAD}, 2: {"flagged": "read the answer"}}
    line = [
        Item(id=each.id, payload=each.payload, hidden=each.hidden.model_copy(update=odd.get(number, {})))
        for number, each in enumerate(given)
    ]
    judge = begin(sqlite, line)
    people_say(sqlite, {item.id: ["pcccc"] for item in given})
    judged(sqlite, judge, turns("pcccc" * 4), tmp_path)
    found = calibrated(sqlite, judge)
    assert (found.items, found.left_out, found.axes[0].found) == (2, 2, 2)


def test_nobody_has_rated_yet(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(2))
    judged(sqlite, judge, turns("pccccuuuuu"), tmp_path)
    found = calibrated(sqlite, judge)
    assert [axis.n for axis in found.axes] == [0] * 6 and not found.substitute.accepted
    assert found.rate is not None and found.rate.estimate.value is None and found.rate.corrected.value is None
    assert found.triage == (("i1", "core: the judge has no verdict"),)


@pytest.mark.long
def test_a_judge_that_always_agrees_on_many_items_may_stand_in(sqlite: Database, tmp_path: Path) -> None:
    judge = begin(sqlite, items(24))
    words = ["ppppp" if number % 2 else "ccccc" for number in range(24)]
    people_say(sqlite, {f"i{number}": [word] for number, word in enumerate(words)})
    judged(sqlite, judge, turns("".join(words)), tmp_path)
    found = calibrated(sqlite, judge)
    assert found.axes[0].kappa.figure.value == 1 and found.axes[0].kappa.interval.low is None
    # 24 of 24 agree: at least 0.862 by Wilson; with chance 1/2 a kappa of 0.72.
    assert found.substitute.accepted, found.substitute.sentence
    assert not substitute(found.axes, 0.8).accepted
    with pytest.raises(ValueError, match="floor of 2"):
        substitute(found.axes, 2)
    few = calibrated(sqlite, judge, split=DevTestSplit.TEST, dev_share=0.9)
    assert few.items == 2 and not few.substitute.accepted


def test_the_split_is_by_task_and_seed() -> None:
    line = [
        Item(id=f"{each.id}-{run}", payload=each.payload, hidden=each.hidden) for each in items(20) for run in range(3)
    ]
    dev, test = (split_items(line, part, 7) for part in (DevTestSplit.DEV, DevTestSplit.TEST))
    assert not dev & test and dev | test == split_items(line, DevTestSplit.ALL, 7)
    assert len(dev) == len(test) == 30
    assert {name.split("-")[0] for name in dev}.isdisjoint(name.split("-")[0] for name in test)
    assert dev == split_items(reversed(line), DevTestSplit.DEV, 7) != split_items(line, DevTestSplit.DEV, 8)
    with pytest.raises(ValueError, match="share of 1"):
        split_items(line, DevTestSplit.DEV, 0, 1)
