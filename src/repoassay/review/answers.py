"""What a rater sends: checked against the rubric, and made into a rating with what the rubric derives."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, ValidationError

from repoassay.errors import BadInput
from repoassay.review.rubric import OWN_FIELDS, Rubric, RubricQuestion
from repoassay.text import printable, suggest
from repoassay.types import AxisAnswer, Identifier, Rating, RatingPhase, Record

__all__ = ["Answers", "Context", "check_rating", "missing", "parse_answers", "rated"]


class Answers(Record):
    """What a form holds, finished or not; every field as in `Rating`. A draft is one of these."""

    axes: Annotated[dict[Identifier, AxisAnswer], Field(max_length=50)] = Field(default_factory=dict)
    minutes: Annotated[float, Field(ge=0, le=10**6, allow_inf_nan=False)] | None = None
    would_merge: bool | None = None
    reason: Annotated[str, Field(max_length=200)] = ""
    confidence: Annotated[int, Field(ge=1, le=5)] | None = None
    notes: Annotated[str, Field(max_length=20_000)] = ""
    others: Annotated[dict[Identifier, bool | int | float | str], Field(max_length=50)] = Field(default_factory=dict)
    active_seconds: Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)] = 0.0
    wall_seconds: Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)] = 0.0


class Context(Record):
    """Where a rating belongs: everything in it that is not the rater's to say."""

    id: Identifier
    study: Identifier
    submission: Identifier
    rater: Identifier
    phase: RatingPhase = RatingPhase.BLIND
    version: int = 1
    amends: Identifier | None = None
    position: int = 1
    instructions: int | None = None
    created: datetime
    submitted: datetime


def parse_answers(data: object) -> Answers:
    """Read answers from JSON values.

    Raises:
        BadInput: In one sentence.
    """
    try:
        return Answers.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the form"
        raise BadInput(
            f"The answers cannot be read: {printable(place, 100)}: {printable(str(first['msg']), 200)}."
        ) from None


def missing(answers: Answers, rubric: Rubric) -> tuple[str, ...]:
    """Return the keys of axes and required questions that are not answered yet, in the rubric's order."""
    axes = [axis.key for axis in rubric.axes if axis.key not in answers.axes]
    return (*axes, *(each.key for each in rubric.questions if each.required and _value(answers, each) in (None, "")))


def rated(answers: Answers, rubric: Rubric, context: Context) -> Rating:
    """Make the rating that finished answers are.

    Raises:
        BadInput: When an answer is missing, unknown to the rubric, or not one of its choices.
    """
    absent = missing(answers, rubric)
    if absent:
        raise BadInput(f"Not answered yet: {', '.join(absent)}.", "Answer each, or choose unsure where offered.")
    _check_known(answers, rubric)
    states = {axis: answer.state for axis, answer in answers.axes.items()}
    return Rating(rubric=rubric.digest, mergeable=rubric.mergeable(states), **dict(answers), **dict(context))


def check_rating(rating: Rating, rubric: Rubric) -> Rating:
    """Return a rating that came from elsewhere if it is one of this rubric.

    Raises:
        BadInput: When its rubric, a state, a choice or its derived answer is not what this rubric gives.
    """
    if rating.rubric != rubric.digest:
        raise BadInput(
            f"Rating {rating.id!r} was made on another rubric than {rubric.name!r} {rubric.version}.",
            "Give the rubric it was made on.",
        )
    fields = set(Answers.model_fields)
    answers = Answers(**{key: value for key, value in dict(rating).items() if key in fields})
    # Questions a study did not ask may be absent; axes may not, for denominators count them.
    if absent := [axis.key for axis in rubric.axes if axis.key not in rating.axes]:
        raise BadInput(f"Rating {rating.id!r} does not answer {', '.join(absent)}.", "Complete it.")
    _check_known(answers, rubric)
    derived = rubric.mergeable({axis: answer.state for axis, answer in rating.axes.items()})
    if derived != rating.mergeable:
        raise BadInput(
            f"Rating {rating.id!r} says mergeable is {rating.mergeable}, but its axes make it {derived}.",
            "Leave it as exported, or correct the axes.",
        )
    return rating


def _value(answers: Answers, question: RubricQuestion) -> object:
    if question.key in OWN_FIELDS:
        return getattr(answers, question.key)
    return answers.others.get(question.key)


def _check_known(answers: Answers, rubric: Rubric) -> None:
    known = {axis.key for axis in rubric.axes}
    for axis, answer in answers.axes.items():
        if axis not in known:
            raise BadInput(f"The rubric has no axis {printable(axis)!r}.", suggest(axis, known))
        states = [level.key for level in rubric.levels(axis)]
        if answer.state not in states:
            raise BadInput(
                f"Axis {axis!r} has no state {printable(answer.state)!r}.", f"Choose one of {', '.join(states)}."
            )
    questions = {question.key: question for question in rubric.questions}
    for key in answers.others:
        if key not in questions or key in OWN_FIELDS:
            raise BadInput(f"The rubric has no question {printable(key)!r}.", suggest(key, questions))
    for question in rubric.questions:
        value = _value(answers, question)
        if value is not None and value != "" and not _fits(value, question):
            raise BadInput(f"{printable(str(value))!r} is no answer to {question.key!r}.", _offered(question))


def _fits(value: object, question: RubricQuestion) -> bool:
    if question.kind == "yes_no":
        return isinstance(value, bool)
    if question.kind == "text":
        return isinstance(value, str)
    if question.kind == "choice":
        return value in [choice.key for choice in question.choices]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and (question.kind == "minutes" or value in question.chips)


def _offered(question: RubricQuestion) -> str:
    if question.kind == "choice":
        return f"Choose one of {', '.join(choice.key for choice in question.choices)}."
    if question.kind == "level":
        return f"Choose one of {', '.join(str(chip) for chip in question.chips)}."
    return {"yes_no": "Answer true or false.", "minutes": "Give a number of minutes."}.get(question.kind, "Write text.")
