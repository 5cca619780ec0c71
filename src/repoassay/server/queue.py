"""The durable queue: what was accepted, who is judging it, and exactly one verdict each.

Kept by the database, so that it holds whenever a server is killed:

- A submission is accepted when its transaction is on disk, not before.
- Holders of tokens take turns by their weights, whatever each of them has waiting.
- Whoever judges a submission has claimed it, for as long as a lease that it renews. A lapsed lease, or one of a server
  known to be dead, puts the submission back.
- A verdict is written in one transaction with the change from running to done, and only by the holder of that claim.
  It is never written again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ulid import ULID

from repoassay.db import Database, connect_database, migrate
from repoassay.server import queue_statements as sql
from repoassay.server.admission import check_room, check_size, known_request, known_submission, request_digest
from repoassay.server.queue_tables import ORDER, SCHEMA
from repoassay.server.records import (
    NO_QUOTA,
    Claim,
    Counts,
    KeyTaken,
    New,
    QueueFull,
    Quota,
    QuotaUsed,
    StoredSubmission,
)
from repoassay.server.register import ServerRegister

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = [
    "Claim",
    "Counts",
    "KeyTaken",
    "New",
    "Queue",
    "QueueFull",
    "Quota",
    "QuotaUsed",
    "StoredSubmission",
    "open_queue_database",
]

_MANY = 2**31 - 1


def open_queue_database(location: str | None, folder: Path, name: str) -> Database:
    """Open the queue's database.

    What was answered 202 must survive a power cut: a transaction is on disk before it ends. An SQLite file is held by
    one server for life, so whoever opens it next knows that the server before is dead.

    Args:
        location: `postgresql://...`, `sqlite:///FILE` or a file's path; None for `folder/NAME.sqlite`.
        folder: Where the default lies.
        name: What is served, for the default's name.

    Raises:
        BadInput: When it cannot be opened, or another server holds the file.
        MissingExtra: For PostgreSQL without psycopg.
        Unavailable: When the PostgreSQL server does not answer.
    """
    return connect_database(folder / f"{name}.sqlite" if location is None else location, "queue", exclusive=True)


class Queue:
    """Submissions and verdicts in a database, whose tables are made or brought to their newest version.

    Attributes:
        servers: The servers that share it.

    Raises:
        BadInput: When the tables are of a version that this program does not know.
        Unavailable: When it cannot be had; every method may raise this.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        migrate(database, SCHEMA)
        self.servers = ServerRegister(database)

    def add(
        self,
        holder: str,
        submissions: Sequence[New],
        limit: int,
        quota: Quota = NO_QUOTA,
        request: str | None = None,
        size: int | None = None,
    ) -> tuple[list[StoredSubmission], int]:
        """Accept all of `submissions` or none of it; they are on disk when this returns.

        Args:
            holder: Who hands it in; keys are theirs alone.
            submissions: One whose key is known is not accepted again: the known one is returned.
            limit: How many may be waiting, of everybody.
            quota: What this holder may have.
            request: The holder's key for all of it: with the same again, what became of it before is returned.
            size: How many bytes of patches may be waiting, of everybody; None for any number.

        Returns:
            A submission for each of `submissions`, and how many of them are new.

        Raises:
            QueueFull: When more would be waiting.
            QuotaUsed: When this holder would have more than their quota.
            KeyTaken: When a key names a submission of another task or patch, or a request with others.
        """
        with self.database.writing(ORDER) as run:
            run.execute(sql.ADD_HOLDER, {"new_holder": holder, "of_holder": holder})
            run.execute(sql.SET_WEIGHT, {"of_holder": holder, "weight": quota.weight})
            if request is not None and (became := known_request(run, holder, request, submissions)):
                return became, 0
            digests = [hashlib.sha256(new.patch).hexdigest() for new in submissions]
            known = [
                known_submission(run, holder, new, digest) for new, digest in zip(submissions, digests, strict=True)
            ]
            fresh = [new.key for new, before in zip(submissions, known, strict=True) if before is None]
            coming = fresh.count(None) + len({key for key in fresh if key is not None})
            if coming:
                check_room(run, holder, coming, limit, quota)
                bytes_coming = sum(
                    len(new.patch) for new, before in zip(submissions, known, strict=True) if before is None
                )
                check_size(run, holder, bytes_coming, size, quota)
            stored, new_ones = [], 0
            for new, digest, before in zip(submissions, digests, known, strict=True):
                if found := before or known_submission(run, holder, new, digest):  # twice in one list
                    stored.append(found)
                    continue
                new_ones += 1
                row = {"ulid": str(ULID()), "holder": holder, "client_key": new.key, "task": new.task}
                row |= {"model": new.model, "digest": digest}
                more = {"patch": new.patch, "priority": new.priority, "task_digest": new.task_digest}
                ulid, created = run.execute(sql.ADD_SUBMISSION, row | more).one()
                stored.append(StoredSubmission(ulid, new.task, new.model, new.key, "queued", 0, created))
            if request is not None:
                keyed = {"holder": holder, "client_key": request, "digest": request_digest(submissions)}
                run.execute(sql.ADD_REQUEST, keyed | {"ulids": json.dumps([each.ulid for each in stored])})
        return stored, new_ones

    def claim(self, owner: str, lease: float, each: int | None = None) -> Claim | None:
        """Take the next submission for `lease` seconds; None when none is ready.

        Holders take turns, so that nobody's thousand delay another's one. Claims of several servers follow each other:
        each sees the turns that were taken before it.

        Args:
            owner: Who judges it.
            lease: Seconds it is theirs if they do not renew.
            each: How many submissions of one holder may be under way; None for any number.
        """
        with self.database.writing(ORDER) as run:
            first = run.execute(sql.NEXT, {"each": _MANY if each is None else each}).first()
            if first is None:
                return None
            claimed = {"of_number": first.number, "by": owner, "seconds": lease}
            row = run.execute(sql.CLAIM, claimed).first()
            if row is None:
                return None
            run.execute(sql.TAKE_TURN, {"of_holder": first.holder})
            answers = run.scalars(sql.ANSWERS_OF, {"of_task": row.task}).first() or 0
        waited = max(0.0, row.now - row.created)
        known = (row.claims, row.faults, row.task_digest, answers, row.created, waited)
        return Claim(row.ulid, row.task, row.patch, owner, *known)

    def queues_up(self) -> bool:
        """Whether a holder who has nothing under way has a submission that could be judged now."""
        with self.database.reading(snapshot=False) as run:
            return run.execute(sql.NEXT, {"each": 1}).first() is not None

    def renew(self, owner: str, lease: float) -> None:
        """Keep everything `owner` has claimed for `lease` seconds from now."""
        with self.database.writing() as run:
            run.execute(sql.RENEW, {"of_owner": owner, "seconds": lease})

    def finish(self, claim: Claim, word: str, whose: str, feedback: str, verdict: str) -> bool:
        """Write the verdict, once for all; False when the claim had lapsed, and nothing is written.

        Args:
            claim: Whose verdict it is.
            word: PASS, FAIL, PATCH FAILED, TIMED OUT or ERROR.
            whose: Whose doing it is: agent, suite or ours.
            feedback: What the submitter is told.
            verdict: The whole verdict in JSON.
        """
        with self.database.writing(ORDER) as run:
            done = run.execute(sql.FINISH, _of(claim)).first()
            if done is None:
                return False
            row = {"ulid": claim.ulid, "holder": done.holder, "word": word, "whose": whose, "feedback": feedback}
            run.execute(sql.ADD_VERDICT, row | {"verdict": verdict})
            run.execute(sql.ADD_ANSWERS, {"new_task": done.task, "of_task": done.task})
            run.execute(sql.COUNT_ANSWER, {"of_task": done.task})
        return True

    def put_back(self, claim: Claim, *, fault: bool = False, delay: float = 0.0) -> None:
        """Let others have it: after a fault of ours, which is counted, or because we stop, which is not.

        Args:
            claim: What to put back; nothing happens when it had lapsed.
            fault: Whether we failed at it.
            delay: Seconds before it may be claimed again.
        """
        counted = {"more_faults": int(fault), "more_claims": 0 if fault else -1}
        with self.database.writing() as run:
            run.execute(sql.PUT_BACK, _of(claim) | counted | {"seconds": delay})

    def recover(self, *, everything: bool = False) -> int:
        """Put back what servers left that were killed: lapsed leases, or `everything` under way; returns how many."""
        with self.database.writing() as run:
            return len(run.execute(sql.RECOVER_ALL if everything else sql.RECOVER_LAPSED).all())

    def release(self, owner: str) -> int:
        """Put back everything `owner` still has claimed; returns how many."""
        with self.database.writing() as run:
            return len(run.execute(sql.RELEASE, {"of_owner": owner}).all())

    def delete_old(self, seconds: float, most: int = 500) -> int:
        """Delete at most `most` submissions whose verdicts are older than `seconds`, with these; returns how many.

        Requests' keys go when they are as old; how many verdicts were given on a task stays known.
        """
        with self.database.writing(ORDER) as run:
            ulids = run.scalars(sql.DELETE_VERDICTS, {"seconds": seconds, "limit": most}).all()
            if ulids:
                run.execute(sql.DELETE_SUBMISSION, [{"of_ulid": ulid} for ulid in ulids])
            run.execute(sql.DELETE_REQUESTS, {"seconds": seconds})
        return len(ulids)

    def get(self, holder: str, ulid: str) -> StoredSubmission | None:
        """One submission of `holder`; None when they have none of that name."""
        found = self._stored(sql.GET, {"of_holder": holder, "of_ulid": ulid})
        return found[0] if found else None

    def page(self, holder: str, after: str | None, limit: int) -> list[StoredSubmission]:
        """At most `limit` submissions of `holder` that follow `after`, in the order accepted; no whole verdicts."""
        values = {"of_holder": holder, "limit": limit}
        if after is None:
            return self._stored(sql.FIRST_PAGE, values)
        return self._stored(sql.NEXT_PAGE, values | {"of_ulid": after})

    def results(self, holder: str, after: int, limit: int, *, whole: bool = True) -> list[StoredSubmission]:
        """At most `limit` submissions of `holder` with verdicts numbered above `after`, in the order of these.

        Args:
            holder: Whose.
            after: The last number that is known.
            limit: How many.
            whole: Whether the whole verdict is wanted, which may be long.
        """
        values = {"of_holder": holder, "after": after, "limit": limit}
        return self._stored(sql.RESULTS if whole else sql.RESULTS_BRIEF, values)

    def counts(self) -> Counts:
        """How many are waiting and under way, of everybody."""
        with self.database.reading(snapshot=False) as run:
            states = {row[0]: row[1] for row in run.execute(sql.STATES)}
        return Counts(states.get("queued", 0), states.get("running", 0))

    def tasks(self) -> set[str]:
        """Tasks of what has no verdict yet."""
        with self.database.reading(snapshot=False) as run:
            return set(run.scalars(sql.TASKS))

    def answers(self) -> dict[str, int]:
        """How many verdicts were given on each task."""
        with self.database.reading(snapshot=False) as run:
            return {row[0]: row[1] for row in run.execute(sql.ANSWERED)}

    def _stored(self, statement: sa.Select[Any], parameters: Mapping[str, object]) -> list[StoredSubmission]:
        with self.database.reading(snapshot=False) as run:
            return [StoredSubmission(*row[:-1]) for row in run.execute(statement, parameters)]


def _of(claim: Claim) -> dict[str, object]:
    return {"of_ulid": claim.ulid, "of_owner": claim.owner, "of_claims": claim.claims}
