"""Labels that people and models give to attempts: `labels.jsonl` in a run's folder, only ever added to.

What people say stands above what the rules say.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from repoassay.diagnosis.classes import SUBCLASSES, ErrorClass, Subclass, parse_class
from repoassay.diagnosis.diagnoser import Diagnosis
from repoassay.errors import BadInput
from repoassay.records import JsonLines, record_codec
from repoassay.types import Record

__all__ = ["LABELS", "Effective", "Label", "effective", "label_book", "label_from_text"]

LABELS = "labels.jsonl"
"""Name of the file in a run's folder."""
_MOST_BYTES = 64 * 2**20
_LONGEST_LINE = 64 * 2**10


class Label(Record):
    """One label: whose, when, and of which attempt. A correction is a further label.

    Attributes:
        primary: The class; None says that the attempt shows none, or with `unclear` that nobody can tell.
        also: Further classes. `original`: the words in which the class was given.
    """

    attempt: Annotated[str, Field(min_length=1, max_length=200)]
    author: Annotated[str, Field(min_length=1, max_length=200)]
    by: Literal["person", "rules", "model"] = "person"
    at: AwareDatetime
    primary: ErrorClass | None = None
    subclass: Subclass | None = None
    also: tuple[ErrorClass, ...] = ()
    unclear: bool = False
    original: Annotated[str, Field(max_length=200)] = ""
    note: Annotated[str, Field(max_length=4000)] = ""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.unclear and self.primary is not None:
            raise ValueError("is unclear and has a class; keep one")
        if self.subclass is not None and (self.primary is None or self.subclass not in SUBCLASSES[self.primary]):
            raise ValueError(f"{self.subclass.value} is no subclass of {self.primary or 'no class'}")
        if self.primary in self.also or len(set(self.also)) < len(self.also):
            raise ValueError("names a class twice")
        return self

    @property
    def value(self) -> str:
        """`E1` to `E5`, `unclear`, or `none`."""
        return self.primary.value if self.primary else "unclear" if self.unclear else "none"


def label_book(run: Path) -> JsonLines[Label]:
    """The file of labels in a run's folder."""
    return JsonLines(run / LABELS, record_codec(Label), limit=_MOST_BYTES, longest=_LONGEST_LINE)


class Effective(Record):
    """The label in force for an attempt: the value, who says so, and whether people who labelled it last differ."""

    value: str
    source: Literal["person", "rules"]
    label: Label | None = None
    disputed: bool = False


def label_from_text(text: str, *, attempt: str, author: str, at: AwareDatetime, note: str = "") -> Label:
    """A person's label from the words they used: a class in any spelling, `none` or `unclear`.

    Raises:
        BadInput: When the words name no class.
    """
    word = text.strip().lower()
    if word in {"none", "unclear"}:
        return Label(attempt=attempt, author=author, at=at, unclear=word == "unclear", original=text[:200], note=note)
    try:
        named = parse_class(text)
    except ValueError as error:
        raise BadInput(f"The label of {attempt}: {error}, or none, or unclear.") from error
    return Label(attempt=attempt, author=author, at=at, primary=named.code, original=named.original, note=note)


def effective(attempt: str, labels: Iterable[Label], diagnosis: Diagnosis) -> Effective:
    """The latest label by a person, else what the rules say; a model's label never holds by itself.

    Of labels with the same time the later in the order given counts. `disputed` compares each person's last label.
    """
    people = sorted((one for one in labels if one.attempt == attempt and one.by == "person"), key=lambda one: one.at)
    if not people:
        return Effective(value=diagnosis.label, source="rules")
    last = {one.author: one.value for one in people}
    return Effective(value=people[-1].value, source="person", label=people[-1], disputed=len(set(last.values())) > 1)
