"""Rubrics: what raters are asked, as a TOML file. Two are bundled: `mergeable` and `quality`."""

from __future__ import annotations

import hashlib
import tomllib
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from repoassay.errors import BadInput
from repoassay.text import printable, suggest
from repoassay.types import Identifier, Number, Record

__all__ = [
    "BUNDLED",
    "OWN_FIELDS",
    "AnswerRole",
    "Axis",
    "Choice",
    "Level",
    "Rubric",
    "RubricQuestion",
    "read_rubric",
    "rubric_from_toml",
]

BUNDLED = ("mergeable", "quality")
"""Names of the rubrics that come with the package."""

_MAX_FILE = 256 * 1024
OWN_FIELDS = {"minutes": "minutes", "would_merge": "yes_no", "reason": "choice", "confidence": "level", "notes": "text"}
"""Questions whose answers have a field of their own in a rating, and the kind each must have."""

_Text = Annotated[str, Field(max_length=10_000)]
_Title = Annotated[str, Field(min_length=1, max_length=300)]


class AnswerRole(StrEnum):
    """What a state of a scale means for the derived rule and for denominators."""

    PROBLEM = "problem"
    CLEAR = "clear"
    NOT_APPLICABLE = "not_applicable"
    UNSURE = "unsure"
    LEVEL = "level"


class Level(Record):
    """One state of a scale. `value` orders it where the scale is one of quantity; those have the role `level`."""

    key: Identifier
    title: _Title
    role: AnswerRole = AnswerRole.LEVEL
    value: Number | None = None
    meaning: _Text = ""


class Axis(Record):
    """One thing judged: the question put, guidance to answer it, and its own scale (empty: the rubric's)."""

    key: Identifier
    title: _Title
    question: _Title
    guidance: _Text = ""
    scale: Annotated[tuple[Level, ...], Field(max_length=20)] = ()


class Choice(Record):
    """One of the answers offered."""

    key: Identifier
    title: _Title


class RubricQuestion(Record):
    """A question beside the axes. `chips` are numbers offered at a click (minutes, or the levels of confidence)."""

    key: Identifier
    title: _Title
    kind: Literal["minutes", "yes_no", "choice", "level", "text"]
    required: bool = False
    chips: Annotated[tuple[Annotated[int, Field(ge=0, le=10**6)], ...], Field(max_length=20)] = ()
    choices: Annotated[tuple[Choice, ...], Field(max_length=30)] = ()

    @model_validator(mode="after")
    def _known_kind(self) -> Self:
        expected = OWN_FIELDS.get(self.key)
        if expected and self.kind != expected:
            raise ValueError(f"question {self.key!r} must be of kind {expected!r}, not {self.kind!r}")
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError(f"question {self.key!r}: `choices` belong to the kind 'choice', which needs them")
        if self.kind == "level" and (not self.chips or (self.key == "confidence" and not {*self.chips} <= {*range(6)})):
            raise ValueError(f"question {self.key!r}: a level needs `chips`, those of confidence being 1 to 5")
        return self


class Rubric(Record):
    """What raters are asked. `rule` `no_problem` derives: mergeable only if no applicable axis has a problem."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    name: Identifier
    version: Identifier
    title: _Title
    guidance: _Text = ""
    rule: Literal["no_problem", "none"] = "none"
    scale: Annotated[tuple[Level, ...], Field(max_length=20)] = ()
    axes: Annotated[tuple[Axis, ...], Field(min_length=1, max_length=50)]
    questions: Annotated[tuple[RubricQuestion, ...], Field(max_length=50)] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _distinct("axis", [axis.key for axis in self.axes])
        _distinct("question", [question.key for question in self.questions])
        for axis in self.axes:
            scale = self.levels(axis.key)
            _distinct(f"state of axis {axis.key!r}", [level.key for level in scale])
            if len(scale) < 2:
                raise ValueError(f"axis {axis.key!r} needs a scale of at least two states")
            if any((level.role is AnswerRole.LEVEL) != (level.value is not None) for level in scale):
                raise ValueError(f"axis {axis.key!r}: each state needs either a `role` or a `value`")
            roles = {level.role for level in scale}
            if self.rule == "no_problem" and not {AnswerRole.PROBLEM, AnswerRole.CLEAR} <= roles:
                raise ValueError(f"axis {axis.key!r}: the rule 'no_problem' needs states of roles problem and clear")
        return self

    def levels(self, axis: str) -> tuple[Level, ...]:
        """The states of an axis, in the order they are shown.

        Raises:
            KeyError: When there is no such axis.
        """
        found = next((each for each in self.axes if each.key == axis), None)
        if found is None:
            raise KeyError(axis)
        return found.scale or self.scale

    def level(self, axis: str, state: str) -> Level:
        """One state of an axis.

        Raises:
            KeyError: When there is no such axis or state.
        """
        found = next((each for each in self.levels(axis) if each.key == state), None)
        if found is None:
            raise KeyError(state)
        return found

    def ordered(self, axis: str) -> bool:
        """Whether every state of the axis has a value, so that medians and distances mean something."""
        return all(level.value is not None for level in self.levels(axis))

    def mergeable(self, states: dict[str, str]) -> bool | None:
        """What the rule derives from the states chosen, one an axis.

        Returns:
            False with any problem; True when every applicable axis is clear and there is one; None where an axis is
            unsure or unanswered, where nothing applies, or where the rubric has no rule.
        """
        if self.rule == "none":
            return None
        roles = [self.level(axis.key, states[axis.key]).role if axis.key in states else None for axis in self.axes]
        if AnswerRole.PROBLEM in roles:
            return False
        applicable = [role for role in roles if role is not AnswerRole.NOT_APPLICABLE]
        return True if applicable and all(role is AnswerRole.CLEAR for role in applicable) else None

    def problems(self, states: dict[str, str]) -> int:
        """How many axes have a problem."""
        return sum(self.level(axis, state).role is AnswerRole.PROBLEM for axis, state in states.items())

    @property
    def digest(self) -> str:
        """SHA-256 of what the rubric says, whatever the layout of its file; ratings name it."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """The rubric as JSON, which `Rubric.model_validate_json` reads back."""
        return self.model_dump_json(by_alias=True)


def rubric_from_toml(text: str, name: str = "rubric") -> Rubric:
    """Read a rubric strictly.

    Args:
        text: TOML, at most 256 KiB.
        name: What to call it in errors.

    Raises:
        BadInput: In one sentence naming the key and what is wrong.
    """
    if len(text) > _MAX_FILE:
        raise BadInput(f"{printable(name, 300)} is larger than {_MAX_FILE:,} characters.", "Shorten its guidance.")
    try:
        return Rubric.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(
            f"{printable(name, 300)} is not TOML: {printable(str(error), 300)}.", "Correct that place."
        ) from None
    except RecursionError:
        raise BadInput(f"{printable(name, 300)} is nested too deeply.", "Rubrics are three levels deep.") from None
    except ValidationError as error:
        raise BadInput(
            _sentence(printable(name, 300), error), "See the bundled rubric `mergeable` for the keys."
        ) from None


def read_rubric(name: str | Path) -> Rubric:
    """Read a bundled rubric by its name, or any by the path of its file.

    Raises:
        BadInput: When there is none, or it is wrong; in one sentence.
    """
    if str(name) in BUNDLED:
        place = files("repoassay.review") / "rubrics" / f"{name}.toml"
        return rubric_from_toml(place.read_text(encoding="utf-8"), f"{name}.toml")
    path = Path(name)
    if not path.is_file():
        raise BadInput(
            f"There is no rubric {printable(str(name), 300)!r}.",
            f"Give the path of a TOML file, or a bundled name. {suggest(str(name), BUNDLED)}",
        )
    try:
        with path.open("rb") as stream:
            text = stream.read(_MAX_FILE + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The rubric {printable(str(path), 300)} cannot be read: {printable(str(error), 200)}."
        ) from error
    return rubric_from_toml(text, str(path))


def _distinct(what: str, keys: list[str]) -> None:
    twice = next((key for number, key in enumerate(keys) if key in keys[:number]), None)
    if twice is not None:
        raise ValueError(f"{what} {twice!r} appears twice")


def _sentence(name: str, error: ValidationError) -> str:
    first: Any = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the rubric"
    wrong = str(first["msg"]).removeprefix("Value error, ")
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{name}: {printable(place, 100)}: {printable(wrong, 300)}{more}."
