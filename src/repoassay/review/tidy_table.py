"""A study as one tidy long table: a row an answer, with all that analyses of it need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from repoassay.db import Database
from repoassay.review.adjudication import Adjudication
from repoassay.review.adjudication_store import adjudications_of
from repoassay.review.comments import Comment, comments_on
from repoassay.review.plan_store import plan_hash
from repoassay.review.rater_accounts import Rater, raters_of
from repoassay.review.rubric import Rubric
from repoassay.review.studies import items_of, read_rubric_of, study_of
from repoassay.review.study import Item, Study
from repoassay.review.submitting import ratings_of
from repoassay.review.tidy_columns import TIDY_COLUMNS, AnswerSource, TidyCell, TidyRecord, TidyRow
from repoassay.types import Anchor, Rating, RatingPhase

__all__ = ["StudyRecords", "answer_rows", "study_records", "tidy_rows"]


@dataclass(frozen=True, slots=True)
class StudyRecords:
    """All of a study that its table holds: what was asked, of what, of whom, and what they said."""

    study: Study
    rubric: Rubric
    items: tuple[Item, ...]
    raters: tuple[Rater, ...]
    ratings: tuple[Rating, ...]
    comments: tuple[Comment, ...] = ()
    adjudications: tuple[Adjudication, ...] = ()
    plan_hash: str = ""


def study_records(database: Database, name: str) -> StudyRecords:
    """Read a study, answers of judges included.

    Raises:
        BadInput: When there is none of that name.
    """
    study, items = study_of(database, name), items_of(database, name)
    return StudyRecords(
        study=study,
        rubric=read_rubric_of(database, name),
        items=items,
        raters=raters_of(database, name),
        ratings=ratings_of(database, name, judges=True),
        comments=tuple(comment for item in items for comment in comments_on(database, name, item.id)),
        adjudications=adjudications_of(database, name),
        plan_hash=plan_hash(database, name),
    )


def tidy_rows(records: StudyRecords) -> tuple[TidyRow, ...]:
    """Return the rows of a study: the study, items, raters, answers with their evidence, comments, adjudications."""
    return tuple(_Table(records).rows())


def answer_rows(rating: Rating, rubric: Rubric) -> Iterator[TidyRow]:
    """Yield an answer's own cells, one row a question that was answered: axes first, then the form, then the rest."""
    for key, answer in rating.axes.items():
        level = rubric.level(key, answer.state)
        yield _answer(AnswerSource.AXIS, key, answer.state) | {"value": level.value, "role": level.role.value}
    if rating.minutes is not None:
        yield _answer(AnswerSource.FORM, "minutes", rating.minutes)
    if rating.would_merge is not None:
        yield _answer(AnswerSource.FORM, "would_merge", rating.would_merge)
    if rating.reason:
        yield _answer(AnswerSource.FORM, "reason", rating.reason)
    if rating.confidence is not None:
        yield _answer(AnswerSource.FORM, "confidence", rating.confidence)
    if rating.notes:
        yield _answer(AnswerSource.FORM, "notes", rating.notes)
    for key, value in rating.others.items():
        yield _answer(AnswerSource.OTHER, key, value)
    if rating.mergeable is not None:
        yield _answer(AnswerSource.DERIVED, "mergeable", rating.mergeable)


class _Table:
    """Makes rows, each with the cells of its study, item and rater."""

    def __init__(self, given: StudyRecords) -> None:
        self._given = given
        study = {"study": given.study.name, "plan_hash": given.plan_hash or None, "rubric": given.study.rubric}
        self._blank: TidyRow = dict.fromkeys(column.name for column in TIDY_COLUMNS) | study
        self._items = {item.id: _item_cells(item) for item in given.items}
        self._raters = {rater.id: _rater_cells(rater) for rater in given.raters}
        self._newest: dict[tuple[str, str], int] = {}
        for rating in given.ratings:
            pair = (rating.submission, rating.rater)
            self._newest[pair] = max(rating.version, self._newest.get(pair, 0))

    def rows(self) -> Iterator[TidyRow]:
        settings = f'{{"study":{self._given.study.model_dump_json()},"rubric":{self._given.rubric.to_json()}}}'
        yield self._row(TidyRecord.STUDY, answer=settings)
        for item in self._given.items:
            yield self._row(TidyRecord.ITEM, item.id)
        for rater in self._given.raters:
            yield self._row(TidyRecord.RATER, rater=rater.id)
        for rating in self._given.ratings:
            yield from self._rating(rating)
        for comment in self._given.comments:
            yield self._comment(comment)
        for settled in self._given.adjudications:
            yield self._row(
                TidyRecord.ADJUDICATION, settled.item, settled.by, axis=settled.axis, answer=settled.state,
                cause=settled.cause.value, comment=settled.notes, submitted_at=settled.at,
            )  # fmt: skip

    def _row(self, record: TidyRecord, item: str = "", rater: str = "", **cells: TidyCell) -> TidyRow:
        own: TidyRow = {"record": record.value}
        if item:
            own |= {"item": item, **self._items.get(item, {})}
        if rater:
            own |= {"rater": rater}
            own |= self._raters.get(rater, {}) if record is not TidyRecord.ADJUDICATION else {}
        row = self._blank | own | cells
        # Empty texts and absent ones are the same in a CSV file, so they are in every format.
        return {name: None if cell == "" else cell for name, cell in row.items()}

    def _rating(self, rating: Rating) -> Iterator[TidyRow]:
        shared: TidyRow = {
            "rating": rating.id, "version": rating.version, "amends": rating.amends, "phase": rating.phase.value,
            "last": rating.version == self._newest[rating.submission, rating.rater], "opened_at": rating.created,
            "submitted_at": rating.submitted, "seconds": rating.active_seconds, "wall_seconds": rating.wall_seconds,
            "queue_position": rating.position,
        }  # fmt: skip
        for answer in answer_rows(rating, self._given.rubric):
            yield self._row(TidyRecord.ANSWER, rating.submission, rating.rater, **shared, **answer)
        for axis, given in rating.axes.items():
            for anchor in given.evidence:
                cells = shared | _place_cells(anchor) | {"axis": axis}
                yield self._row(TidyRecord.EVIDENCE, rating.submission, rating.rater, **cells)

    def _comment(self, comment: Comment) -> TidyRow:
        blind = [
            rating.submitted for rating in self._given.ratings
            if (rating.submission, rating.rater, rating.phase) == (comment.item, comment.rater, RatingPhase.BLIND)
        ]  # fmt: skip
        phase = RatingPhase.REVEALED if blind and comment.created > max(blind) else RatingPhase.BLIND
        return self._row(
            TidyRecord.COMMENT, comment.item, comment.rater, comment_id=comment.id, axis=comment.axis,
            comment=comment.text, submitted_at=comment.created, phase=phase.value, **_place_cells(comment.anchor),
        )  # fmt: skip


def _item_cells(item: Item) -> TidyRow:
    hidden = item.hidden
    return {
        "task": hidden.task, "system": hidden.system, "agent": hidden.agent, "model": hidden.model, "run": hidden.run,
        "attempt": hidden.attempt, "tests": None if hidden.tests is None else "passed" if hidden.tests else "failed",
        "control": hidden.golden.value if hidden.golden else None, "flagged": hidden.flagged,
        "human_minutes": hidden.human_minutes, "origin": hidden.origin,
    }  # fmt: skip


def _rater_cells(rater: Rater) -> TidyRow:
    return {"rater_name": rater.name, "rater_role": rater.role.value, "rater_number": rater.number}


def _place_cells(anchor: Anchor) -> TidyRow:
    return {
        "file": anchor.path, "side": anchor.side, "line": anchor.line, "end_line": anchor.end_line,
        "quote": anchor.quote,
    }  # fmt: skip


def _answer(asked: AnswerSource, axis: str, answer: bool | int | float | str) -> TidyRow:
    text = ("yes" if answer else "no") if isinstance(answer, bool) else str(answer)
    value = None if isinstance(answer, str) else float(answer)
    return {"asked": asked.value, "axis": axis, "answer": text, "value": value}
