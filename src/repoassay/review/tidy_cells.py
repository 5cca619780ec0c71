"""Cells of a tidy table as what they stand for: items, places, answers. What is wrong is named by row and column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from repoassay.errors import BadInput
from repoassay.review.rater_accounts import RaterRole
from repoassay.review.rubric import Rubric
from repoassay.review.study import HiddenPart, Item
from repoassay.review.tidy_columns import AnswerSource, TidyCell, TidyRecord, TidyRow
from repoassay.review.tidy_table import answer_rows
from repoassay.text import printable
from repoassay.types import Anchor, Identifier, Rating

__all__ = [
    "anchor_of_cells",
    "answer_of_cell",
    "identifier_of_cell",
    "item_of_cells",
    "made_of_cells",
    "one_of_codebook",
    "quoted_cell",
    "refuse_cell",
    "text_of_cell",
]  # fmt: skip

_Model = TypeVar("_Model", bound=BaseModel)
_Enum = TypeVar("_Enum", TidyRecord, AnswerSource, RaterRole)
_TESTS: Mapping[TidyCell, bool | None] = {"passed": True, "failed": False, None: None}
_NAME = TypeAdapter[str](Identifier)
_COMPUTED = ("value", "role")
_HIDDEN = ("system", "agent", "model", "run", "attempt", "flagged", "origin")


def item_of_cells(place: str, key: str, row: TidyRow) -> Item:
    """Return an item of its columns. What raters were shown is not in the table."""
    if row["tests"] not in _TESTS:
        refuse_cell(place, "tests", f"{quoted_cell(row['tests'])} is none of passed, failed and nothing")
    cells: dict[str, tuple[str, Any]] = {
        "task": ("task", row["task"]),
        "tests": ("tests", _TESTS[row["tests"]]),
        "golden": ("control", row["control"]),
        "human_minutes": ("human_minutes", row["human_minutes"]),
        **{each: (each, row[each] or "") for each in _HIDDEN},
    }
    hidden = made_of_cells(HiddenPart, place, cells)
    return made_of_cells(Item, place, {"id": ("item", key), "hidden": ("task", hidden)})


def anchor_of_cells(place: str, row: TidyRow) -> Anchor:
    """Return the lines of a file that a row names."""
    line = row["line"]
    cells = {
        "path": ("file", row["file"]),
        "side": ("side", row["side"] or "new"),
        "line": ("line", line),
        "end_line": ("end_line", line if row["end_line"] is None else row["end_line"]),
        "quote": ("quote", row["quote"] or ""),
    }
    return made_of_cells(Anchor, place, cells)


def answer_of_cell(place: str, kind: str, answer: TidyCell) -> bool | int | float | str:
    """Return an answer as a question of this kind has it."""
    text = "" if answer is None else str(answer)
    if kind in {"text", "choice"}:
        return text
    if kind == "yes_no":
        if text not in {"yes", "no"}:
            refuse_cell(place, "answer", f"{quoted_cell(answer)} is neither yes nor no")
        return text == "yes"
    if "_" in text:  # which Python reads as 10 in `1_0`
        refuse_cell(place, "answer", f"{quoted_cell(answer)} is no number")
    try:
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else float(text)
    except ValueError:
        refuse_cell(place, "answer", f"{quoted_cell(answer)} is no number")


def made_of_cells(kind: type[_Model], place: str, cells: Mapping[str, tuple[str, Any]]) -> _Model:
    """Make a record of cells: for each field the column it comes from, and the value.

    Raises:
        BadInput: Naming the column of the first field that is wrong.
    """
    try:
        return kind.model_validate({key: value for key, (_, value) in cells.items()})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = str(first["loc"][0]) if first["loc"] else ""
        wrong = str(first["msg"]).removeprefix("Value error, ")
        column = cells[at][0] if at in cells else next(iter(cells.values()))[0]
        refuse_cell(place, column, printable(wrong, 200))


def one_of_codebook(kind: Callable[[Any], _Enum], value: TidyCell, place: str, column: str) -> _Enum:
    """Return a value of one of the codebook's lists."""
    try:
        return kind(value)
    except ValueError:
        refuse_cell(place, column, f"{quoted_cell(value)} is none of those of the codebook")


def identifier_of_cell(row: TidyRow, column: str, place: str) -> str:
    """Return a cell that names something: letters, digits, dots, dashes and underscores."""
    try:
        return _NAME.validate_python(row[column])
    except ValidationError:
        shown = quoted_cell(row[column])
        refuse_cell(place, column, f"{shown} is no name of 1 to 64 letters, digits, dots, dashes and underscores")


def check_computed(rating: Rating, cells: Mapping[tuple[str, str], tuple[str, TidyRow]], rubric: Rubric) -> None:
    """Refuse what is said to follow from an answer and does not.

    Args:
        rating: What was made of the rows.
        cells: Its rows with their places, by source and axis.
        rubric: Whose levels and rule say what follows.

    Raises:
        BadInput: Naming the row and the column.
    """
    derived = {(str(row["asked"]), str(row["axis"])): row for row in answer_rows(rating, rubric)}
    for key, (place, row) in cells.items():
        follows = derived.get(key)
        if follows is None or (key[0] == AnswerSource.DERIVED and follows["answer"] != row["answer"]):
            shown = "nothing" if follows is None else quoted_cell(follows["answer"])
            refuse_cell(
                place, "answer", f"{quoted_cell(row['answer'])}, but the rating's other answers make it {shown}"
            )
        for each in _COMPUTED:
            expected = follows.get(each)
            if row[each] is not None and row[each] != expected:
                refuse_cell(place, each, f"{quoted_cell(row[each])}, but the answer makes it {quoted_cell(expected)}")


def text_of_cell(row: TidyRow, column: str, place: str) -> str:
    """Return a cell that may not be empty."""
    if row[column] is None:
        refuse_cell(place, column, "nothing is there")
    return str(row[column])


def quoted_cell(cell: TidyCell) -> str:
    """Return a cell as errors print it."""
    return "nothing" if cell is None else repr(printable(str(cell), 100))


def refuse_cell(place: str, column: str, what: str, remedy: str = "Correct that cell.") -> NoReturn:
    """Raise what is wrong with a cell.

    Raises:
        BadInput: Always.
    """
    raise BadInput(f"{place}, column {column}: {what}.", remedy)
