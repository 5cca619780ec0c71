"""Work on the nodes of a Ray cluster: one actor a node, which keeps its work warm.

Nodes may join and leave at any time. An actor that is lost is never asked again; a node that is still there gets a new
one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from repoassay.errors import Unavailable
from repoassay.executors.node_cluster import NodeCluster, NodeMember, Ticket
from repoassay.executors.placement import NodeLoad
from repoassay.executors.protocol import Cluster, NodeSetup
from repoassay.executors.ray_connection import RayConnection
from repoassay.executors.ray_node import NodeActor, ShelfActor
from repoassay.text import one_line

__all__ = ["RayCluster", "RayExecutor"]

_LOG = logging.getLogger("repoassay")
_START = 90.0
"""Seconds in which the first node must be ready, and that jobs wait for one when all are lost."""
_MOST_DEATHS = 5
"""How often in a row, without an answer, the actor of a node may die before the node is left alone."""
_THREADS = 4
"""Calls that a node answers at a time: one waits for answers, others give jobs and give them up."""
_FAREWELL = 5.0
"""Seconds in which nodes end what is warm, before they are made to."""


class RayExecutor:
    """Opens clusters on Ray.

    Args:
        address: `HOST:PORT` of the head; see `RayConnection`.
    """

    def __init__(self, address: str = "") -> None:
        self._address = address

    def open(self, setup: NodeSetup, workers: int | None) -> Cluster:
        """See `Executor.open`."""
        connection = RayConnection(self._address, workers)
        try:
            return RayCluster(connection, setup, workers)
        except BaseException:
            connection.close()
            raise


@dataclass(slots=True)
class _Machine:
    """A machine of the cluster: how often its actors died without an answer, and when it may have another one."""

    deaths: int = 0
    after: float = 0.0
    member: NodeMember | None = None


class RayCluster(NodeCluster):
    """The nodes of a Ray cluster. See `Cluster`.

    Args:
        connection: The joined cluster; closed with this.
        setup: How nodes make their work.
        workers: Jobs at a time on a node, at most one a core that Ray counts there; None for that many.

    Raises:
        Unavailable: No node is ready in time, or a node has other versions.
        RepoAssayError: What the first node said that cannot make its work.
    """

    def __init__(self, connection: RayConnection, setup: NodeSetup, workers: int | None) -> None:
        super().__init__(setup, "Ray")
        self._connection, self._ray, self._workers = connection, connection.ray, workers
        self._machines: dict[str, _Machine] = {}
        self._parcels: dict[str, Any] = {}
        self._outbox: dict[int, tuple[NodeMember, list[Any]]] = {}
        self._alone_since = self._seen = time.monotonic()
        here = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            self._ray.get_runtime_context().get_node_id(), soft=True
        )  # where it is lost only with this process's own machine
        place = self._ray.remote(ShelfActor).options(num_cpus=0, max_concurrency=1, scheduling_strategy=here)
        self._shelf = place.remote()
        self.start(_START + 5)

    def close(self) -> None:
        """See `Cluster.close`."""
        super().close()
        self._connection.close()

    def _members(self) -> list[NodeMember]:
        return [machine.member for machine in list(self._machines.values()) if machine.member]

    def _look(self) -> None:
        """Let nodes in that joined, drop those that left, and give up when there is none for too long."""
        try:
            alive = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        except Exception as error:
            if time.monotonic() - self._seen > _START:
                raise
            _LOG.debug("The head does not say which nodes there are: %s", error)  # it may be busy
            return
        self._seen = time.monotonic()
        for name, node in self._machines.items():
            if name not in alive and node.member is not None:
                self._lose(node.member, "its machine left the cluster")
        for name, about in alive.items():
            cores = int(about["Resources"].get("CPU", 0))
            node = self._machines.setdefault(name, _Machine())
            if cores and node.member is None and node.deaths < _MOST_DEATHS and node.after <= time.monotonic():
                self._join(name, node, min(self._workers or cores, cores))
        if any(member.opened for member in self._members()):
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > _START:
            raise Unavailable(
                "No node of the Ray cluster is ready to work.",
                "See `ray status`: nodes must be alive and have cores that nobody else holds.",
            )

    def _join(self, name: str, node: _Machine, workers: int) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        where = NodeAffinitySchedulingStrategy(node_id=name, soft=False)
        actor = self._ray.remote(NodeActor).options(
            num_cpus=workers, max_restarts=0, max_task_retries=0, max_concurrency=_THREADS, scheduling_strategy=where,
            enable_task_events=False,
        ).remote()  # fmt: skip
        member = NodeMember(f"{name}/{next(self._numbers)}", name, actor, NodeLoad(workers))
        node.member = member
        facts = actor.facts.remote()
        self._when_done(facts, partial(self._open, member), partial(self._refuse, member))

    def _open(self, member: NodeMember, facts: bytes) -> None:
        if self._fits(member, facts):
            opened = member.handle.open.remote(
                self._setup, member.load.workers, self._shelf, member.name, self._secrets
            )
            self._when_done(opened, partial(self._admit, member), partial(self._fail, member))

    def _refuse(self, member: NodeMember, error: BaseException) -> None:
        """The actor said nothing: it was lost, or repoassay cannot be imported there."""
        if "ModuleNotFoundError" in str(error) or "ImportError" in str(error):
            refusal = Unavailable(
                f"A node of the Ray cluster cannot import repoassay: {one_line(str(error).splitlines()[-1])}",
                "Install the same RepoAssay on every machine of the cluster, and start Ray from that installation.",
            )
            self._turn_away(member, refusal)
        else:
            self._fail(member, error)

    def _fail(self, member: NodeMember, error: BaseException) -> None:
        self._lose(member, one_line(str(error)))

    def _send(self, ticket: Ticket, member: NodeMember) -> None:
        for parcel in ticket.job.parcels:
            if parcel.name not in self._parcels:
                self._parcels[parcel.name] = self._ray.put(parcel.pack())
        parcels = {parcel.name: [self._parcels[parcel.name]] for parcel in ticket.job.parcels}
        job = (ticket.number, ticket.job.record.model_dump_json().encode(), parcels)
        self._outbox.setdefault(id(member), (member, []))[1].append(job)

    def _give(self) -> None:
        """Send what each node is given in one message."""
        super()._give()
        while self._outbox:
            member, jobs = self._outbox.popitem()[1]
            self._when_done(member.handle.give.remote(jobs), lambda _: None, partial(self._fail, member))

    def _admit(self, member: NodeMember, answer: Any) -> None:
        super()._admit(member, answer)
        if member.opened:
            self._take(member)

    def _take(self, member: NodeMember, answers: Any = ()) -> None:
        """Take answers of a node, and ask for its next ones."""
        if self._machines[member.node].member is not member:
            return  # it was taken for lost
        try:
            results = [(int(number), bytes(answer), float(seconds)) for number, answer, seconds in answers]
        except (TypeError, ValueError):
            self._lose(member, "what it answers is no list of answers")
            return
        for number, answer, seconds in results:
            self._machines[member.node].deaths = 0
            self._settle(number, answer, seconds)
        self._when_done(member.handle.take.remote(), partial(self._take, member), partial(self._fail, member))

    def _when_done(self, ref: Any, answer: Callable[[Any], None], lost: Callable[[BaseException], None]) -> None:
        """Have this thread called with what a reference leads to, or with why that will never come."""

        def done(future: Future[Any]) -> None:
            error = future.exception()
            self._events.put(partial(lost, error) if error is not None else partial(answer, future.result()))

        ref.future().add_done_callback(done)

    def _cancel(self, ticket: Ticket, member: NodeMember) -> None:
        member.handle.cancel.remote(ticket.number)

    def _forget(self, member: NodeMember) -> bool:
        machine = self._machines[member.node]
        if machine.member is not member:
            return False
        machine.member = None
        machine.deaths += 1
        machine.after = time.monotonic() + min(30.0, 2.0 ** (machine.deaths - 1))
        self._ray.kill(member.handle)
        self._shelf.forget.remote(member.name)
        return True

    def _leave(self, members: Sequence[NodeMember]) -> None:
        left = [each.handle.close.remote() for each in members if each.opened]
        if left:
            self._ray.wait(left, num_returns=len(left), timeout=_FAREWELL)
        for actor in [*(member.handle for member in members), self._shelf]:
            self._ray.kill(actor)
