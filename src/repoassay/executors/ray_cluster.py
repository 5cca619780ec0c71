"""Work on the nodes of a Ray cluster: one actor a node, which keeps its work warm, and one thread here that gives jobs.

Nodes may join and leave at any time. An actor that is lost is never asked again, even if it still lives, and its jobs
fail with `NodeLost`; whoever gave them decides whether they are given again. A node that is still there gets a new one.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import count
from typing import Any

from pydantic import ValidationError

from repoassay.errors import InfraFault, Interrupted, RepoAssayError, Unavailable
from repoassay.executors.node_work import NodeFacts, check_facts
from repoassay.executors.placement import NodeLoad, choose_node
from repoassay.executors.protocol import Cluster, NodeJob, NodeLost, NodeSetup
from repoassay.executors.ray_connection import RayConnection
from repoassay.executors.ray_members import NodeMember, NodeState, Ticket
from repoassay.executors.ray_node import NodeActor, ShelfActor, error_of
from repoassay.records import parse
from repoassay.text import one_line

__all__ = ["RayCluster", "RayExecutor"]

_LOG = logging.getLogger("repoassay")
_LOOK = 1.0
"""Seconds between looks at which nodes there are."""
_START = 90.0
"""Seconds in which the first node must be ready, and that jobs wait for one when all are lost."""
_MOST_DEATHS = 5
"""How often in a row, without an answer, the actor of a node may die before the node is left alone."""
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


class RayCluster:
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
        self._connection, self._ray, self._workers = connection, connection.ray, workers
        self._setup = json.dumps({"work": setup.work, "data": setup.data}).encode()
        self._answer_type, self._secrets = setup.answer_type, dict(setup.secrets)
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._numbers = count(1)
        self._waiting: list[Ticket] = []
        self._placed: dict[int, tuple[Ticket, NodeMember]] = {}
        self._nodes: dict[str, NodeState] = {}
        self._parcels: dict[str, Any] = {}
        self._closing = threading.Event()
        self._over: BaseException | None = None
        self._lock = threading.Lock()
        self._ready: Future[None] = Future()
        self._alone_since = self._seen = time.monotonic()
        here = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            self._ray.get_runtime_context().get_node_id(), soft=True
        )  # where it is lost only with this process's own machine
        place = self._ray.remote(ShelfActor).options(num_cpus=0, max_concurrency=1, scheduling_strategy=here)
        self._shelf = place.remote()
        self._thread = threading.Thread(target=self._run, name="ray-cluster", daemon=True)
        self._thread.start()
        try:
            self._ready.result(_START + 5)
        except BaseException:
            self.close()
            raise

    @property
    def capacity(self) -> int:
        """Workers of all nodes that are ready."""
        return max(1, sum(member.load.workers for member in self._members() if member.opened))

    def submit(self, job: NodeJob, cancel: threading.Event | None = None) -> Future[Any]:
        """See `Cluster.submit`."""
        ticket = Ticket(next(self._numbers), job, cancel, Future())
        with self._lock:
            if self._over is not None:
                raise Interrupted(f"The cluster was left. {self._over}")
            self._events.put(lambda: self._waiting.append(ticket))
        return ticket.future

    def close(self) -> None:
        """See `Cluster.close`."""
        self._closing.set()
        self._thread.join(60)
        self._connection.close()

    def _members(self) -> list[NodeMember]:
        return [node.member for node in list(self._nodes.values()) if node.member]

    def _run(self) -> None:
        """Give jobs and take answers until closed. All that changes is changed by this thread."""
        looked = 0.0
        failure: BaseException = Interrupted("The cluster was closed.")
        try:
            while not self._closing.is_set():
                self._take_events()
                if time.monotonic() - looked >= _LOOK:
                    self._look()
                    looked = time.monotonic()
                self._tell_cancelled()
                self._give()
        except BaseException as error:  # noqa: BLE001 - carried to whoever waits for an answer
            failure = error if isinstance(error, RepoAssayError) else InfraFault(f"Ray failed: {one_line(str(error))}")
        self._closing.set()
        if not self._ready.done():
            self._ready.set_exception(failure)
        self._end(failure)

    def _take_events(self) -> None:
        try:
            self._events.get(timeout=0.2)()
            while True:
                self._events.get_nowait()()
        except queue.Empty:
            return

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
        for name, node in self._nodes.items():
            if name not in alive and node.member is not None:
                self._lose(node.member, "its machine left the cluster")
        for name, about in alive.items():
            cores = int(about["Resources"].get("CPU", 0))
            node = self._nodes.setdefault(name, NodeState())
            if cores and node.member is None and node.deaths < _MOST_DEATHS and node.after <= time.monotonic():
                self._join(name, node, min(self._workers or cores, cores))
        if any(member.opened for member in self._members()):
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > _START:
            raise Unavailable(
                "No node of the Ray cluster is ready to work.",
                "See `ray status`: nodes must be alive and have cores that nobody else holds.",
            )

    def _join(self, name: str, node: NodeState, workers: int) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        where = NodeAffinitySchedulingStrategy(node_id=name, soft=False)
        make = self._ray.remote(concurrency_groups={"control": 2})(NodeActor)
        actor = make.options(
            num_cpus=workers, max_restarts=0, max_task_retries=0, max_concurrency=workers, scheduling_strategy=where
        ).remote()
        member = NodeMember(f"{name}/{next(self._numbers)}", name, actor, NodeLoad(workers))
        node.member = member
        facts = actor.facts.options(concurrency_group="control").remote()
        self._when_done(facts, partial(self._open, member), partial(self._refuse, member))

    def _open(self, member: NodeMember, facts: bytes) -> None:
        try:
            check_facts(parse(NodeFacts, facts))
        except (ValidationError, RepoAssayError) as error:
            self._turn_away(member, error)
            return
        ask = member.actor.open.options(concurrency_group="control")
        opened = ask.remote(self._setup, member.load.workers, self._shelf, member.name, self._secrets)
        self._when_done(opened, partial(self._admit, member), partial(self._fail, member))

    def _admit(self, member: NodeMember, answer: bytes) -> None:
        if answer[:1] != b"+":
            self._turn_away(member, error_of(answer))
            return
        member.opened = True
        if not self._ready.done():
            self._ready.set_result(None)

    def _refuse(self, member: NodeMember, error: BaseException) -> None:
        """The actor said nothing: it was lost, or repoassay cannot be imported there."""
        if "ModuleNotFoundError" in str(error) or "ImportError" in str(error):
            told = Unavailable(
                f"A node of the Ray cluster cannot import repoassay: {one_line(str(error).splitlines()[-1])}",
                "Install the same RepoAssay on every machine of the cluster, and start Ray from that installation.",
            )
            self._turn_away(member, told)
        else:
            self._fail(member, error)

    def _turn_away(self, member: NodeMember, error: Exception) -> None:
        """A node cannot do the work: whoever waits for the first one hears why; once others work, it is left out."""
        if not self._ready.done():
            raise error
        self._lose(member, f"it cannot do the work: {one_line(str(error))}")

    def _fail(self, member: NodeMember, error: BaseException) -> None:
        self._lose(member, one_line(str(error)))

    def _give(self) -> None:
        """Give waiting jobs to nodes; those that are better done elsewhere wait, and others go before them."""
        loads = {id(member.load): member for member in self._members() if member.opened}
        nodes, now = [member.load for member in loads.values()], time.monotonic()
        left: list[Ticket] = []
        for place, ticket in enumerate(self._waiting):
            if not any(node.has_room for node in nodes):
                left += self._waiting[place:]
                break
            if ticket.cancel is not None and ticket.cancel.is_set():
                if ticket.future.set_running_or_notify_cancel():
                    ticket.future.set_exception(NodeLost("A job was given up before a node had it."))
                continue
            load = choose_node(ticket.job.warmth, nodes, now)
            if load is None:
                left.append(ticket)
            elif ticket.future.set_running_or_notify_cancel():
                self._place(ticket, loads[id(load)])
        self._waiting = left

    def _place(self, ticket: Ticket, member: NodeMember) -> None:
        number, job = ticket.number, ticket.job
        for parcel in job.parcels:
            if parcel.name not in self._parcels:
                self._parcels[parcel.name] = self._ray.put(parcel.pack())
        parcels = {parcel.name: [self._parcels[parcel.name]] for parcel in job.parcels}
        member.load.take(number, job.warmth)
        self._placed[number] = ticket, member
        answer = member.actor.do.remote(number, job.record.model_dump_json().encode(), parcels)
        self._when_done(answer, partial(self._settle, number), partial(self._fail, member))

    def _when_done(self, ref: Any, answer: Callable[[bytes], None], lost: Callable[[BaseException], None]) -> None:
        """Have this thread called with what a reference leads to, or with why that will never come."""

        def done(future: Future[Any]) -> None:
            error = future.exception()
            if error is not None:
                self._events.put(lambda: lost(error))
                return
            value = future.result()
            self._events.put(lambda: answer(value if isinstance(value, bytes) else b""))

        ref.future().add_done_callback(done)

    def _settle(self, number: int, told: bytes) -> None:
        if number not in self._placed:
            return  # its node was taken for lost
        ticket, member = self._placed.pop(number)
        member.load.drop(number)
        self._nodes[member.node].deaths = 0
        if told[:1] != b"+":
            ticket.future.set_exception(error_of(told))
            return
        try:
            ticket.future.set_result(parse(self._answer_type, told[1:]))
        except (ValidationError, RepoAssayError):
            ticket.future.set_exception(InfraFault("A node answered with what is no record."))

    def _lose(self, member: NodeMember, why: str) -> None:
        """Never ask an actor again; its jobs are lost."""
        node = self._nodes[member.node]
        if node.member is not member:
            return
        node.member = None
        node.deaths += 1
        node.after = time.monotonic() + min(30.0, 2.0 ** (node.deaths - 1))
        _LOG.warning("repoassay: A node is lost, with %d jobs under way: %s", len(member.load.jobs), why)
        self._ray.kill(member.actor)
        self._shelf.forget.remote(member.name)
        for number in sorted(member.load.jobs):
            self._placed.pop(number)[0].future.set_exception(NodeLost(f"The node of a job was lost: {why}"))

    def _tell_cancelled(self) -> None:
        for ticket, member in list(self._placed.values()):
            if ticket.cancel is not None and ticket.cancel.is_set() and not ticket.told:
                ticket.told = True
                member.actor.cancel.options(concurrency_group="control").remote(ticket.number)

    def _end(self, failure: BaseException) -> None:
        """Fail what has no answer, and let nodes end what is warm."""
        with self._lock:
            self._over = failure
        self._take_events()
        for ticket in [*self._waiting, *(ticket for ticket, _ in self._placed.values())]:
            if ticket.future.running() or ticket.future.set_running_or_notify_cancel():
                ticket.future.set_exception(failure)
        members = self._members()
        try:
            left = [each.actor.close.options(concurrency_group="control").remote() for each in members if each.opened]
            if left:
                self._ray.wait(left, num_returns=len(left), timeout=_FAREWELL)
            for actor in [*(member.actor for member in members), self._shelf]:
                self._ray.kill(actor)
        except Exception as error:  # noqa: BLE001 - the cluster itself may be gone, and there is nothing left to end
            _LOG.debug("The Ray cluster could not be left in order: %s", error)
