"""A study as one tidy long table: a row an answer, with all that analyses of it need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import AwareDatetime  # noqa: TC002 - pydantic reads the annotation

from repoassay.db import Database
from repoassay.review.adjudication import Adjudication
from repoassay.review.adjudication_store import adjudications_of
from repoassay.review.comments import Comment, comments_on
from repoassay.review.plan import plan_digest
from repoassay.review.plan_store import Amendment, amendments_of, excluded_items, inclusions_of, plan_of
from repoassay.review.preparation import ItemUse
from repoassay.review.rater_accounts import Rater, raters_of
from repoassay.review.rubric import Rubric
from repoassay.review.studies import items_of, read_rubric_of, study_of
from repoassay.review.study import Item, Study
from repoassay.review.submitting import ratings_of
from repoassay.review.tidy_columns import TIDY_COLUMNS, AnswerSource, TidyCell, TidyRecord, TidyRow
from repoassay.types import Anchor, Rating, RatingPhase, Record

__all__ = [
    "StudyRecords", "TidyPlan", "TidySettings", "answer_rows", "blind_times", "comment_phase", "study_records",
    "tidy_rows",
]  # fmt: skip


class TidyPlan(Record):
    """A study's plan: the very text its digest is of, when it was saved and frozen, and how it was amended since."""

    text: str
    saved: AwareDatetime
    frozen: AwareDatetime | None = None
    amendments: tuple[Amendment, ...] = ()


class TidySettings(Record):
    """What the row of the record `study` holds as JSON."""

    study: Study
    rubric: Rubric
    plan: TidyPlan | None = None


@dataclass(frozen=True, slots=True)
class StudyRecords:
    """All of a study that its table holds: what was asked, of what, of whom, and what they said.

    `items` are those that count, not those that train raters. `excluded` says why the lead took items out of figures.
    """

    study: Study
    rubric: Rubric
    items: tuple[Item, ...]
    raters: tuple[Rater, ...]
    ratings: tuple[Rating, ...]
    comments: tuple[Comment, ...] = ()
    adjudications: tuple[Adjudication, ...] = ()
    plan: TidyPlan | None = None
    excluded: Mapping[str, str] = field(default_factory=dict)


def study_records(database: Database, name: str) -> StudyRecords:
    """Read a study, answers of judges included.

    Raises:
        BadInput: When there is none of that name.
    """
    study = study_of(database, name)
    items = tuple(item for item in items_of(database, name) if item.use is ItemUse.LIVE)
    stored, names = plan_of(database, name), {item.id for item in items}
    plan = None
    if stored is not None:
        changed = amendments_of(database, name)
        plan = TidyPlan(text=stored.text, saved=stored.saved, frozen=stored.frozen, amendments=changed)
    out = excluded_items(inclusions_of(database, name))
    return StudyRecords(
        study=study,
        rubric=read_rubric_of(database, name),
        items=items,
        raters=raters_of(database, name),
        ratings=ratings_of(database, name, judges=True),
        comments=tuple(comment for item in items for comment in comments_on(database, name, item.id)),
        adjudications=tuple(each for each in adjudications_of(database, name) if each.item in names),
        plan=plan,
        excluded={item: reason for item, reason in out.items() if item in names},
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


def blind_times(ratings: Iterable[Rating]) -> dict[tuple[str, str], datetime]:
    """Return when each rater last answered an item blind, by item and rater."""
    found: dict[tuple[str, str], datetime] = {}
    for each in ratings:
        if each.phase is RatingPhase.BLIND:
            pair = (each.submission, each.rater)
            found[pair] = max(each.submitted, found.get(pair, each.submitted))
    return found


def comment_phase(comment: Comment, blind: Mapping[tuple[str, str], datetime]) -> RatingPhase:
    """Return whether a comment was written after its rater had answered blind (see `blind_times`)."""
    moment = blind.get((comment.item, comment.rater))
    return RatingPhase.REVEALED if moment is not None and comment.created > moment else RatingPhase.BLIND


class _Table:
    """Makes rows, each with the cells of its study, item and rater."""

    def __init__(self, records: StudyRecords) -> None:
        self._given = records
        study = {
            "study": records.study.name,
            "plan_hash": plan_digest(records.plan.text) if records.plan else None,
            "rubric": records.study.rubric,
        }
        self._blank: TidyRow = dict.fromkeys(column.name for column in TIDY_COLUMNS) | study
        self._items = {
            item.id: _item_cells(item) | {"excluded": records.excluded.get(item.id)} for item in records.items
        }
        self._raters = {rater.id: _rater_cells(rater) for rater in records.raters}
        self._blind = blind_times(records.ratings)
        self._newest: dict[tuple[str, str], int] = {}
        for rating in records.ratings:
            pair = (rating.submission, rating.rater)
            self._newest[pair] = max(rating.version, self._newest.get(pair, 0))

    def rows(self) -> Iterator[TidyRow]:
        settings = TidySettings(study=self._given.study, rubric=self._given.rubric, plan=self._given.plan)
        yield self._row(TidyRecord.STUDY, answer=settings.model_dump_json(by_alias=True))
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
        newest = self._newest[rating.submission, rating.rater]
        shared: TidyRow = {
            "rating": rating.id, "version": rating.version, "amends": rating.amends, "phase": rating.phase.value,
            "instructions": rating.instructions, "last": rating.version == newest, "opened_at": rating.created,
            "submitted_at": rating.submitted, "seconds": rating.active_seconds, "wall_seconds": rating.wall_seconds,
            "queue_position": rating.position,
        }  # fmt: skip
        for answer in answer_rows(rating, self._given.rubric):
            yield self._row(TidyRecord.ANSWER, rating.submission, rating.rater, **shared, **answer)
        for axis, axis_answer in rating.axes.items():
            for anchor in axis_answer.evidence:
                cells = shared | _place_cells(anchor) | {"axis": axis}
                yield self._row(TidyRecord.EVIDENCE, rating.submission, rating.rater, **cells)

    def _comment(self, comment: Comment) -> TidyRow:
        phase = comment_phase(comment, self._blind)
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


def _answer(source: AnswerSource, axis: str, answer: bool | int | float | str) -> TidyRow:
    text = ("yes" if answer else "no") if isinstance(answer, bool) else str(answer)
    value = None if isinstance(answer, str) else float(answer)
    return {"asked": source.value, "axis": axis, "answer": text, "value": value}
