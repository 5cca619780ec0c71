"""A study that was read from a table, kept whole: closed, for it was asked elsewhere and shows raters nothing."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, stamp
from repoassay.review.plan import plan_digest, system_of
from repoassay.review.study import Item
from repoassay.review.tables import (
    adjudications,
    amendments,
    comments,
    inclusions,
    items,
    plans,
    raters,
    ratings,
    studies,
)
from repoassay.review.tidy_table import StudyRecords

__all__ = ["keep_records"]


def keep_records(database: Database, records: StudyRecords, *, at: datetime, actor: str) -> None:
    """Keep a study that was read from a table, in one transaction.

    Raters cannot log in to it, and it is closed.

    Args:
        database: Where.
        records: As `records_of_table` returns them.
        at: The clock.
        actor: Who imports.

    Raises:
        BadInput: When the database has a study of that name, or one of its raters, ratings or comments.
    """
    name = records.study.name
    rows = _rows(records, at, actor)

    def work(connection: sa.Connection) -> None:
        if connection.execute(sa.select(studies.c.name).where(studies.c.name == name)).first():
            raise BadInput(f"There is already a study {name!r}.", "Choose another name with --study.")
        for table, what in ((raters, "rater"), (ratings, "rating"), (comments, "comment")):
            known = set(connection.scalars(sa.select(table.c.id)))
            for row in rows[table]:
                if row["id"] in known:
                    raise BadInput(f"The database has the {what} {row['id']} already.", "Import into a new database.")
        for table, table_rows in rows.items():
            if table_rows:
                connection.execute(sa.insert(table), table_rows)
        counts = (len(records.items), len(records.ratings))
        append(connection, name, at, "study_imported", actor, items=counts[0], ratings=counts[1])

    database.write(work)


def _rows(records: StudyRecords, at: datetime, actor: str) -> dict[sa.Table, list[dict[str, Any]]]:
    name, now = records.study.name, stamp(at)
    of_study: dict[sa.Table, list[dict[str, Any]]] = {
        studies: [
            {
                "name": name,
                "settings": records.study.model_dump_json(),
                "rubric": records.rubric.to_json(),
                "created": now,
                "closed": now,
            }
        ],
        items: [_item_row(name, number, item) for number, item in enumerate(records.items)],
        raters: [
            {"id": each.id, "study": name, "number": each.number, "name": each.name, "role": each.role.value,
             "token": secrets.token_hex(32), "created": now, "active": False}
            for each in records.raters
        ],
        ratings: [
            {"id": each.id, "study": name, "item": each.submission, "rater": each.rater, "phase": each.phase.value,
             "version": each.version, "key": f"import:{each.id}", "rating": each.model_dump_json()}
            for each in records.ratings
        ],
        comments: [
            {"id": each.id, "study": name, "item": each.item, "rater": each.rater, "axis": each.axis,
             "anchor": each.anchor.model_dump_json(), "text": each.text, "created": stamp(each.created)}
            for each in records.comments
        ],
        adjudications: [
            {"study": name, "item": each.item, "axis": each.axis, "adjudication": each.model_dump_json()}
            for each in records.adjudications
        ],
        inclusions: [
            {"study": name, "at": now, "actor": actor, "attempt": item.hidden.attempt, "item": item.id,
             "task": item.hidden.task, "system": system_of(item.hidden), "included": False,
             "reason": records.excluded[item.id]}
            for item in records.items if item.id in records.excluded
        ],
    }  # fmt: skip
    return of_study | _plan_rows(records)


def _item_row(study: str, number: int, item: Item) -> dict[str, Any]:
    return {
        "study": study,
        "id": item.id,
        "number": number,
        "system": item.hidden.system,
        "payload": item.payload.model_dump_json(),
        "hidden": item.hidden.model_dump_json(),
    }


def _plan_rows(records: StudyRecords) -> dict[sa.Table, list[dict[str, Any]]]:
    name, plan = records.study.name, records.plan
    if plan is None:
        return {}
    kept = {
        "study": name,
        "plan": plan.text,
        "digest": plan_digest(plan.text),
        "saved": stamp(plan.saved),
        "frozen": None if plan.frozen is None else stamp(plan.frozen),
    }
    changed = [
        {"study": name, "at": stamp(each.at), "author": each.author, "change": each.change, "reason": each.reason}
        for each in plan.amendments
    ]
    return {plans: [kept], amendments: changed}
