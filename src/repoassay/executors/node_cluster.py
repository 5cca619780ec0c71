"""Work on nodes that come and go: which jobs they are given, and what becomes of those. A scheduler's own part is added
by a class for it: how nodes join, and how they are reached.

A node that is lost is never asked again, even if it still lives, and its jobs fail with `NodeLost`; whoever gave them
decides whether they are given again.
"""

from __future__ import annotations

import abc
import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from typing import Any

from pydantic import ValidationError

from repoassay.errors import InfraFault, Interrupted, RepoAssayError
from repoassay.executors.node_process import error_of
from repoassay.executors.node_work import NodeFacts, check_facts
from repoassay.executors.placement import NodeLoad, choose_node
from repoassay.executors.protocol import NodeJob, NodeLost, NodeSetup
from repoassay.records import parse
from repoassay.text import one_line

__all__ = ["NodeCluster", "NodeMember", "Ticket"]

_LOG = logging.getLogger("repoassay")
_LOOK = 1.0
"""Seconds between looks at which nodes there are."""


@dataclass(slots=True)
class Ticket:
    """A job that was given and has no answer yet."""

    number: int
    job: NodeJob
    cancel: threading.Event | None
    future: Future[Any]
    cancel_sent: bool = False  # whether its node heard that it is given up


@dataclass(slots=True, eq=False)
class NodeMember:
    """A process that works on a node: `handle` reaches it, `opened` says that it is given jobs."""

    name: str
    node: str
    handle: Any
    load: NodeLoad
    opened: bool = False


class NodeCluster(abc.ABC):
    """Nodes of one scheduler. See `Cluster`.

    Args:
        setup: How nodes make their work.
        scheduler: What has them, such as Ray.
    """

    def __init__(self, setup: NodeSetup, scheduler: str) -> None:
        self._scheduler = scheduler
        self._setup = json.dumps({"work": setup.work, "data": setup.data}).encode()
        self._answer_type, self._secrets = setup.answer_type, dict(setup.secrets)
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._numbers = count(1)
        self._waiting: list[Ticket] = []
        self._placed: dict[int, tuple[Ticket, NodeMember]] = {}
        self._closing = threading.Event()
        self._over: BaseException | None = None
        self._lock = threading.Lock()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name=f"{scheduler.lower()}-cluster", daemon=True)

    def start(self, seconds: float | None) -> None:
        """Begin, and wait until the first node is ready, so long or for ever.

        Raises:
            Unavailable: No node is ready in time, or a node has other versions.
            RepoAssayError: What the first node said that cannot make its work.
        """
        self._thread.start()
        try:
            self._ready.result(seconds)
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

    @abc.abstractmethod
    def _members(self) -> Sequence[NodeMember]:
        """Those that were not lost."""

    @abc.abstractmethod
    def _look(self) -> None:
        """Let nodes in that joined, drop those that left; raises when there is none for too long."""

    @abc.abstractmethod
    def _send(self, ticket: Ticket, member: NodeMember) -> None:
        """Give a job to a node; `_settle` or `_lose` is called in the end, by the thread that takes events."""

    @abc.abstractmethod
    def _cancel(self, ticket: Ticket, member: NodeMember) -> None:
        """Tell a node that a job is given up."""

    @abc.abstractmethod
    def _forget(self, member: NodeMember) -> bool:
        """Take a node out of the members and end its process; False where it is none any more."""

    @abc.abstractmethod
    def _leave(self, members: Sequence[NodeMember]) -> None:
        """Let nodes end what is warm, for seconds, and let go of all."""

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
                for ticket, member in list(self._placed.values()):
                    if ticket.cancel is not None and ticket.cancel.is_set() and not ticket.cancel_sent:
                        ticket.cancel_sent = True
                        self._cancel(ticket, member)
                self._give()
        except BaseException as error:  # noqa: BLE001 - carried to whoever waits for an answer
            reason = f"{self._scheduler} failed: {one_line(str(error))}"
            failure = error if isinstance(error, RepoAssayError) else InfraFault(reason)
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

    def _fits(self, member: NodeMember, facts: bytes) -> bool:
        """Whether a node is like this machine; one that is not is turned away."""
        try:
            check_facts(parse(NodeFacts, facts))
        except (ValidationError, RepoAssayError) as error:
            self._turn_away(member, error)
            return False
        return True

    def _admit(self, member: NodeMember, answer: bytes) -> None:
        """Give jobs to a node that has made its work ready, as it answers."""
        if answer[:1] != b"+":
            self._turn_away(member, error_of(answer))
            return
        member.opened = True
        if not self._ready.done():
            self._ready.set_result(None)

    def _turn_away(self, member: NodeMember, error: Exception) -> None:
        """A node cannot do the work: whoever waits for the first one hears why; once others work, it is left out."""
        if not self._ready.done():
            raise error
        self._lose(member, f"it cannot do the work: {one_line(str(error))}")

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
                member = loads[id(load)]
                member.load.take(ticket.number, ticket.job.warmth)
                self._placed[ticket.number] = ticket, member
                self._send(ticket, member)
        self._waiting = left

    def _settle(self, number: int, answer: bytes, seconds: float | None = None) -> None:
        """Take the answer to a job, and how long the node says that it took."""
        if number not in self._placed:
            return  # its node was taken for lost
        ticket, member = self._placed.pop(number)
        member.load.drop(number, seconds)
        if answer[:1] != b"+":
            ticket.future.set_exception(error_of(answer))
            return
        try:
            ticket.future.set_result(parse(self._answer_type, answer[1:]))
        except (ValidationError, RepoAssayError):
            ticket.future.set_exception(InfraFault("A node answered with what is no record."))

    def _lose(self, member: NodeMember, why: str) -> None:
        """Never ask a node again; its jobs are lost."""
        if not self._forget(member):
            return
        if not self._closing.is_set():
            _LOG.warning("repoassay: A node is lost, with %d jobs under way: %s", len(member.load.jobs), why)
        for number in sorted(member.load.jobs & self._placed.keys()):
            self._placed.pop(number)[0].future.set_exception(NodeLost(f"The node of a job was lost: {why}"))

    def _end(self, failure: BaseException) -> None:
        """Fail what has no answer, and let nodes end what is warm."""
        with self._lock:
            self._over = failure
        self._take_events()
        for ticket in [*self._waiting, *(ticket for ticket, _ in self._placed.values())]:
            if ticket.future.running() or ticket.future.set_running_or_notify_cancel():
                ticket.future.set_exception(failure)
        self._placed.clear()
        try:
            self._leave(self._members())
        except Exception as error:  # noqa: BLE001 - the cluster itself may be gone, and there is nothing left to end
            _LOG.debug("The %s cluster could not be left in order: %s", self._scheduler, error)
