"""Figures of judges at their edges: no cases, chance, scales of values, and vendors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judges.cases import GOOD, definition, items
from repoassay.db import Database
from repoassay.judges.axis_figures import JudgedCase, axis_figures, beside_others, brier, calibration_error
from repoassay.judges.calibration import calibrate
from repoassay.judges.families import family
from repoassay.judges.judging import judge_study
from repoassay.judges.mergeable_rate import mergeable_rate
from repoassay.judges.store import judge_ratings, judgements_of, seat
from repoassay.judges.substitute import substitute
from repoassay.review.rater_accounts import add_rater
from repoassay.review.studies import create_study, items_of
from review.samples import NOW, QUALITY, quality_rating, study


@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("openai/gpt-4.1", "openai"),
        ("openrouter/anthropic/claude-3.5-sonnet", "anthropic"),
        ("vllm/deepseek-r1-distill-qwen-7b", "deepseek"),
        ("openai/o3-mini", "openai"),
        ("mistral/devstral-small", "mistral"),
        ("ollama/llama3.1", "meta"),
        ("gemini/some-new-name", "google"),
        ("scripted/judge", ""),
        ("", ""),
        ("proto1/zero3", ""),
        ("x" * 10**6, ""),
    ],
)
def test_the_vendor_of_a_model(model: str, vendor: str) -> None:
    assert family(model) == vendor


def test_scores_of_nothing_are_undefined_and_of_perfection_zero() -> None:
    assert brier([]).value is None and calibration_error([]).undefined
    sure = [(1.0, True), (0.0, False)]
    assert brier(sure).value == calibration_error(sure).value == 0
    # Never sure, right half the time: 0.25, and calibrated.
    coin = [(0.5, True), (0.5, False)]
    assert brier(coin).value == 0.25 and calibration_error(coin).value == 0


def test_a_judge_at_chance_corrects_nothing() -> None:
    people = {"a": True, "b": True, "c": False, "d": False}
    judge = {"a": True, "b": False, "c": True, "d": False, "e": True, "f": False}
    found = mergeable_rate(people, judge)
    assert found.corrected.value is None and "no better than chance" in found.corrected.undefined
    assert found.corrected_interval.low is None
    assert found.estimate.value == pytest.approx(0.5) and found.estimate.weight == 0


def test_items_people_left_open_are_in_no_rate() -> None:
    people = {"a": True, "b": False, "c": None}
    judge = {"a": True, "b": False, "c": True, "d": True, "e": False}
    found = mergeable_rate(people, judge)
    assert (found.open, found.estimate.labelled, found.estimate.unlabelled, found.naive.n) == (1, 2, 2, 4)
    assert found.corrected.value == 0.5


def test_one_person_an_item_leaves_no_majority() -> None:
    assert beside_others([JudgedCase("a", "p", "p", None, ("p", None))]).value is None


def test_nothing_compared_is_refused() -> None:
    assert substitute([]).sentence == "Refused as a substitute for people: nothing was compared."
    weak = axis_figures(
        "core",
        "Core",
        [JudgedCase(str(n), n % 2 == 0, n % 4 < 2, None, ()) for n in range(40)],
        [True, False],
        True,
        False,
        draws=100,
    )
    text = substitute([weak]).sentence
    assert text.startswith("Refused as a substitute for people: Cohen's kappa on 'core' is 0.00 (n = 40), from -0.")
    assert text.endswith("below 0.6.")


def test_a_scale_of_values_is_held_against_people_by_its_order(sqlite: Database, tmp_path: Path) -> None:
    create_study(sqlite, study(QUALITY), QUALITY, items(4), at=NOW)
    judge = seat(sqlite, "st", definition().model_copy(update={"rubric": QUALITY.digest}), at=NOW)
    person = add_rater(sqlite, "st", "ana", at=NOW).rater.id
    said = iter(["0.75", "0.5", "0", "nonsense", "nonsense"])
    done = judge_study(
        sqlite, judge, lambda system, user: json.dumps({"state": next(said), "evidence": [GOOD]}), samples=1
    )
    # A void answer leaves no rating where the scale has no "unsure".
    assert (done.stored, done.void, done.rated) == (4, 1, 3) and len(judge_ratings(sqlite, judge)) == 3
    people = [quality_rating(level, f"i{n}", person) for n, level in enumerate(["0.75", "0.75", "0", "1"])]
    found = calibrate(
        items_of(sqlite, "st"), people, judgements_of(sqlite, judge), QUALITY, judge.definition, draws=100
    )
    (axis,) = found.axes
    assert (axis.n, axis.abstained, axis.positive, axis.precision.n) == (3, 1, "", 0)
    assert axis.percent.figure.value == pytest.approx(2 / 3) and found.rate is None
    # Ordinal weights of five levels: neighbours count 1 - 1/10. Observed (1 + .9 + 1)/3; chance over all pairs of
    # people's .75 .75 0 and the judge's .75 .5 0: 1, .9, .4 twice, and .4, .7, 1, by weights of distance 0, 1, 2, 3.
    weight = [1.0, 1 - 1 / 10, 1 - 3 / 10, 1 - 6 / 10]
    chance = (2 * (weight[0] + weight[1] + weight[3]) + weight[3] + weight[2] + weight[0]) / 9
    assert axis.kappa.figure.value == pytest.approx((2.9 / 3 - chance) / (1 - chance))
    assert axis.chance_free.figure.method.startswith("Gwet's AC2")
