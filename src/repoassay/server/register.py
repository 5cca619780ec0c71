"""The servers of one queue: which are alive, how many places they have, and that all judge by the same terms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from repoassay.db import Database, epoch_now
from repoassay.errors import BadInput
from repoassay.server.queue_tables import ORDER, servers, submissions
from repoassay.text import join_names, printable

__all__ = ["ServerEntry", "ServerRegister"]

_FORGOTTEN = 86_400.0
"""Seconds after which a server that died is struck off."""
_LAPSE = "A server that was killed counts until its lease has ended."
_c = servers.c
_END = epoch_now() + sa.bindparam("seconds", type_=sa.Double)
_ADD = sa.insert(servers).values(lease=_END)
_RENEW = (
    sa.update(servers)
    .where(_c.owner == sa.bindparam("of_owner"))
    .values(lease=_END, places=sa.func.coalesce(sa.bindparam("now_places", type_=sa.Integer), _c.places))
)
_REMOVE = sa.delete(servers).where(_c.owner == sa.bindparam("of_owner"))
_FORGET = sa.delete(servers).where(_c.lease < epoch_now() - sa.bindparam("seconds", type_=sa.Double))
_ALIVE = sa.select(_c.terms, _c.tasks).where(_c.lease > epoch_now())
_PLACES = sa.select(sa.func.coalesce(sa.func.sum(_c.places), 0)).where(_c.lease > epoch_now())
_OPEN = (
    sa.select(submissions.c.task, submissions.c.task_digest)
    .where(submissions.c.status != sa.literal_column("'done'", sa.Text), submissions.c.task_digest.is_not(None))
    .distinct()
)


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server as the others of its queue know it.

    Attributes:
        owner: Its name in claims.
        role: `all`, `front` or `worker`.
        places: How many submissions it judges at a time.
        tasks: The digest of each task it serves.
        terms: What decides a verdict beside the task: how much is told, what a pass must be attested with, time limits.
    """

    owner: str
    role: str
    places: int
    tasks: Mapping[str, str]
    terms: Mapping[str, str]


class ServerRegister:
    """Servers that share a queue; every method may raise `Unavailable`.

    Args:
        database: The queue's, whose tables are there.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def join(self, entry: ServerEntry, lease: float) -> None:
        """Enter a server for `lease` seconds.

        Raises:
            BadInput: When another server that is alive, or a submission that waits, has another version of a task, or
                other terms hold at the others.
        """
        row = {"owner": entry.owner, "role": entry.role, "places": entry.places, "seconds": lease}
        row |= {"terms": json.dumps(dict(entry.terms)), "tasks": json.dumps(dict(entry.tasks))}
        with self._database.writing(ORDER) as run:
            if self._database.sole_owner:
                run.execute(sa.delete(servers))
            run.execute(_FORGET, {"seconds": _FORGOTTEN})
            for found in run.execute(_ALIVE).all():
                self._compare(entry, json.loads(found.terms), json.loads(found.tasks))
            if changed := _changed(entry.tasks, run.execute(_OPEN).all()):
                raise BadInput(
                    f"Submissions in the queue {self._database.place} were handed in for another version of "
                    f"these tasks: {changed}.",
                    "Serve that version until they are judged, or choose another queue.",
                )
            run.execute(_ADD, row)

    def renew(self, owner: str, lease: float, places: int | None = None) -> None:
        """Keep a server entered for `lease` seconds from now, with as many places as it has now."""
        with self._database.writing() as run:
            run.execute(_RENEW, {"of_owner": owner, "seconds": lease, "now_places": places})

    def leave(self, owner: str) -> None:
        """Strike a server off."""
        with self._database.writing() as run:
            run.execute(_REMOVE, {"of_owner": owner})

    def places(self) -> int:
        """How many submissions all servers that are alive judge at a time."""
        with self._database.reading(snapshot=False) as run:
            return int(run.scalars(_PLACES).one())

    def _compare(self, entry: ServerEntry, terms: Mapping[str, str], tasks: Mapping[str, str]) -> None:
        if changed := _changed(entry.tasks, tasks.items()):
            raise BadInput(
                f"Another server on the queue {self._database.place} has another version of these tasks: {changed}.",
                f"Give every server of a queue the same data set, or choose another queue. {_LAPSE}",
            )
        for name in sorted(set(entry.terms) | set(terms)):
            here, there = entry.terms.get(name), terms.get(name)
            if here != there:
                raise BadInput(
                    f"Another server on the queue {self._database.place} was started with {name} "
                    f"{printable(str(there))}, this one with {here}.",
                    f"Start every server of a queue with the same options for verdicts. {_LAPSE}",
                )


def _changed(ours: Mapping[str, str], theirs: Iterable[Any]) -> str:
    """Up to three tasks of pairs of tasks and digests that are others here, for a sentence; empty without any."""
    return join_names(sorted({task for task, digest in theirs if ours.get(task, digest) != digest}), 3)
