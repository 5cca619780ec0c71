"""Plans, their amendments, and which attempts are in a study and why, in the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, read_stored, stamp
from repoassay.review.plan import StudyPlan, plan_digest, system_of
from repoassay.review.study import HiddenPart
from repoassay.review.tables import amendments, inclusions, items, plans, ratings, studies
from repoassay.text import printable

__all__ = [
    "Amendment",
    "Inclusion",
    "StoredPlan",
    "amend_plan",
    "amendments_of",
    "decide_item",
    "excluded_items",
    "freeze_at_first_rating",
    "freeze_plan",
    "inclusions_of",
    "note_inclusions",
    "plan_hash",
    "plan_of",
    "save_plan",
]

_EARLIEST = "A plan is made before the first rating."


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A plan, the very text its digest is of, when it was saved, and when it was frozen (None: not yet)."""

    plan: StudyPlan
    text: str
    digest: str
    saved: datetime
    frozen: datetime | None


@dataclass(frozen=True, slots=True)
class Amendment:
    """A departure from a frozen plan: when it was made, by whom, what changed, and why."""

    at: datetime
    author: str
    change: str
    reason: str


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Whether an attempt is in the study, and why. `item` is empty for one that never became an item."""

    attempt: str
    task: str
    system: str
    included: bool
    reason: str
    item: str = ""
    at: datetime | None = None
    actor: str = ""


def plan_hash(database: Database, study: str) -> str:
    """Return the digest of a study's plan, 64 hexadecimal digits; empty for a study that has none.

    Studies made by RepoAssay 0.2 and before have none until one is saved.
    """
    with database.reading() as connection:
        return connection.scalar(sa.select(plans.c.digest).where(plans.c.study == study)) or ""


def plan_of(database: Database, study: str) -> StoredPlan | None:
    """Return the plan of a study; None where it has none."""
    with database.reading() as connection:
        row = connection.execute(sa.select(plans).where(plans.c.study == study)).first()
    if row is None:
        return None
    frozen = None if row.frozen is None else datetime.fromisoformat(row.frozen)
    plan = read_stored(StudyPlan, row.plan)
    return StoredPlan(plan, row.plan, row.digest, datetime.fromisoformat(row.saved), frozen)


def save_plan(database: Database, study: str, plan: StudyPlan, *, at: datetime, actor: str) -> str:
    """Keep a plan in place of the one before, and return its digest.

    Raises:
        BadInput: When the plan is frozen, the study has ratings already, or there is no such study.
    """

    def work(connection: sa.Connection) -> str:
        return put_plan(connection, study, plan, at=at, actor=actor)

    return database.write(work)


def put_plan(connection: sa.Connection, study: str, plan: StudyPlan, *, at: datetime, actor: str) -> str:
    """As `save_plan`, in a transaction that is under way."""
    _locked(connection, study)
    row = connection.execute(sa.select(plans).where(plans.c.study == study)).first()
    if row is not None and row.frozen is not None:
        raise BadInput(f"The plan of {study!r} was frozen at {row.frozen}.", "Amend it, with the reason.")
    if connection.execute(sa.select(ratings.c.id).where(ratings.c.study == study).limit(1)).first():
        raise BadInput(f"The study {study!r} has ratings already.", _EARLIEST)
    text = plan.to_json()
    digest = plan_digest(text)
    values = {"plan": text, "digest": digest, "saved": stamp(at)}
    if row is None:
        connection.execute(sa.insert(plans), values | {"study": study})
    else:
        connection.execute(sa.update(plans).where(plans.c.study == study).values(values))
    append(connection, study, at, "plan_saved", actor, digest=digest)
    return digest


def freeze_plan(database: Database, study: str, *, at: datetime, actor: str) -> str:
    """Let a plan change no more, and return its digest; one that is frozen stays as it is.

    Raises:
        BadInput: When the study has no plan.
    """

    def work(connection: sa.Connection) -> str:
        _locked(connection, study)
        digest = connection.scalar(sa.select(plans.c.digest).where(plans.c.study == study))
        if digest is None:
            raise BadInput(f"The study {study!r} has no plan.", "Save one first.")
        freeze_at_first_rating(connection, study, at=at, actor=actor)
        return str(digest)

    return database.write(work)


def freeze_at_first_rating(connection: sa.Connection, study: str, *, at: datetime, actor: str) -> None:
    """Freeze the plan if there is one that is not frozen, in the transaction that keeps a rating."""
    loose = sa.and_(plans.c.study == study, plans.c.frozen.is_(None))
    if connection.execute(sa.select(plans.c.study).where(loose)).first() is None:
        return
    if connection.execute(sa.update(plans).where(loose).values(frozen=stamp(at))).rowcount:
        digest = connection.scalar(sa.select(plans.c.digest).where(plans.c.study == study))
        append(connection, study, at, "plan_frozen", actor, digest=digest)


def amend_plan(
    database: Database, study: str, *, author: str, change: str, reason: str, at: datetime, actor: str
) -> Amendment:
    """Add a dated amendment to a frozen plan, which itself stays as it is.

    Raises:
        BadInput: When author, change or reason is empty or too long, or the plan is not frozen.
    """
    for name, text, most in (("an author", author, 200), ("a change", change, 20_000), ("a reason", reason, 20_000)):
        if not text.strip() or len(text) > most:
            raise BadInput(f"An amendment needs {name} of at most {most:,} characters.", "Write it.")

    def work(connection: sa.Connection) -> None:
        frozen = connection.scalar(sa.select(plans.c.frozen).where(plans.c.study == study))
        if frozen is None:
            raise BadInput(f"The study {study!r} has no frozen plan to amend.", "Change the plan itself, or freeze it.")
        row = {"study": study, "at": stamp(at), "author": author, "change": change, "reason": reason}
        connection.execute(sa.insert(amendments), row)
        append(connection, study, at, "plan_amended", actor, author=author, change=change, reason=reason)

    database.write(work)
    return Amendment(at, author, change, reason)


def amendments_of(database: Database, study: str) -> tuple[Amendment, ...]:
    """Return a plan's amendments, oldest first."""
    query = sa.select(amendments).where(amendments.c.study == study).order_by(amendments.c.number)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    return tuple(Amendment(datetime.fromisoformat(row.at), row.author, row.change, row.reason) for row in rows)


def note_inclusions(
    database: Database, study: str, decisions: Iterable[Inclusion], *, at: datetime, actor: str
) -> None:
    """Log which attempts are in a study and which are not, each with the reason. Lines are only ever added."""
    rows = [
        {
            "study": study, "at": stamp(at), "actor": actor, "attempt": each.attempt, "item": each.item,
            "task": each.task, "system": each.system, "included": each.included, "reason": each.reason[:2000],
        }
        for each in decisions
    ]  # fmt: skip
    if rows:
        database.write(lambda connection: connection.execute(sa.insert(inclusions), rows))


def inclusions_of(database: Database, study: str) -> tuple[Inclusion, ...]:
    """Return the log of inclusion, oldest first; the last line of an attempt or item holds."""
    query = sa.select(inclusions).where(inclusions.c.study == study).order_by(inclusions.c.number)
    with database.reading() as connection:
        rows = connection.execute(query).all()
    return tuple(
        Inclusion(
            row.attempt, row.task, row.system, row.included, row.reason, row.item, datetime.fromisoformat(row.at),
            row.actor,
        )
        for row in rows
    )  # fmt: skip


def decide_item(
    database: Database, study: str, item: str, *, included: bool, reason: str, at: datetime, actor: str
) -> None:
    """Take an item out of the figures, or back into them, from now on; its ratings stay.

    Raises:
        BadInput: When the reason is empty, or the study has no such item.
    """
    if not reason.strip():
        raise BadInput("An item is taken out or back in for a reason.", "Write it.")
    with database.reading() as connection:
        found = connection.scalar(sa.select(items.c.hidden).where(items.c.study == study, items.c.id == item))
    if found is None:
        raise BadInput(f"The study {printable(study)!r} has no item {printable(item)!r}.", "See its page of items.")
    hidden = read_stored(HiddenPart, found)
    line = Inclusion(hidden.attempt, hidden.task, system_of(hidden), included, reason, item)
    note_inclusions(database, study, [line], at=at, actor=actor)


def excluded_items(decisions: Iterable[Inclusion]) -> Mapping[str, str]:
    """Return why items are out of the figures, by item, of a log of inclusion."""
    found: dict[str, str] = {}
    for each in decisions:
        if each.item and not each.included:
            found[each.item] = each.reason or "excluded"
        elif each.item:
            found.pop(each.item, None)
    return found


def _locked(connection: sa.Connection, study: str) -> None:
    # A first rating and a change of the plan at once must not both succeed.
    if connection.execute(sa.select(studies.c.name).where(studies.c.name == study).with_for_update()).first() is None:
        raise BadInput(f"There is no study {study!r}.", "List the studies to see their names.")
