"""Raters on their way to live items: which items prepare them, how well they must agree, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, event_log, read_stored
from repoassay.review.preparation import (
    AnswerKey,
    ItemUse,
    KeyAgreement,
    RaterStage,
    agreement_with,
    check_key,
)
from repoassay.review.rater_accounts import Rater, RaterRole, deal, deal_live, raters_of, stage_in
from repoassay.review.studies import item_names, read_rubric_of, study_of, uses_in
from repoassay.review.study import Study
from repoassay.review.tables import assignments, events, item_uses, ratings
from repoassay.text import printable
from repoassay.types import Rating

__all__ = [
    "DEFAULT_AGREEMENT",
    "RaterPreparation",
    "advance",
    "allow_another_try",
    "preparation_of",
    "require_agreement",
    "required_agreement",
    "use_item",
]  # fmt: skip

DEFAULT_AGREEMENT = 0.8
"""Share of keyed answers a rater must give as the lead does, where the lead states no other."""
_RULE = "qualification_rule"


@dataclass(frozen=True, slots=True)
class RaterPreparation:
    """Where a rater stands, and what every qualification of his came to, oldest first; `needed` is a share."""

    stage: RaterStage
    needed: float
    results: tuple[KeyAgreement, ...]


def use_item(
    database: Database, study: str, item: str, use: ItemUse, key: AnswerKey | None, *, at: datetime, actor: str
) -> None:
    """Say what an item is for, before anybody has opened one; everybody's items are then given out anew.

    Raises:
        BadInput: When there is no such item, the key does not fit, nothing would be left to count, or rating began.
    """
    names = item_names(database, study)
    if item not in names:
        raise BadInput(f"The study {printable(study)!r} has no item {printable(item)!r}.", "Choose one of its list.")
    if use is not ItemUse.LIVE:
        check_key(key or AnswerKey(), read_rubric_of(database, study))
    people, settings = raters_of(database, study), study_of(database, study)

    def work(connection: sa.Connection) -> None:
        _not_begun(connection, study)
        here = sa.and_(item_uses.c.study == study, item_uses.c.item == item)
        connection.execute(sa.delete(item_uses).where(here))
        if use is not ItemUse.LIVE and key is not None:
            row = {"study": study, "item": item, "use": use.value, "reference": key.model_dump_json()}
            connection.execute(sa.insert(item_uses), row)
        if len(uses_in(connection, study)) == len(names):
            raise BadInput("No item would be left that counts.", "Leave one live.")
        connection.execute(sa.delete(assignments).where(assignments.c.study == study))
        for person in people:
            deal(connection, person, settings)
        append(connection, study, at, "item_use", actor, item, use=use.value)

    database.write(work)


def require_agreement(database: Database, study: str, share: float, *, at: datetime, actor: str) -> None:
    """State how well raters must agree with the keys of qualification items; before anybody has opened an item.

    Raises:
        BadInput: When the share is none from 0 to 1, or rating has begun.
    """
    if not 0 <= share <= 1:
        raise BadInput("The agreement needed is a share from 0 to 1.", "Give 80 % for four answers of five.")

    def work(connection: sa.Connection) -> None:
        _not_begun(connection, study)
        append(connection, study, at, _RULE, actor, agreement=share)

    database.write(work)


def required_agreement(database: Database, study: str) -> float:
    """Return the share of keyed answers that qualifies."""
    rules = event_log(database, study, kinds=[_RULE])
    return float(rules[-1].details["agreement"]) if rules else DEFAULT_AGREEMENT


def preparation_of(database: Database, rater: Rater) -> RaterPreparation:
    """Return where a rater stands."""
    ended = event_log(database, rater.study, kinds=["qualification_passed", "qualification_failed"])
    results = tuple(
        KeyAgreement(matched=each.details["matched"], of=each.details["of"]) for each in ended if each.actor == rater.id
    )
    with database.reading() as connection:
        return RaterPreparation(stage_in(connection, rater), required_agreement(database, rater.study), results)


def allow_another_try(database: Database, rater: Rater, *, at: datetime, actor: str) -> None:
    """Let somebody who failed rate the qualification items again; what was answered before is kept.

    Raises:
        BadInput: When the rater has not failed.
    """

    def work(connection: sa.Connection) -> None:
        if stage_in(connection, rater) is not RaterStage.FAILED:
            raise BadInput(f"{printable(rater.name)!r} has not failed a qualification.", "Look at the progress.")
        again = [item for item, (use, _) in uses_in(connection, rater.study).items() if use is ItemUse.QUALIFICATION]
        mine = sa.and_(assignments.c.rater == rater.id, assignments.c.item.in_(again))
        connection.execute(sa.update(assignments).where(mine).values(submitted=False, opened=None))
        append(connection, rater.study, at, "qualification_again", actor, rater=rater.id)

    database.write(work)


def advance(connection: sa.Connection, rater: Rater, item: str, settings: Study, needed: float, at: datetime) -> None:
    """Do what follows from a submission, in its transaction: the end of a qualification, live items for the ready.

    Args:
        connection: Of the submission.
        rater: Whose.
        item: What was submitted.
        settings: The study.
        needed: Share of answers that qualifies, see `required_agreement`.
        at: The clock.
    """
    uses = uses_in(connection, rater.study)
    if item not in uses or rater.role is not RaterRole.RATER:
        return
    mine = sa.select(assignments.c.item).where(assignments.c.rater == rater.id, assignments.c.submitted.is_(False))
    if any(each in uses for each in connection.scalars(mine)):
        return
    keys = {each: key for each, (use, key) in uses.items() if use is ItemUse.QUALIFICATION}
    if keys:
        found = agreement_with((rating, keys[name]) for name, rating in _last(connection, rater, keys).items())
        passed = found.of > 0 and found.share >= needed - 1e-9
        kind = "qualification_passed" if passed else "qualification_failed"
        append(connection, rater.study, at, kind, rater.id, matched=found.matched, of=found.of, needed=needed)
        if not passed:
            return
    from_study = sa.select(events.c.number).where(events.c.study == rater.study, events.c.kind == "ready")
    if connection.scalar(from_study.where(events.c.actor == rater.id)) is None:
        append(connection, rater.study, at, "ready", rater.id)
        deal_live(connection, rater, settings)


def _last(connection: sa.Connection, rater: Rater, keys: dict[str, AnswerKey]) -> dict[str, Rating]:
    query = sa.select(ratings.c.rating).where(ratings.c.rater == rater.id, ratings.c.item.in_(list(keys)))
    line = [read_stored(Rating, text) for text in connection.scalars(query.order_by(ratings.c.version))]
    return {rating.submission: rating for rating in line}


def _not_begun(connection: sa.Connection, study: str) -> None:
    begun = sa.select(assignments.c.item).where(assignments.c.study == study, assignments.c.opened.is_not(None))
    if connection.execute(begun.limit(1)).first() is not None:
        raise BadInput(
            "Somebody has opened an item already, so what items are for is fixed.", "Make a new study for another plan."
        )
