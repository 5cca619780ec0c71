"""Raters: invited by a link whose token is kept only as a digest, numbered as they join, given their order at once."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from ulid import ULID

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.assignment import design, order
from repoassay.review.database import append, stamp
from repoassay.review.preparation import ItemUse, RaterStage
from repoassay.review.studies import study_of, uses_in
from repoassay.review.study import Study, StudyMode
from repoassay.review.tables import assignments, events, invitations, items, raters, studies
from repoassay.text import printable

__all__ = [
    "Invitation", "Rater", "RaterRole", "add_rater", "assign", "deal", "deal_live", "disable_rater", "rater_by_token",
    "rater_named", "raters_of", "stage_in", "use_invitation", "use_invitation_of",
]  # fmt: skip


class RaterRole(StrEnum):
    """What somebody may do. A judge is a program that rates, outside the human majority."""

    RATER = "rater"
    LEAD = "lead"
    ADMIN = "admin"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater of one study. `number` counts from 0 in order of joining, and decides the order of items."""

    id: str
    study: str
    number: int
    name: str
    role: RaterRole
    active: bool = True


@dataclass(frozen=True, slots=True)
class Invitation:
    """A new rater and the token of the link to send; the token is shown this once and kept nowhere."""

    rater: Rater
    token: str


def add_rater(
    database: Database,
    study: str,
    name: str,
    role: RaterRole = RaterRole.RATER,
    *,
    at: datetime,
    by: str = "",
    expires: datetime | None = None,
    single_use: bool = False,
) -> Invitation:
    """Invite somebody, and give them their items in their own order (in the mode `balanced`, `assign` does).

    Args:
        database: Where.
        study: Of which study.
        name: Theirs.
        role: What they may do.
        at: The clock.
        by: Who invites.
        expires: When the link ends; None for never. Sessions begun before go on.
        single_use: Whether the link opens one session only.

    Raises:
        BadInput: When there is no such study, or the name is empty or taken.
    """
    settings = study_of(database, study)
    if not name.strip() or len(name) > 200:
        raise BadInput("A rater needs a name of at most 200 characters.", "Give one.")
    token, identity = secrets.token_urlsafe(32), str(ULID())

    def work(connection: sa.Connection) -> Rater:
        _lock(connection, study)
        if connection.execute(sa.select(raters.c.id).where(raters.c.study == study, raters.c.name == name)).first():
            raise BadInput(f"The study {study!r} already has a rater {printable(name)!r}.", "Choose another name.")
        count = sa.select(sa.func.count()).select_from(raters).where(raters.c.study == study)
        rater = Rater(identity, study, connection.scalar(count) or 0, name, role)
        row = {"id": identity, "study": study, "number": rater.number, "name": name, "role": role.value}
        connection.execute(sa.insert(raters), row | {"token": _digest(token), "created": stamp(at), "active": True})
        if expires is not None or single_use:
            until = expires.timestamp() if expires is not None else None
            limits = {"rater": identity, "expires": until, "single_use": single_use}
            connection.execute(sa.insert(invitations), limits)
        append(connection, study, at, "rater_added", by or identity, rater=identity, role=role.value)
        deal(connection, rater, settings)
        return rater

    return Invitation(database.write(work), token)


def rater_by_token(database: Database, token: str, now: datetime) -> Rater | None:
    """Return whose invitation a token is; None for one that is unknown, over or used, and for a disabled rater."""
    with database.reading() as connection:
        return _invited(connection, raters.c.token == _digest(token), now)


def use_invitation(database: Database, token: str, now: datetime) -> Rater | None:
    """Return the same, and use up an invitation that is good once: of two at a time, one is let in."""

    def work(connection: sa.Connection) -> Rater | None:
        found = _invited(connection, raters.c.token == _digest(token), now)
        return found if found is not None and _use_up(connection, found, now) else None

    return database.write(work)


def use_invitation_of(connection: sa.Connection, rater: str, now: datetime) -> Rater | None:
    """As `use_invitation`, for the link of a rater by name, in a transaction that is under way."""
    found = _invited(connection, raters.c.id == rater, now)
    return found if found is not None and _use_up(connection, found, now) else None


def _use_up(connection: sa.Connection, found: Rater, now: datetime) -> bool:
    mine = sa.and_(invitations.c.rater == found.id, invitations.c.used.is_(None))
    taken = connection.execute(sa.update(invitations).where(mine).values(used=stamp(now))).rowcount
    limited = connection.scalar(sa.select(invitations.c.single_use).where(invitations.c.rater == found.id))
    return bool(taken) or not limited


def rater_named(database: Database, name: str) -> Rater | None:
    """Return the rater of an id; None where there is none, or they were disabled."""
    with database.reading() as connection:
        row = connection.execute(sa.select(raters).where(raters.c.id == name, raters.c.active.is_(True))).first()
    return None if row is None else _rater(row)


def raters_of(database: Database, study: str) -> tuple[Rater, ...]:
    """Return everybody in a study, disabled ones included, in order of joining."""
    with database.reading() as connection:
        rows = connection.execute(sa.select(raters).where(raters.c.study == study).order_by(raters.c.number)).all()
    return tuple(_rater(row) for row in rows)


def disable_rater(database: Database, rater: Rater, *, at: datetime, by: str) -> None:
    """End an invitation and release what its rater holds; submitted ratings stay."""

    def work(connection: sa.Connection) -> None:
        connection.execute(sa.update(raters).where(raters.c.id == rater.id).values(active=False))
        connection.execute(sa.update(assignments).where(assignments.c.rater == rater.id).values(lease_until=None))
        append(connection, rater.study, at, "rater_disabled", by, rater=rater.id)

    database.write(work)


def assign(database: Database, study: str, *, at: datetime, by: str) -> int:
    """In the mode `balanced`, give every item to as many active raters as it still lacks.

    May be called again after somebody joined or left: what was given stays, unless its rater was disabled before
    submitting.

    Returns:
        How many assignments were added.

    Raises:
        BadInput: When the study has another mode, or too few raters.
    """
    settings = study_of(database, study)
    if settings.mode is not StudyMode.BALANCED:
        raise BadInput(f"The study {study!r} is not of the mode balanced.", "Its raters have their items already.")

    def work(connection: sa.Connection) -> int:
        _lock(connection, study)
        people = [
            _rater(row)
            for row in connection.execute(
                sa.select(raters)
                .where(raters.c.study == study, raters.c.role == RaterRole.RATER.value)
                .order_by(raters.c.number)
            )
        ]
        active = [person.id for person in people if person.active and stage_in(connection, person) is RaterStage.LIVE]
        names = _live(connection, study)
        everybody = {person.id for person in people}
        line_of: dict[str, set[str]] = {name: set() for name in names}
        for row in connection.execute(sa.select(assignments).where(assignments.c.study == study)):
            if row.item in line_of and row.rater in everybody and (row.submitted or row.rater in active):
                line_of[row.item].add(row.rater)
        added = design(settings.seed, active, names, settings.overlap, line_of)
        for person in people:
            mine = {item for item, team in added.items() if person.id in team}
            if mine:
                _give(connection, person, settings.seed, mine)
        append(connection, study, at, "assigned", by, added=sum(map(len, added.values())))
        return sum(map(len, added.values()))

    return database.write(work)


def deal(connection: sa.Connection, rater: Rater, settings: Study) -> None:
    """Give somebody new what comes first: items that train, then those that qualify; without such, live ones."""
    if rater.role not in {RaterRole.RATER, RaterRole.JUDGE}:
        return
    uses = uses_in(connection, rater.study) if rater.role is RaterRole.RATER else {}
    for use in (ItemUse.TRAINING, ItemUse.QUALIFICATION):
        if mine := {item for item, (each, _) in uses.items() if each is use}:
            _give(connection, rater, settings.seed, mine)
    if not uses:
        deal_live(connection, rater, settings)


def deal_live(connection: sa.Connection, rater: Rater, settings: Study) -> None:
    """Give live items to whoever is ready for them; in the mode `balanced`, `assign` gives them to people."""
    if settings.mode is not StudyMode.BALANCED or rater.role is RaterRole.JUDGE:
        _give(connection, rater, settings.seed, set(_live(connection, rater.study)))


def stage_in(connection: sa.Connection, rater: Rater) -> RaterStage:
    """Return where somebody stands: what is not submitted yet, and how the last qualification ended."""
    uses = uses_in(connection, rater.study)
    if rater.role is not RaterRole.RATER or not uses:
        return RaterStage.LIVE
    mine = sa.select(assignments.c.item).where(assignments.c.rater == rater.id, assignments.c.submitted.is_(False))
    waiting = {uses[item][0] for item in connection.scalars(mine) if item in uses}
    if ItemUse.TRAINING in waiting:
        return RaterStage.TRAINING
    if ItemUse.QUALIFICATION in waiting:
        return RaterStage.QUALIFICATION
    if all(use is not ItemUse.QUALIFICATION for use, _ in uses.values()):
        return RaterStage.LIVE
    ended = sa.and_(
        events.c.study == rater.study,
        events.c.actor == rater.id,
        events.c.kind.in_(("qualification_passed", "qualification_failed")),
    )
    last = connection.scalar(sa.select(events.c.kind).where(ended).order_by(events.c.number.desc()).limit(1))
    return RaterStage.LIVE if last == "qualification_passed" else RaterStage.FAILED


def _invited(connection: sa.Connection, which: sa.ColumnElement[bool], now: datetime) -> Rater | None:
    over = sa.or_(
        invitations.c.expires <= now.timestamp(),
        sa.and_(invitations.c.single_use.is_(True), invitations.c.used.is_not(None)),
    )
    query = (
        sa.select(raters)
        .outerjoin(invitations, invitations.c.rater == raters.c.id)
        .where(which, raters.c.active.is_(True))
        .where(sa.or_(invitations.c.rater.is_(None), sa.not_(sa.func.coalesce(over, sa.false()))))
    )
    row = connection.execute(query).first()
    return None if row is None else _rater(row)


def _live(connection: sa.Connection, study: str) -> list[str]:
    uses = uses_in(connection, study)
    names = connection.scalars(sa.select(items.c.id).where(items.c.study == study).order_by(items.c.number))
    return [name for name in names if name not in uses]


def _give(connection: sa.Connection, rater: Rater, seed: int, only: set[str]) -> None:
    """Add items to the end of a rater's queue, in the rater's own order."""
    known = connection.execute(sa.select(items.c.id, items.c.system).where(items.c.study == rater.study)).all()
    line = order(seed, rater.number, [(row.id, row.system) for row in known if row.id in only])
    mine = sa.and_(assignments.c.study == rater.study, assignments.c.rater == rater.id)
    last = connection.scalar(sa.select(sa.func.max(assignments.c.position)).where(mine)) or 0
    rows = [
        {"study": rater.study, "item": item, "rater": rater.id, "position": place, "submitted": False}
        for place, item in enumerate(line, last + 1)
    ]
    connection.execute(sa.insert(assignments), rows)


def _lock(connection: sa.Connection, study: str) -> None:
    """Let one transaction at a time change who has what; SQLite has a single writer anyway."""
    connection.execute(sa.select(studies.c.name).where(studies.c.name == study).with_for_update(key_share=True))


def _digest(token: str) -> str:
    # The token has 256 bits of chance, so a plain digest cannot be searched.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _rater(row: sa.Row[tuple[object, ...]]) -> Rater:
    return Rater(row.id, row.study, row.number, row.name, RaterRole(row.role), row.active)
