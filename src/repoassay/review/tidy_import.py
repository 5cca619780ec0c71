"""A study made of a tidy table: one that was exported, or an external one with a few of its columns.

What an exported table says twice must agree: each item's and rater's columns on every row, and what follows from an
answer with the answer. So its export is the same table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.review.adjudication import Adjudication
from repoassay.review.answers import check_rating
from repoassay.review.comments import Comment
from repoassay.review.plan import StudyPlan, plan_digest
from repoassay.review.rater_accounts import Rater, RaterRole
from repoassay.review.rubric import OWN_FIELDS, Rubric
from repoassay.review.study import Study, check_study
from repoassay.review.tidy_cells import (
    anchor_of_cells,
    answer_of_cell,
    check_computed,
    identifier_of_cell,
    item_of_cells,
    made_of_cells,
    one_of_codebook,
    quoted_cell,
    refuse_cell,
    text_of_cell,
)
from repoassay.review.tidy_columns import CONTEXT, AnswerSource, TidyRecord, TidyRow
from repoassay.review.tidy_table import StudyRecords, TidyPlan, TidySettings, blind_times, comment_phase
from repoassay.text import printable, suggest
from repoassay.types import Anchor, AxisAnswer, Rating

__all__ = ["records_of_table"]

_ONE_RATING = (
    "version", "amends", "phase", "instructions", "last", "opened_at", "submitted_at", "seconds", "wall_seconds",
    "queue_position",
)  # fmt: skip
_LONGEST_COMMENT = 10_000


def records_of_table(
    rows: Iterable[tuple[str, TidyRow]], *, rubric: Rubric, name: str = "", now: datetime
) -> StudyRecords:
    """Make a study of a table's rows.

    Args:
        rows: Each with the name of its place, as `read_tidy_rows` yields them.
        rubric: What an external table was asked by; an exported one says itself.
        name: What to call the study; empty for what the table says.
        now: When answers were given, where the table does not say.

    Raises:
        BadInput: In one sentence that names the row and the column.
    """
    reader = _TableReader(rubric, now)
    place = ""
    for place, row in rows:
        reader.take(place, row)
    if not place:
        raise BadInput("The table has no rows.", "Export it anew.")
    return reader.finish(name)


def _rating_name(row: TidyRow) -> str:
    """Name a rating after its item and rater, in digits where names have dots of their own or are too long for one."""
    parts = [str(each) for each in (row["item"], row["rater"], row["version"] or row["phase"] or 1)]
    name = ".".join(parts)
    plain = name.count(".") == 2 and len(name) <= 64
    return name if plain else f"rating-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]}"


@dataclass(slots=True)
class _RatingDraft:
    """The rows of one version of a rating, until all are read."""

    place: str
    cells: TidyRow
    axes: dict[str, str] = field(default_factory=dict)
    evidence: dict[str, list[Anchor]] = field(default_factory=dict)
    form: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)
    given: dict[tuple[str, str], tuple[str, TidyRow]] = field(default_factory=dict)


class _TableReader:
    """Takes rows in any order of records, but for the study's, which is the first where there is one."""

    def __init__(self, rubric: Rubric, now: datetime) -> None:
        self._rubric, self._now = rubric, now
        self._study: Study | None = None
        self._plan: TidyPlan | None = None
        self._name = self._first = self._hash = ""
        self._cells: dict[TidyRecord, dict[str, tuple[str, TidyRow]]] = {TidyRecord.ITEM: {}, TidyRecord.RATER: {}}
        self._drafts: dict[str, _RatingDraft] = {}
        self._comments: dict[str, tuple[str, TidyRow, Comment]] = {}
        self._adjudications: list[Adjudication] = []

    def take(self, place: str, row: TidyRow) -> None:
        """Take one row."""
        record = one_of_codebook(TidyRecord, row["record"] or TidyRecord.ANSWER, place, "record")
        if not self._first:
            self._first = place
            self._name = str(row["study"] or "")
        elif record is TidyRecord.STUDY:
            refuse_cell(place, "record", "the row of the study is not the first, or is there twice")
        elif str(row["study"] or "") != self._name:
            refuse_cell(
                place, "study", f"another study than on the rows before, which are of {printable(self._name, 100)!r}"
            )
        if record is TidyRecord.STUDY:
            self._take_study(place, row)
        if row["rubric"] not in (None, self._rubric.digest):
            refuse_cell(
                place, "rubric", "another rubric than the study's; choose the one it was asked by with --rubric"
            )
        if (row["plan_hash"] or "") != self._hash:
            refuse_cell(place, "plan_hash", f"{quoted_cell(row['plan_hash'])} is not the digest of the study's plan")
        if record not in {TidyRecord.STUDY, TidyRecord.RATER}:
            self._note(TidyRecord.ITEM, "item", place, row)
        if record not in {TidyRecord.STUDY, TidyRecord.ITEM, TidyRecord.ADJUDICATION}:
            self._note(TidyRecord.RATER, "rater", place, row)
        if record is TidyRecord.ANSWER:
            self._take_answer(place, row)
        elif record is TidyRecord.EVIDENCE:
            lines = self._draft(place, row).evidence.setdefault(text_of_cell(row, "axis", place), [])
            lines.append(anchor_of_cells(place, row))
        elif record is TidyRecord.COMMENT:
            self._take_comment(place, row)
        elif record is TidyRecord.ADJUDICATION:
            self._take_adjudication(place, row)

    def finish(self, name: str) -> StudyRecords:
        """Return the study when every row was taken."""
        called = name or self._name or "external"
        settings = dict(self._study) if self._study else {"rubric": self._rubric.digest}
        study = made_of_cells(
            Study, self._first, {key: ("study", value) for key, value in (settings | {"name": called}).items()}
        )
        items = tuple(item_of_cells(place, key, row) for key, (place, row) in self._cells[TidyRecord.ITEM].items())
        ratings = [self._rating(key, draft, study.name) for key, draft in self._drafts.items()]
        self._check_versions(ratings)
        self._check_comments(ratings)
        check_study(study, self._rubric, items)
        return StudyRecords(
            study=study,
            rubric=self._rubric,
            items=items,
            raters=self._raters(study.name),
            ratings=tuple(ratings),
            comments=tuple(comment for _, _, comment in self._comments.values()),
            adjudications=tuple(self._adjudications),
            plan=self._plan,
            excluded={
                key: str(row["excluded"]) for key, (_, row) in self._cells[TidyRecord.ITEM].items() if row["excluded"]
            },
        )

    def _take_study(self, place: str, row: TidyRow) -> None:
        try:
            settings = TidySettings.model_validate_json(text_of_cell(row, "answer", place))
            if settings.plan:
                StudyPlan.model_validate_json(settings.plan.text)
        except (ValueError, RecursionError) as error:
            reason = str(error.errors(include_url=False)[0]["msg"]) if isinstance(error, ValidationError) else ""
            refuse_cell(place, "answer", f"no settings, rubric and plan of a study ({printable(reason, 200)})")
        self._study, self._rubric, self._plan = settings.study, settings.rubric, settings.plan
        self._hash = plan_digest(settings.plan.text) if settings.plan else ""
        if settings.study.name != self._name or settings.study.rubric != settings.rubric.digest:
            refuse_cell(place, "answer", "the study or the rubric in it is not the one that the row names")

    def _note(self, record: TidyRecord, column: str, place: str, row: TidyRow) -> None:
        key = identifier_of_cell(row, column, place)
        _, known = self._cells[record].setdefault(key, (place, row))
        for each in CONTEXT[record]:
            if known[each] != row[each]:
                before = quoted_cell(known[each])
                refuse_cell(place, each, f"{quoted_cell(row[each])}, but {before} on a row of the same {column} before")

    def _draft(self, place: str, row: TidyRow) -> _RatingDraft:
        named = row["rating"] or _rating_name(row)
        draft = self._drafts.setdefault(str(named), _RatingDraft(place, row))
        for each in ("item", "rater", *_ONE_RATING):
            if draft.cells[each] != row[each]:
                shown = (
                    f"{quoted_cell(row[each])}, but {quoted_cell(draft.cells[each])} on a row of the same rating before"
                )
                refuse_cell(place, each, shown)
        return draft

    def _take_answer(self, place: str, row: TidyRow) -> None:
        draft, axis = self._draft(place, row), text_of_cell(row, "axis", place)
        source = one_of_codebook(AnswerSource, row["asked"] or self._source(axis), place, "asked")
        if (source.value, axis) in draft.given:
            refuse_cell(place, "axis", f"{printable(axis, 100)!r} was answered before in the same rating")
        draft.given[source.value, axis] = (place, row)
        if source is AnswerSource.AXIS:
            self._check_state(place, axis, text_of_cell(row, "answer", place))
            draft.axes[axis] = text_of_cell(row, "answer", place)
        elif source is AnswerSource.FORM:
            self._refuse_unknown(place, axis, OWN_FIELDS, "question of every form")
            draft.form[axis] = answer_of_cell(place, OWN_FIELDS[axis], row["answer"])
        elif source is AnswerSource.OTHER:
            kinds = {each.key: each.kind for each in self._rubric.questions if each.key not in OWN_FIELDS}
            self._refuse_unknown(place, axis, kinds, "question of the rubric")
            draft.others[axis] = answer_of_cell(place, kinds[axis], row["answer"])

    def _source(self, axis: str) -> AnswerSource:
        if axis in {each.key for each in self._rubric.axes}:
            return AnswerSource.AXIS
        if axis in OWN_FIELDS:
            return AnswerSource.FORM
        return AnswerSource.DERIVED if axis == "mergeable" else AnswerSource.OTHER

    def _check_state(self, place: str, axis: str, state: str) -> None:
        self._check_axis(place, axis)
        states = [level.key for level in self._rubric.levels(axis)]
        if state not in states:
            shown = f"{printable(state, 100)!r} is no state of {axis}"
            refuse_cell(place, "answer", shown, f"Write one of {', '.join(states)}.")

    def _check_axis(self, place: str, axis: str) -> None:
        self._refuse_unknown(place, axis, [each.key for each in self._rubric.axes], "axis of the rubric")

    def _refuse_unknown(self, place: str, axis: str, known: Iterable[str], what: str) -> None:
        names = list(known)
        if axis not in names:
            refuse_cell(place, "axis", f"{printable(axis, 100)!r} is no {what}", suggest(axis, names))

    def _take_comment(self, place: str, row: TidyRow) -> None:
        numbered = {**row, "comment_id": row["comment_id"] or f"comment-{len(self._comments) + 1}"}
        key, text = identifier_of_cell(numbered, "comment_id", place), text_of_cell(row, "comment", place)
        if key in self._comments:
            refuse_cell(place, "comment_id", "there was a comment of this name before")
        if len(text) > _LONGEST_COMMENT:
            refuse_cell(place, "comment", f"longer than {_LONGEST_COMMENT:,} characters")
        axis = None if row["axis"] is None else str(row["axis"])
        if axis is not None:
            self._check_axis(place, axis)
        anchor, at = anchor_of_cells(place, row), self._moment(row)
        comment = Comment(key, str(row["item"]), str(row["rater"]), axis, anchor, text, at)
        self._comments[key] = (place, row, comment)

    def _take_adjudication(self, place: str, row: TidyRow) -> None:
        axis, state = text_of_cell(row, "axis", place), text_of_cell(row, "answer", place)
        self._check_state(place, axis, state)
        cells: dict[str, tuple[str, Any]] = {
            "item": ("item", row["item"]),
            "axis": ("axis", axis),
            "state": ("answer", state),
            "cause": ("cause", row["cause"]),
            "by": ("rater", row["rater"]),
            "at": ("submitted_at", self._moment(row)),
            "notes": ("comment", row["comment"] or ""),
        }
        self._adjudications.append(made_of_cells(Adjudication, place, cells))

    def _raters(self, study: str) -> tuple[Rater, ...]:
        raters, numbers, names = list[Rater](), set[int](), set[str]()
        for key, (place, row) in self._cells[TidyRecord.RATER].items():
            role = one_of_codebook(RaterRole, row["rater_role"] or RaterRole.RATER, place, "rater_role")
            number, called = row["rater_number"], str(row["rater_name"] or key)
            number = len(raters) if number is None else number
            assert isinstance(number, int)
            if number in numbers or not 0 <= number < 2**31:
                refuse_cell(place, "rater_number", "another rater's, or no place in an order")
            if called in names or len(called) > 200:
                refuse_cell(place, "rater_name", "another rater's, or longer than 200 characters")
            numbers.add(number)
            names.add(called)
            raters.append(Rater(key, study, number, called, role, active=False))
        return tuple(sorted(raters, key=lambda each: each.number))

    def _rating(self, key: str, draft: _RatingDraft, study: str) -> Rating:
        row, place = draft.cells, draft.place
        submitted = self._moment(row)
        for strange in draft.evidence.keys() - draft.axes.keys():
            shown = f"there is evidence on {printable(strange, 100)!r}, which the rating does not answer"
            refuse_cell(place, "axis", shown)
        axes = {
            axis: AxisAnswer(state=state, evidence=tuple(draft.evidence.get(axis, ())))
            for axis, state in draft.axes.items()
        }
        cells: dict[str, tuple[str, Any]] = {
            "id": ("rating", key), "study": ("study", study), "submission": ("item", row["item"]),
            "rater": ("rater", row["rater"]), "rubric": ("rubric", self._rubric.digest),
            "phase": ("phase", row["phase"] or "blind"), "version": ("version", row["version"] or 1),
            "amends": ("amends", row["amends"]), "axes": ("answer", axes), "others": ("answer", draft.others),
            "mergeable": ("answer", self._rubric.mergeable(draft.axes)),
            "created": ("opened_at", row["opened_at"] or submitted),
            "submitted": ("submitted_at", submitted), "active_seconds": ("seconds", row["seconds"] or 0.0),
            "wall_seconds": ("wall_seconds", row["wall_seconds"] or 0.0),
            "position": ("queue_position", row["queue_position"] or 1),
            "instructions": ("instructions", row["instructions"]),
            **{each: ("answer", value) for each, value in draft.form.items()},
        }  # fmt: skip
        rating = made_of_cells(Rating, place, cells)
        try:
            check_rating(rating, self._rubric)
        except BadInput as error:
            raise BadInput(f"{place}, column answer: {error.message}", error.remedy) from None
        check_computed(rating, draft.given, self._rubric)
        return rating

    def _check_versions(self, ratings: list[Rating]) -> None:
        seen: dict[tuple[str, str, int], str] = {}
        newest: dict[tuple[str, str], int] = {}
        for rating in ratings:
            pair = (rating.submission, rating.rater)
            newest[pair] = max(rating.version, newest.get(pair, 0))
        for rating in ratings:
            cells, place = self._drafts[rating.id].cells, self._drafts[rating.id].place
            pair = (rating.submission, rating.rater)
            if seen.setdefault((*pair, rating.version), rating.id) != rating.id:
                refuse_cell(place, "version", "the same rater has two ratings of this item with one version")
            before = self._drafts.get(rating.amends or "")
            if rating.amends is not None and (before is None or before.cells["item"] != rating.submission):
                refuse_cell(place, "amends", "it names no rating of this item in the table")
            if cells["last"] not in (None, rating.version == newest[pair]):
                refuse_cell(place, "last", "the versions of this rater's ratings of the item say otherwise")

    def _check_comments(self, ratings: list[Rating]) -> None:
        answered = blind_times(ratings)
        for place, row, comment in self._comments.values():
            if row["phase"] not in (None, found := comment_phase(comment, answered).value):
                refuse_cell(place, "phase", f"{quoted_cell(row['phase'])}, but the times make it {found}")

    def _moment(self, row: TidyRow) -> datetime:
        moment = row["submitted_at"]
        return moment if isinstance(moment, datetime) else self._now
