"""What is looked up before submissions are accepted: keys that are known, room in the queue, a holder's quota."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from repoassay.server import queue_statements as sql
from repoassay.server.records import KeyTaken, New, QueueFull, Quota, QuotaUsed, StoredSubmission

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["check_room", "check_size", "known_request", "known_submission", "request_digest"]

_RETRY = 5.0
"""Seconds after which room in the queue may be looked for again."""


def known_submission(run: sa.Connection, holder: str, new: New, digest: str) -> StoredSubmission | None:
    """The submission that a holder's key names already."""
    row = None if new.key is None else run.execute(sql.FIND_KEY, {"of_holder": holder, "of_key": new.key}).first()
    if row is None:
        return None
    before = StoredSubmission(*row[:-1])
    if (before.task, row.digest) != (new.task, digest):
        raise KeyTaken(str(new.key), before.ulid)
    return before


def request_digest(submissions: Sequence[New]) -> str:
    """The sha256 over what a request hands in, by which it is known again."""
    parts = [[new.task, hashlib.sha256(new.patch).hexdigest(), new.model, new.key, new.priority] for new in submissions]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def known_request(
    run: sa.Connection, holder: str, key: str, submissions: Sequence[New]
) -> list[StoredSubmission] | None:
    """What a request with this key became before; None when there was none.

    Raises:
        KeyTaken: When that request handed in something else, or what became of it is deleted.
    """
    row = run.execute(sql.FIND_REQUEST, {"of_holder": holder, "of_key": key}).first()
    if row is None:
        return None
    ulids = json.loads(row.ulids)
    if row.digest != request_digest(submissions):
        other = f"The Idempotency-Key {key} is that of another request of yours, with other submissions."
        raise KeyTaken(key, ulids[0], f"{other} Send this one with a key of its own.")
    found = [run.execute(sql.GET_BRIEF, {"of_holder": holder, "of_ulid": ulid}).first() for ulid in ulids]
    if None in found:
        gone = f"The request with the Idempotency-Key {key} was accepted, and verdicts of it have been deleted since."
        raise KeyTaken(key, ulids[0], f"{gone} Send it with another key to have it judged again.")
    return [StoredSubmission(*each[:-1]) for each in found if each is not None]


def check_size(run: sa.Connection, holder: str, coming: int, limit: int | None, quota: Quota) -> None:
    """Raise `QueueFull` or `QuotaUsed` when so many more bytes of a holder's patches are too many."""
    if limit is not None and run.scalars(sql.SIZE_ALL).one() + coming > limit:
        raise QueueFull
    if quota.size is not None and run.scalars(sql.SIZE_OWN, {"of_holder": holder}).one() + coming > quota.size:
        message = (
            f"Patches of {quota.size:,} bytes may wait for this token. Hand in more when some of yours are judged."
        )
        raise QuotaUsed(message, _RETRY)


def check_room(run: sa.Connection, holder: str, coming: int, limit: int, quota: Quota) -> None:
    """Raise `QueueFull` or `QuotaUsed` when so many more of a holder's are too many."""
    if run.scalars(sql.COUNT_ALL).one() + coming > limit:
        raise QueueFull
    if quota.waiting is not None and run.scalars(sql.COUNT_OWN, {"of_holder": holder}).one() + coming > quota.waiting:
        message = f"{quota.waiting:,} submissions may wait for this token. Hand in more when some of yours are judged."
        raise QuotaUsed(message, _RETRY)
    used = []
    for most, name, seconds in ((quota.hour, "an hour", 3600.0), (quota.day, "a day", 86400.0)):
        within = {"of_holder": holder, "seconds": seconds}
        if most is not None and (count := run.scalars(sql.COUNT_SINCE, within).one()) + coming > most:
            surplus = min(count, count + coming - most)
            wait = run.scalars(sql.WAIT_SINCE, within | {"surplus": surplus - 1}).first() if surplus else None
            used.append((min(wait or seconds, seconds), f"{most:,} submissions are accepted {name} for this token."))
    if used:
        wait, message = max(used)
        raise QuotaUsed(f"{message} Hand in the others later.", wait)
