"""Studies and their items in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, read_stored, stamp
from repoassay.review.plan import PlanAnswers, complete_plan
from repoassay.review.plan_store import put_plan
from repoassay.review.preparation import AnswerKey, ItemUse
from repoassay.review.rubric import Rubric
from repoassay.review.study import HiddenPart, Item, ItemPayload, Study, check_study
from repoassay.review.tables import item_uses, items, studies
from repoassay.text import printable

__all__ = [
    "close_study",
    "create_study",
    "hidden_of",
    "is_closed",
    "item_names",
    "items_of",
    "payload_of",
    "read_rubric_of",
    "reopen_study",
    "study_names",
    "study_of",
    "uses_in",
    "uses_of",
]  # fmt: skip


def create_study(
    database: Database,
    study: Study,
    rubric: Rubric,
    study_items: Sequence[Item],
    *,
    at: datetime,
    by: str = "",
    plan: PlanAnswers | None = None,
) -> None:
    """Keep a new study with its rubric and items, which never change afterwards, and its plan, which may until frozen.

    Raises:
        BadInput: When the study cannot work (see `check_study`), the name is taken, or the plan contradicts the study.
    """
    check_study(study, rubric, study_items)
    whole = complete_plan(study, rubric, study_items, plan)
    rows = [
        {
            "study": study.name,
            "id": item.id,
            "number": number,
            "system": item.hidden.system,
            "payload": item.payload.model_dump_json(),
            "hidden": item.hidden.model_dump_json(),
        }
        for number, item in enumerate(study_items)
    ]
    uses = [
        {"study": study.name, "item": item.id, "use": item.use.value, "reference": item.key.model_dump_json()}
        for item in study_items
        if item.use is not ItemUse.LIVE and item.key is not None
    ]

    def work(connection: sa.Connection) -> None:
        if connection.execute(sa.select(studies.c.name).where(studies.c.name == study.name)).first():
            raise BadInput(f"There is already a study {study.name!r}.", "Choose another name.")
        row = {
            "name": study.name,
            "settings": study.model_dump_json(),
            "rubric": rubric.to_json(),
            "created": stamp(at),
        }
        connection.execute(sa.insert(studies), row)
        connection.execute(sa.insert(items), rows)
        if uses:
            connection.execute(sa.insert(item_uses), uses)
        append(connection, study.name, at, "study_created", by, items=len(rows), rubric=rubric.digest)
        put_plan(connection, study.name, whole, at=at, actor=by)

    database.write(work)


def study_names(database: Database) -> tuple[str, ...]:
    """Return the names of all studies, oldest first."""
    with database.reading() as connection:
        return tuple(connection.scalars(sa.select(studies.c.name).order_by(studies.c.created, studies.c.name)))


def study_of(database: Database, name: str) -> Study:
    """Return a study.

    Raises:
        BadInput: When there is none of that name.
    """
    return _load(database, name)[0]


def read_rubric_of(database: Database, name: str) -> Rubric:
    """Return the rubric of a study, as it was when the study was made.

    Raises:
        BadInput: When there is no such study.
    """
    return _load(database, name)[1]


def is_closed(database: Database, name: str) -> bool:
    """Whether a study takes no more blind ratings."""
    with database.reading() as connection:
        return connection.scalar(sa.select(studies.c.closed).where(studies.c.name == name)) is not None


def close_study(database: Database, name: str, *, at: datetime, by: str) -> None:
    """Take no more blind ratings; where the study reveals after closing, revealed ones begin.

    Raises:
        BadInput: When there is no such study.
    """
    study_of(database, name)

    def work(connection: sa.Connection) -> None:
        open_ = sa.and_(studies.c.name == name, studies.c.closed.is_(None))
        if connection.execute(sa.update(studies).where(open_).values(closed=stamp(at))).rowcount:
            append(connection, name, at, "study_closed", by)

    database.write(work)


def reopen_study(database: Database, name: str, *, at: datetime, actor: str) -> None:
    """Undo `close_study`: blind ratings are taken again. What was revealed meanwhile stays in the log as it was.

    Raises:
        BadInput: When there is no such study.
    """
    study_of(database, name)

    def work(connection: sa.Connection) -> None:
        shut = sa.and_(studies.c.name == name, studies.c.closed.is_not(None))
        if connection.execute(sa.update(studies).where(shut).values(closed=None)).rowcount:
            append(connection, name, at, "study_reopened", actor)

    database.write(work)


def uses_of(database: Database, study: str) -> dict[str, tuple[ItemUse, AnswerKey]]:
    """Return the items of a study that train or qualify raters, with their keys; all others are live."""
    with database.reading() as connection:
        return uses_in(connection, study)


def uses_in(connection: sa.Connection, study: str) -> dict[str, tuple[ItemUse, AnswerKey]]:
    """Return the same within a transaction."""
    rows = connection.execute(sa.select(item_uses).where(item_uses.c.study == study))
    return {row.item: (ItemUse(row.use), read_stored(AnswerKey, row.reference)) for row in rows}


def item_names(database: Database, study: str) -> tuple[str, ...]:
    """Return the opaque names of a study's items, in the order they were given."""
    with database.reading() as connection:
        return tuple(connection.scalars(sa.select(items.c.id).where(items.c.study == study).order_by(items.c.number)))


def items_of(database: Database, study: str) -> tuple[Item, ...]:
    """Return whole items, hidden halves included: for leads, figures and exports, never for a rater's page."""
    with database.reading() as connection:
        rows = connection.execute(sa.select(items).where(items.c.study == study).order_by(items.c.number)).all()
        uses = uses_in(connection, study)
    return tuple(
        Item(
            id=row.id,
            payload=read_stored(ItemPayload, row.payload),
            hidden=read_stored(HiddenPart, row.hidden),
            use=uses[row.id][0] if row.id in uses else ItemUse.LIVE,
            key=uses[row.id][1] if row.id in uses else None,
        )
        for row in rows
    )


def payload_of(database: Database, study: str, item: str) -> ItemPayload:
    """Return what raters see of an item; the hidden half is not read.

    Raises:
        BadInput: When there is no such item.
    """
    return read_stored(ItemPayload, _column(database, study, item, items.c.payload))


def hidden_of(database: Database, study: str, item: str) -> HiddenPart:
    """Return what raters must not know of an item; callers check first that it may be revealed.

    Raises:
        BadInput: When there is no such item.
    """
    return read_stored(HiddenPart, _column(database, study, item, items.c.hidden))


def _column(database: Database, study: str, item: str, column: sa.Column[str]) -> str:
    with database.reading() as connection:
        found = connection.scalar(sa.select(column).where(items.c.study == study, items.c.id == item))
    if found is None:
        raise BadInput(f"The study {printable(study)!r} has no item {printable(item)!r}.", "Open one from your queue.")
    return str(found)


def _load(database: Database, name: str) -> tuple[Study, Rubric]:
    known: tuple[Study, Rubric] | None = database.cache.get(("study", name))
    if known is None:
        with database.reading() as connection:
            row = connection.execute(sa.select(studies).where(studies.c.name == name)).first()
        if row is None:
            raise BadInput(f"There is no study {printable(name)!r}.", "List the studies to see their names.")
        known = (read_stored(Study, row.settings), read_stored(Rubric, row.rubric))
        database.cache["study", name] = known
    return known
