from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.review.answers import Answers, check_rating, missing, parse_answers
from repoassay.review.rubric import rubric_from_toml
from repoassay.types import Anchor, AxisAnswer, Rating
from review.samples import NOW, QUALITY, RUBRIC, answers, quality_rating, rating


def test_what_is_missing_in_order() -> None:
    assert missing(Answers(), RUBRIC) == (
        "core",
        "testing",
        "documentation",
        "lint",
        "quality",
        "minutes",
        "would_merge",
    )
    assert missing(answers(minutes=0.0), RUBRIC) == ()
    assert missing(Answers(axes={"quality": AxisAnswer(state="1")}), QUALITY) == ()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"reason": "whim"}, "Choose one of core, breaks"),
        ({"others": {"mood": "good"}}, "no question 'mood'"),
        ({"others": {"minutes": 3}}, "no question 'minutes'"),
        ({"minutes": None}, "Not answered yet: minutes"),
        ({"axes": {"core": AxisAnswer(state="problem")}}, "Not answered yet: testing"),
    ],
)
def test_answers_that_do_not_fit(more: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        rating(**more)


def test_states_and_axes_are_those_of_the_rubric() -> None:
    good = answers()
    with pytest.raises(BadInput, match="has no state 'awful'"):
        rating(axes=good.axes | {"core": AxisAnswer(state="awful")})
    with pytest.raises(BadInput, match="no axis 'speed'"):
        rating(axes=good.axes | {"speed": AxisAnswer(state="problem")})
    with pytest.raises(BadInput, match=r"has no state '0\.3'"):
        quality_rating("0.3")


def test_contradictions_show() -> None:
    assert rating("ccccc", would_merge=False).contradiction
    assert rating("pcccc", would_merge=True).contradiction
    assert not rating("ccccc", would_merge=True).contradiction
    assert not rating("ucccc", would_merge=True).contradiction and rating("ucccc").mergeable is None


def test_questions_of_ones_own() -> None:
    rubric = rubric_from_toml(
        'schema = 1\nname = "own"\nversion = "1"\ntitle = "x"\n'
        '[[axes]]\nkey = "a"\ntitle = "A"\nquestion = "A?"\n'
        '[[axes.scale]]\nkey = "lo"\ntitle = "L"\nvalue = 0\n[[axes.scale]]\nkey = "hi"\ntitle = "H"\nvalue = 1\n'
        '[[questions]]\nkey = "effort"\ntitle = "E"\nkind = "level"\nchips = [1, 2, 9]\nrequired = true\n'
        '[[questions]]\nkey = "seen"\ntitle = "S"\nkind = "yes_no"\n'
    )
    line = Answers(axes={"a": AxisAnswer(state="lo")}, others={"effort": 9, "seen": True})
    assert missing(line, rubric) == () and missing(Answers(axes=line.axes), rubric) == ("effort",)
    base = rating().model_copy(update={"rubric": rubric.digest, "axes": line.axes, "mergeable": None, "minutes": None})
    complete = base.model_copy(update={"others": line.others})
    assert check_rating(complete, rubric) == complete
    for wrong in ({"effort": 3}, {"effort": True}, {"seen": 1}, {"effort": "9"}):
        with pytest.raises(BadInput, match="is no answer"):
            check_rating(base.model_copy(update={"others": wrong}), rubric)


@pytest.mark.parametrize(
    "data",
    [
        {"minutes": float("nan")}, {"minutes": float("inf")}, {"minutes": -1}, {"confidence": 6},
        {"notes": "x" * 20_001},
        {"axes": {"core": {"state": "problem", "evidence": [{"path": "a", "line": 3, "end_line": 2}]}}},
        {"axes": {"core": {"state": "problem", "evidence": [{"path": "a", "line": 0, "end_line": 2}]}}},
        {"axes": {"core": {"state": "problem", "evidence": [{"path": "", "line": 1, "end_line": 2}]}}},
        {"axes": {"<script>": {"state": "problem"}}}, {"rater": "me"}, {"would_merge": "perhaps"}, [], None,
        {"active_seconds": -1},
    ],
)  # fmt: skip
def test_hostile_answers_are_one_sentence(data: object) -> None:
    with pytest.raises(BadInput) as caught:
        parse_answers(data)
    assert "\n" not in str(caught.value)


def test_a_rating_never_changes_and_needs_a_time_zone() -> None:
    made = rating()
    with pytest.raises(ValidationError):
        made.notes = "other"  # type: ignore[misc]  # what must be refused
    with pytest.raises(ValidationError):
        Rating.model_validate(made.model_dump() | {"created": NOW.replace(tzinfo=None)})
    with pytest.raises(ValidationError):
        Rating.model_validate(made.model_dump() | {"stars": 5})
    assert Anchor(path="a", line=1, end_line=1).side == "new"


def test_a_rating_from_elsewhere_is_checked() -> None:
    with pytest.raises(BadInput, match="another rubric"):
        check_rating(rating(), QUALITY)
    lacking = {key: value for key, value in rating().axes.items() if key != "lint"}
    with pytest.raises(BadInput, match="does not answer lint"):
        check_rating(rating().model_copy(update={"axes": lacking}), RUBRIC)
    unasked = rating().model_copy(update={"would_merge": None, "minutes": None})
    assert check_rating(unasked, RUBRIC) == unasked
