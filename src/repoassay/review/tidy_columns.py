"""Columns of a study's tidy table, declared in this one place, and the codebook that describes them.

A row of the record `answer` is one answer of one rater about one item; the other records say what it was about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from repoassay.review.rubric import Rubric
from repoassay.text import printable

__all__ = ["CONTEXT", "TIDY_COLUMNS", "AnswerSource", "TidyCell", "TidyColumn", "TidyRecord", "TidyRow", "codebook"]

TidyCell = str | int | float | bool | datetime | None
"""A value of a row. None where the column says nothing of it; no text is empty."""
TidyRow = dict[str, TidyCell]
"""A value for each column."""


class TidyRecord(StrEnum):
    """What a row is."""

    STUDY = "study"
    ITEM = "item"
    RATER = "rater"
    ANSWER = "answer"
    EVIDENCE = "evidence"
    COMMENT = "comment"
    ADJUDICATION = "adjudication"


class AnswerSource(StrEnum):
    """Where a row of the record `answer` has its question from."""

    AXIS = "axis"
    FORM = "form"
    OTHER = "other"
    DERIVED = "derived"


_RECORDS: Mapping[TidyRecord, str] = {
    TidyRecord.STUDY: "The study: how it was run, its rubric and its plan, as JSON in `answer`. One row, the first.",
    TidyRecord.ITEM: "One submission, or one control among them, whether or not anybody rated it.",
    TidyRecord.RATER: "One rater, judge or lead, whether or not they rated anything.",
    TidyRecord.ANSWER: "One answer of one version of a rating. Analyses are of these rows.",
    TidyRecord.EVIDENCE: "Lines of a file that show what an answer on an axis says.",
    TidyRecord.COMMENT: "What a rater wrote at lines of a file. Comments that were taken back are left out.",
    TidyRecord.ADJUDICATION: "What a lead settled on an axis of an item; of several on one axis the last counts.",
}

_SOURCES: Mapping[AnswerSource, str] = {
    AnswerSource.AXIS: "an axis of the rubric",
    AnswerSource.FORM: "`minutes`, `would_merge`, `reason`, `confidence` or `notes`",
    AnswerSource.OTHER: "a question that only this rubric asks",
    AnswerSource.DERIVED: "`mergeable`, which the rubric derives from the axes; nobody was asked",
}


@dataclass(frozen=True, slots=True)
class TidyColumn:
    """A column. `values` says which ones are possible; `computed` ones follow from the others and need not be given."""

    name: str
    kind: Literal["text", "integer", "number", "boolean", "time"]
    of: tuple[TidyRecord, ...]
    meaning: str
    values: str = ""
    computed: bool = False


_EVERY = tuple(TidyRecord)
_RATING = (TidyRecord.ANSWER, TidyRecord.EVIDENCE)
_PLACE = (TidyRecord.EVIDENCE, TidyRecord.COMMENT)
_ITEM = (TidyRecord.ITEM, *_RATING, TidyRecord.COMMENT, TidyRecord.ADJUDICATION)
_RATER = (TidyRecord.RATER, *_RATING, TidyRecord.COMMENT)
_AXIS = (*_RATING, TidyRecord.COMMENT, TidyRecord.ADJUDICATION)

TIDY_COLUMNS: tuple[TidyColumn, ...] = (
    TidyColumn("record", "text", _EVERY, "What the row is.", ", ".join(TidyRecord)),
    TidyColumn("study", "text", _EVERY, "Name of the study."),
    TidyColumn("plan_hash", "text", _EVERY, "SHA-256 of the study's plan as it was frozen; empty without a plan."),
    TidyColumn("rubric", "text", _EVERY, "SHA-256 of the rubric; what it asks is in the row of the study."),
    TidyColumn("item", "text", _ITEM, "Opaque name of the submission, which raters saw."),
    TidyColumn("task", "text", _ITEM, "The task that was to be solved: what runs are paired and grouped by."),
    TidyColumn("system", "text", _ITEM, "What is compared: an agent with its model and settings; `human` for people."),
    TidyColumn("agent", "text", _ITEM, "The agent."),
    TidyColumn("model", "text", _ITEM, "The agent's model."),
    TidyColumn("run", "text", _ITEM, "The run of the agent on the suite."),
    TidyColumn("attempt", "text", _ITEM, "The attempt within the run."),
    TidyColumn("tests", "text", _ITEM, "Whether the task's tests passed.", "passed, failed, empty where not known"),
    TidyColumn("control", "text", _ITEM, "A control no rater was told of.", "good, bad, empty for submissions"),
    TidyColumn("flagged", "text", _ITEM, "Why an integrity check wants the item left out of figures."),
    TidyColumn("excluded", "text", _ITEM, "Why the lead took the item out of the figures; empty where it is in them."),
    TidyColumn("human_minutes", "number", _ITEM, "Minutes a person needed for the task."),
    TidyColumn("origin", "text", _ITEM, "Where the submission comes from, such as its suite."),
    TidyColumn("rater", "text", (*_RATER, TidyRecord.ADJUDICATION), "Who rated; of adjudications, who settled."),
    TidyColumn("rater_name", "text", _RATER, "What the rater is called. Take it out before publishing."),
    TidyColumn("rater_role", "text", _RATER, "What the rater is.", "rater, judge (a program), lead, admin"),
    TidyColumn("rater_number", "integer", _RATER, "Place in order of joining, from 0."),
    TidyColumn("rating", "text", _RATING, "Name of this version of the rating."),
    TidyColumn("version", "integer", _RATING, "1 for the first answers; each amendment is one more."),
    TidyColumn("amends", "text", _RATING, "The rating that this one amends."),
    TidyColumn("phase", "text", (*_RATING, TidyRecord.COMMENT),
               "Whether the rater had seen tests, signals and the agent.", "blind, revealed"),
    TidyColumn("instructions", "integer", _RATING, "Version of the instructions that the rater had confirmed."),
    TidyColumn("last", "boolean", _RATING, "Whether it is this rater's last version on the item.", computed=True),
    TidyColumn("asked", "text", (TidyRecord.ANSWER,), "What `axis` names.",
               "; ".join(f"{key.value}: {meaning}" for key, meaning in _SOURCES.items())),
    TidyColumn("axis", "text", _AXIS, "What was asked."),
    TidyColumn("answer", "text", (TidyRecord.STUDY, TidyRecord.ANSWER, TidyRecord.ADJUDICATION),
               "The answer as text: a state of the axis's scale, yes or no, a number, a choice, a note."),
    TidyColumn("value", "number", (TidyRecord.ANSWER,),
               "The answer as a number: minutes, confidence, level; yes is 1, no is 0.", computed=True),
    TidyColumn("role", "text", (TidyRecord.ANSWER,), "What the state of an axis means.",
               "problem, clear, not_applicable, unsure, level", computed=True),
    TidyColumn("comment_id", "text", (TidyRecord.COMMENT,), "Name of the comment."),
    TidyColumn("comment", "text", (TidyRecord.COMMENT, TidyRecord.ADJUDICATION),
               "What the rater wrote; of adjudications, the lead's notes."),
    TidyColumn("file", "text", _PLACE, "File of the change."),
    TidyColumn("side", "text", _PLACE, "Whether lines are counted before or after the change.", "old, new"),
    TidyColumn("line", "integer", _PLACE, "First line, from 1."),
    TidyColumn("end_line", "integer", _PLACE, "Last line."),
    TidyColumn("quote", "text", _PLACE, "Those lines as the rater saw them."),
    TidyColumn("cause", "text", (TidyRecord.ADJUDICATION,), "Why raters disagreed.",
               "guideline_gap, rater_error, real_ambiguity"),
    TidyColumn("opened_at", "time", _RATING, "When the rater opened the item."),
    TidyColumn("submitted_at", "time", (*_RATING, TidyRecord.COMMENT, TidyRecord.ADJUDICATION),
               "When it was submitted, written or settled."),
    TidyColumn("seconds", "number", _RATING, "Seconds with the page in front and in use."),
    TidyColumn("wall_seconds", "number", _RATING, "Seconds from opening to submitting."),
    TidyColumn("queue_position", "integer", _RATING, "Place of the item in the rater's own order, from 1."),
)  # fmt: skip
"""Every column, in order."""

CONTEXT: Mapping[TidyRecord, tuple[str, ...]] = {
    TidyRecord.ITEM: tuple(each.name for each in TIDY_COLUMNS if each.of == _ITEM and each.name != "item"),
    TidyRecord.RATER: tuple(each.name for each in TIDY_COLUMNS if each.of == _RATER and each.name != "rater"),
}
"""Columns that are repeated on every row of an item or a rater, so that no table need be joined."""

_READING = """\
Times are ISO 8601 in UTC. A cell is empty (null in JSON lines and Parquet) where the column says nothing of the row.
In the CSV file a text that a spreadsheet would run as a formula (it begins with `=`, `+`, `-`, `@`, a tab or an
apostrophe) has one apostrophe before it; take it away before you compare texts. What raters were shown (issues, diffs,
files) is not in the table.
"""


def codebook(rubric: Rubric, study: str) -> str:
    """Return the codebook of a study's table, as Markdown.

    Args:
        rubric: The study's, whose axes and states are listed.
        study: The study's name.
    """
    parts = [f"# Codebook of {study}\n", _READING, "## Records\n"]
    parts.append(_table(("record", "a row is"), ((f"`{key.value}`", text) for key, text in _RECORDS.items())))
    rows = (
        (f"`{each.name}`", each.kind, "all" if each.of == _EVERY else ", ".join(each.of), _column_text(each))
        for each in TIDY_COLUMNS
    )
    parts += ["## Columns\n", _table(("column", "kind", "filled in records", "meaning"), rows)]
    parts.append(f"## Rubric {_plain(rubric.name)} {_plain(rubric.version)}\n")
    states = (
        (
            f"`{axis.key}`",
            _plain(axis.question),
            ", ".join(f"{level.key} ({level.role.value})" for level in rubric.levels(axis.key)),
        )
        for axis in rubric.axes
    )
    parts.append(_table(("axis", "question", "answers (role)"), states))
    if rubric.questions:
        questions = ((f"`{each.key}`", each.kind, _plain(each.title)) for each in rubric.questions)
        parts.append(_table(("other question", "kind", "as put"), questions))
    rule = "no applicable axis has a problem" if rubric.rule == "no_problem" else "nothing: this rubric has no rule"
    parts.append(f"`mergeable` is derived from the axes by: {rule}.\n")
    return "\n".join(parts)


def _column_text(column: TidyColumn) -> str:
    values = f" Values: {column.values}." if column.values else ""
    return f"{column.meaning}{values}{' Follows from the other columns.' if column.computed else ''}"


def _table(head: tuple[str, ...], rows: object) -> str:
    assert hasattr(rows, "__iter__")
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _plain(text: str) -> str:
    return printable(text.strip().replace("\n", " "), 400)
