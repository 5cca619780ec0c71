"""Adjudications in the database: added, never changed; the last of an axis counts."""

from __future__ import annotations

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.adjudication import Adjudication
from repoassay.review.database import append, read_stored
from repoassay.review.studies import item_names, read_rubric_of
from repoassay.review.tables import adjudications
from repoassay.text import printable

__all__ = ["adjudications_of", "settle"]


def settle(database: Database, study: str, adjudication: Adjudication) -> None:
    """Keep an adjudication.

    Raises:
        BadInput: When the study has no such item, or its rubric no such axis or state.
    """
    if adjudication.item not in item_names(database, study):
        raise BadInput(
            f"The study {printable(study)!r} has no item {printable(adjudication.item)!r}.", "Choose one of the queue."
        )
    try:
        read_rubric_of(database, study).level(adjudication.axis, adjudication.state)
    except KeyError as error:
        raise BadInput(f"The rubric has no axis or state {error}.", "Choose one that is shown.") from None

    def work(connection: sa.Connection) -> None:
        row = {
            "study": study,
            "item": adjudication.item,
            "axis": adjudication.axis,
            "adjudication": adjudication.model_dump_json(),
        }
        connection.execute(sa.insert(adjudications), row)
        details = {"axis": adjudication.axis, "state": adjudication.state, "cause": adjudication.cause.value}
        append(connection, study, adjudication.at, "adjudicated", adjudication.by, adjudication.item, **details)

    database.write(work)


def adjudications_of(database: Database, study: str) -> tuple[Adjudication, ...]:
    """Return a study's adjudications in the order they were made."""
    query = sa.select(adjudications.c.adjudication).where(adjudications.c.study == study)
    with database.reading() as connection:
        lines = connection.scalars(query.order_by(adjudications.c.number))
        return tuple(read_stored(Adjudication, text) for text in lines)
