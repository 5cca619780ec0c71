"""The durable queue: what was accepted, who is judging it, and exactly one verdict each.

Kept by the database, so that it holds whenever a server is killed:

- A submission is accepted when its transaction is on disk, not before.
- Holders of tokens take turns, whatever each of them has waiting.
- Whoever judges a submission has claimed it, for as long as a lease that it renews. A lapsed lease, or one of a server
  known to be dead, puts the submission back.
- A verdict is written in one transaction with the change from running to done, and only by the holder of that claim.
  It is never written again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from ulid import ULID

from repoassay.web.database import Database
from repoassay.web.records import Claim, Counts, KeyTaken, New, QueueFull, QuotaUsed, Stored
from repoassay.web.schema import make_ready

__all__ = ["Claim", "Counts", "KeyTaken", "New", "Queue", "QueueFull", "QuotaUsed", "Stored"]

_SELECT = """SELECT s.ulid, s.task, s.model, s.client_key, s.status, s.faults, s.created,
    v.number, v.word, v.whose, v.feedback, v.verdict, v.finished, s.digest
    FROM repoassay_submissions s LEFT JOIN repoassay_verdicts v ON v.ulid = s.ulid """
_BRIEF = _SELECT.replace("v.verdict", "NULL")

# Whoever has the fewest under way, of those whoever had their last turn longest ago, of theirs what came first.
_NEXT = """SELECT line.number, line.holder FROM (
    SELECT t.holder, t.turn,
        (SELECT s.number FROM repoassay_submissions s WHERE s.holder = t.holder AND s.status = 'queued'
            AND s.ready <= {now} ORDER BY s.number LIMIT 1) AS number,
        (SELECT count(*) FROM repoassay_submissions r WHERE r.holder = t.holder AND r.status = 'running') AS running
    FROM repoassay_turns t) AS line
    WHERE line.number IS NOT NULL AND line.running < ? ORDER BY line.running, line.turn, line.number LIMIT 1"""
_MANY = 2**31 - 1


class Queue:
    """Submissions and verdicts in a database, which is made ready.

    Raises:
        BadInput: When the database was made by another version.
        Unavailable: When it cannot be had; every method may raise this.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        make_ready(database)

    def add(self, holder: str, given: Sequence[New], limit: int, quota: int | None = None) -> tuple[list[Stored], int]:
        """Accept all of `given` or none of it; they are on disk when this returns.

        Args:
            holder: Who hands it in; keys are theirs alone.
            given: Submissions. One whose key is known is not accepted again: the known one is returned.
            limit: How many may be waiting, of everybody.
            quota: How many of them may be this holder's; None for all.

        Returns:
            A submission for each of `given`, and how many of them are new.

        Raises:
            QueueFull: When more would be waiting.
            QuotaUsed: When more of this holder's would be.
            KeyTaken: When a key names a submission of another task or patch.
        """
        with self.database.write(ordered=True) as run:
            run("INSERT INTO repoassay_turns (holder) VALUES (?) ON CONFLICT (holder) DO NOTHING", (holder,))
            waiting = int(run("SELECT count(*) FROM repoassay_submissions WHERE status = 'queued'")[0][0])
            mine = "SELECT count(*) FROM repoassay_submissions WHERE status = 'queued' AND holder = ?"
            own = int(run(mine, (holder,))[0][0])
            stored, new_ones = [], 0
            for new in given:
                digest = hashlib.sha256(new.patch).hexdigest()
                known = new.key is not None and run(
                    _SELECT + "WHERE s.holder = ? AND s.client_key = ?", (holder, new.key)
                )
                if known:
                    before = Stored(*known[0][:-1])
                    if (before.task, known[0][-1]) != (new.task, digest):
                        raise KeyTaken(str(new.key), before.ulid)
                    stored.append(before)
                    continue
                new_ones += 1
                if waiting + new_ones > limit:
                    raise QueueFull
                if quota is not None and own + new_ones > quota:
                    raise QuotaUsed
                ((ulid, created),) = run(
                    "INSERT INTO repoassay_submissions (ulid, holder, client_key, task, model, patch, digest, created)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, {now}) RETURNING ulid, created",
                    (str(ULID()), holder, new.key, new.task, new.model, new.patch, digest),
                )
                stored.append(Stored(ulid, new.task, new.model, new.key, "queued", 0, created))
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
        with self.database.write(ordered=True) as run:
            if not (first := run(_NEXT, (_MANY if each is None else each,))):
                return None
            number, holder = first[0]
            found = run(
                "UPDATE repoassay_submissions SET status = 'running', owner = ?, lease = {now} + ?, claims = claims + 1"
                " WHERE number = ? AND status = 'queued' RETURNING ulid, task, patch, claims, faults",
                (owner, lease, number),
            )
            if not found:
                return None
            run(
                "UPDATE repoassay_turns SET turn = (SELECT max(turn) + 1 FROM repoassay_turns) WHERE holder = ?",
                (holder,),
            )
        ulid, task, patch, claims, faults = found[0]
        return Claim(ulid, task, bytes(patch), owner, claims, faults)

    def renew(self, owner: str, lease: float) -> None:
        """Keep everything `owner` has claimed for `lease` seconds from now."""
        with self.database.write() as run:
            run(
                "UPDATE repoassay_submissions SET lease = {now} + ? WHERE status = 'running' AND owner = ?",
                (lease, owner),
            )

    def finish(self, claim: Claim, word: str, whose: str, feedback: str, verdict: str) -> bool:
        """Write the verdict, once for all; False when the claim had lapsed, and nothing is written.

        Args:
            claim: Whose verdict it is.
            word: PASS, FAIL, PATCH FAILED, TIMED OUT or ERROR.
            whose: Whose doing it is: agent, suite or ours.
            feedback: What the submitter is told.
            verdict: The whole verdict in JSON.
        """
        with self.database.write(ordered=True) as run:
            mine = run(
                "UPDATE repoassay_submissions SET status = 'done', owner = NULL"
                " WHERE ulid = ? AND status = 'running' AND owner = ? AND claims = ? RETURNING holder",
                (claim.ulid, claim.owner, claim.claims),
            )
            if mine:
                run(
                    "INSERT INTO repoassay_verdicts (ulid, holder, word, whose, feedback, verdict, finished)"
                    " VALUES (?, ?, ?, ?, ?, ?, {now})",
                    (claim.ulid, mine[0][0], word, whose, feedback, verdict),
                )
        return bool(mine)

    def put_back(self, claim: Claim, *, fault: bool = False, delay: float = 0.0) -> None:
        """Let others have it: after a fault of ours, which is counted, or because we stop, which is not.

        Args:
            claim: What to put back; nothing happens when it had lapsed.
            fault: Whether we failed at it.
            delay: Seconds before it may be claimed again.
        """
        with self.database.write() as run:
            run(
                "UPDATE repoassay_submissions SET status = 'queued', owner = NULL, ready = {now} + ?,"
                " faults = faults + ?, claims = claims + ?"
                " WHERE ulid = ? AND status = 'running' AND owner = ? AND claims = ?",
                (delay, *((1, 0) if fault else (0, -1)), claim.ulid, claim.owner, claim.claims),
            )

    def recover(self, *, everything: bool = False) -> int:
        """Put back what servers left that were killed: lapsed leases, or `everything` under way; returns how many."""
        with self.database.write() as run:
            found = run(
                "UPDATE repoassay_submissions SET status = 'queued', owner = NULL"
                " WHERE status = 'running' AND (? = 1 OR lease < {now}) RETURNING ulid",
                (int(everything),),
            )
        return len(found)

    def release(self, owner: str) -> int:
        """Put back everything `owner` still has claimed; returns how many."""
        with self.database.write() as run:
            return len(
                run(
                    "UPDATE repoassay_submissions SET status = 'queued', owner = NULL, claims = claims - 1"
                    " WHERE status = 'running' AND owner = ? RETURNING ulid",
                    (owner,),
                )
            )

    def get(self, holder: str, ulid: str) -> Stored | None:
        """One submission of `holder`; None when they have none of that name."""
        found = self._select("WHERE s.holder = ? AND s.ulid = ?", (holder, ulid))
        return next(found, None)

    def page(self, holder: str, after: str | None, limit: int) -> list[Stored]:
        """At most `limit` submissions of `holder` that follow `after`, in the order accepted; no whole verdicts."""
        if after is None:
            rest, given = "WHERE s.holder = ?", [holder]
        else:
            rest = "WHERE s.holder = ? AND s.number > (SELECT number FROM repoassay_submissions WHERE ulid = ?)"
            given = [holder, after]
        return list(self._select(f"{rest} ORDER BY s.number LIMIT ?", (*given, limit), _BRIEF))

    def results(self, holder: str, after: int, limit: int, *, whole: bool = True) -> list[Stored]:
        """At most `limit` submissions of `holder` with verdicts numbered above `after`, in the order of these.

        Args:
            holder: Whose.
            after: The last number that is known.
            limit: How many.
            whole: Whether the whole verdict is wanted, which may be long.
        """
        rest = "WHERE v.holder = ? AND v.number > ? ORDER BY v.number LIMIT ?"
        return list(self._select(rest, (holder, after, limit), _SELECT if whole else _BRIEF))

    def counts(self) -> Counts:
        """How many are waiting and under way, of everybody."""
        with self.database.read() as run:
            found: dict[str, int] = dict(
                run("SELECT status, count(*) FROM repoassay_submissions WHERE status <> 'done' GROUP BY status")
            )
        return Counts(int(found.get("queued", 0)), int(found.get("running", 0)))

    def tasks(self) -> set[str]:
        """Tasks of what has no verdict yet."""
        with self.database.read() as run:
            return {row[0] for row in run("SELECT DISTINCT task FROM repoassay_submissions WHERE status <> 'done'")}

    def answers(self) -> dict[str, int]:
        """How many submissions of each task have a verdict."""
        with self.database.read() as run:
            return {
                row[0]: row[1]
                for row in run("SELECT task, COUNT(*) FROM repoassay_submissions WHERE status = 'done' GROUP BY task")
            }

    def _select(self, rest: str, parameters: Sequence[object], select: str = _SELECT) -> Iterator[Stored]:
        with self.database.read() as run:
            rows = run(select + rest, parameters)
        return (Stored(*row[:-1]) for row in rows)
