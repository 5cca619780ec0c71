"""The threads that judge: they claim what waits, ask the engine, and write the verdict."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ulid import ULID

from repoassay.engine import SubmissionEngine, word
from repoassay.engine.answer import failure_feedback
from repoassay.errors import BadInput, InfraFault, Interrupted, Unavailable
from repoassay.grading import fault
from repoassay.server.logs import log_event
from repoassay.server.metrics import PrometheusMetrics
from repoassay.server.places import Place, WorkerSettings
from repoassay.server.queue import Claim, Queue
from repoassay.server.register import ServerEntry
from repoassay.spans import stage_span
from repoassay.text import printable
from repoassay.types import Outcome, Verdict

__all__ = ["Workers"]

_LOG = logging.getLogger("repoassay.serve")
_MOST_FAULTS = 2
"""How often a fault of ours is tried again before it is the verdict."""
_UNTOLD = "This could not be judged; whoever runs this service finds the reason in its log, by the submission's id."
_MOST_CLAIMS = 8
"""How many servers may die over one submission before it is taken for the cause."""
_TIDY = 600.0
"""Seconds between looks for what is old enough to be deleted."""
_LOOK = 1.0
"""Seconds between looks for what other servers accepted or put back, and for who waits for the express place."""


@dataclass(slots=True)
class Workers:
    """Threads that judge until they are stopped.

    Args:
        queue: Where submissions wait.
        engine: Judges them, in as many places as it has workers, which on a cluster come and go; closed by `stop`.
        meters: Counts every verdict and fault.
        on_verdict: Called with the submission after every verdict.
        settings: How it judges.
    """

    queue: Queue
    engine: SubmissionEngine
    meters: PrometheusMetrics
    on_verdict: Callable[[str], None]
    settings: WorkerSettings = field(default_factory=WorkerSettings)
    owner: str = field(default_factory=lambda: str(ULID()))
    lost: str = ""
    """Why nothing can be judged here any more: the cluster whose nodes judged is gone. Empty while it can."""
    _stopping: threading.Event = field(default_factory=threading.Event)
    _cancel: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)
    _work: threading.Condition = field(default_factory=threading.Condition)
    _woken: int = 0
    _places: list[Place] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _keeper: threading.Thread | None = None

    @property
    def stopping(self) -> bool:
        """Whether nothing new is begun."""
        return self._stopping.is_set()

    def start(self) -> None:
        """Enter the queue's servers, put back what a killed one left, then begin.

        Raises:
            BadInput: When other servers of the queue serve other tasks by the same names, or by other terms.
        """
        count = self._wanted_places()
        tasks = {name: folder.digest for name, folder in self.engine.tasks.items()}
        self.queue.servers.join(
            ServerEntry(self.owner, self.settings.role, count, tasks, self.settings.terms), self.settings.lease
        )
        left = self.queue.recover(everything=self.queue.database.sole_owner)
        if left:
            _LOG.info("%d submissions that were under way are put back.", left)
        self._fill_places()
        self._keeper = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._keeper.start()

    def _wanted_places(self) -> int:
        """How many places there are to be: as many as the engine judges at a time, two where one is the express one."""
        if self.settings.role == "front":
            return 0
        return max(self.engine.capacity, 2) if self.settings.express > 0 else self.engine.capacity

    def _fill_places(self) -> None:
        """Add the places that there are to be, the express place first; `_leave` takes away what is too many."""
        wanted = 0 if self.stopping else self._wanted_places()
        new = [
            Place(f"judge-{number}", express=number == 0 and self.settings.express > 0)
            for number in range(len(self._places), wanted)
        ]
        self._places += new
        threads = [threading.Thread(target=self._run, args=(each,), name=each.name, daemon=True) for each in new]
        for thread in threads:
            thread.start()
        self._threads = [*(thread for thread in self._threads if thread.is_alive()), *threads]

    def _leave(self, place: Place) -> bool:
        """Take a free place away where there are too many; says whether it was."""
        with self._work:
            if place.express or len(self._places) <= self._wanted_places():
                return False
            self._places.remove(place)
            return True

    def wake(self) -> None:
        """Say that something may be waiting."""
        with self._work:
            self._woken += 1
            self._work.notify_all()

    def drain(self) -> None:
        """Begin nothing new; what is under way goes on."""
        self._stopping.set()
        self.wake()

    def stop(self, grace: float, hurry: Callable[[], bool] = lambda: False) -> int:
        """End: let what is under way finish, put the rest back, and return how many that were.

        Args:
            grace: Seconds it may take to finish.
            hurry: Asked meanwhile whether to give up at once.
        """
        self.drain()
        until = time.monotonic() + grace
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < until and not hurry():
            time.sleep(0.02)
        self._cancel.set()
        for place in self._places:
            place.cancel.set()
        left = sum(thread.is_alive() for thread in self._threads)
        for thread in [*self._threads, *([self._keeper] if self._keeper else [])]:
            self._ended.set()
            thread.join(timeout=15)
        try:
            self.queue.release(self.owner)
            self.queue.servers.leave(self.owner)
        except Unavailable as error:  # the lease lapses by itself
            _LOG.warning("%s", error)
        self.engine.close()
        return left

    def _run(self, place: Place) -> None:
        while not self.stopping and not self._leave(place):
            seen = self._woken
            try:
                claim = self._claim(place)
            except Unavailable as error:
                _LOG.warning("%s", error)
                self._stopping.wait(_LOOK)
                continue
            if claim is None:
                with self._work:
                    self._work.wait_for(lambda seen=seen: self._woken != seen, _LOOK)  # type: ignore[misc]  # mypy cannot infer a lambda's default
            else:
                place.since = time.monotonic()
                self._attend(claim, place)
                place.since = None

    def _claim(self, place: Place) -> Claim | None:
        """What is judged next at a place: at the express place only what has no other place to go to."""
        if not place.express:
            return self.queue.claim(self.owner, self.settings.lease, self.settings.each)
        if any(other.since is None for other in self._places if other is not place):
            return None
        return self.queue.claim(self.owner, self.settings.lease, 1)

    def _attend(self, claim: Claim, place: Place) -> None:
        """Settle a claim; whatever goes wrong, the thread lives on and the submission is not held for ever."""
        place.cancel.clear()
        if self._cancel.is_set():  # set before we cleared ours
            place.cancel.set()
        self.meters.claimed(claim.waited)
        began = time.time() - claim.waited
        try:
            with stage_span("verdict", began, submission=claim.ulid, task=claim.task, claims=claim.claims):
                with stage_span("queue_wait", began):
                    pass
                self._settle(claim, place.cancel)
        except Exception:  # noqa: BLE001 - a thread that died would judge nothing any more
            _LOG.exception("Submission %s", claim.ulid)
            self.meters.fault()
            self._write(lambda: self.queue.put_back(claim, fault=True, delay=30.0))

    def _settle(self, claim: Claim, cancel: threading.Event) -> None:
        """Judge a claimed submission; write the verdict, or put it back."""
        began = time.monotonic()
        verdict = self._judge(claim, cancel)
        if verdict is None or cancel.is_set():
            delay = 0.0 if cancel.is_set() else 30.0
            self._write(lambda: self.queue.put_back(claim, delay=delay))
            log_event("put_back", submission=claim.ulid, task=claim.task, claims=claim.claims)
            return
        named, whose, public = word(verdict), verdict.outcome.whose.value, verdict
        if named == "ERROR":
            reason = printable(" ".join(verdict.comments), 500)
            # Where something of this machine is amiss, its words have paths and names of it.
            public = verdict if claim.claims > _MOST_CLAIMS else verdict.model_copy(update={"comments": (_UNTOLD,)})
            _LOG.warning("Fault at submission %s on %s: %s", claim.ulid, printable(claim.task), reason)
        if verdict.outcome is Outcome.INFRA_FAULT:
            self.meters.fault()
            if claim.faults < _MOST_FAULTS and claim.claims <= _MOST_CLAIMS:
                self._write(lambda: self.queue.put_back(claim, fault=True, delay=0.5 * 4**claim.faults))
                return
        feedback = failure_feedback(public).replace("\0", "\ufffd").encode("utf-8", "replace").decode()
        with stage_span("record", verdict=named, whose=whose):
            written = self._write(lambda: self.queue.finish(claim, named, whose, feedback, public.model_dump_json()))
        if written:
            seconds = time.monotonic() - began
            self.meters.judged(named, seconds)
            self.on_verdict(claim.ulid)
            log_event(
                "verdict", submission=claim.ulid, task=claim.task, verdict=named, whose=whose, claims=claim.claims,
                waited=round(claim.waited, 3), seconds=round(seconds, 3),
            )  # fmt: skip

    def _judge(self, claim: Claim, cancel: threading.Event) -> Verdict | None:
        """The engine's verdict; None for what is left to others, or to the next start."""
        try:
            folder = self.engine.task(claim.task)
        except BadInput:
            return None
        if claim.task_digest not in {None, folder.digest}:
            message = "Submission %s is for another version of the task %s than is served here; it is left to others."
            _LOG.warning(message, claim.ulid, printable(claim.task))
            return None
        self.engine.ledger.remember({folder.digest: claim.answers})
        if claim.claims > _MOST_CLAIMS:
            return fault(folder, InfraFault(f"The server ended {_MOST_CLAIMS} times while this was being judged."))
        try:
            return self.engine.grade(claim.task, claim.patch, cancel).verdict
        except Interrupted as error:
            self.lost = self.lost or error.message
            self.drain()
            return None
        except Exception as error:  # noqa: BLE001 - a bug of ours must not lose what was accepted
            _LOG.exception("Submission %s on %s", claim.ulid, printable(claim.task))
            return fault(folder, InfraFault(f"The grader failed: {type(error).__name__}."))

    def _write(self, write: Callable[[], bool | None]) -> bool:
        """Write until the database takes it; a verdict that is never taken is made again after the lease."""
        while True:
            try:
                return write() is not False
            except Unavailable as error:
                _LOG.warning("%s", error)
                if self._stopping.wait(_LOOK):
                    return False

    def _keep(self) -> None:
        """Renew our leases, put back what others let lapse, and have the express place given up to who has none."""
        due = time.monotonic() + self.settings.lease / 4
        tidied = -math.inf
        while not self._ended.wait(min(_LOOK, self.settings.lease / 4)):
            try:
                if time.monotonic() >= due:
                    due = time.monotonic() + self.settings.lease / 4
                    self.queue.renew(self.owner, self.settings.lease)
                    self.queue.servers.renew(self.owner, self.settings.lease, len(self._places))
                    if not self.queue.database.sole_owner and (found := self.queue.recover()):
                        _LOG.info("%d submissions of another server are put back.", found)
                        self.wake()
                self._fill_places()
                self._share_express()
                if self.settings.keep is not None and time.monotonic() >= tidied + _TIDY:
                    tidied = time.monotonic()
                    self._delete_old(self.settings.keep)
            except Unavailable as error:
                _LOG.warning("%s", error)

    def _delete_old(self, seconds: float) -> None:
        """Delete what was kept for long enough, a few at a time, so that others are not kept waiting."""
        deleted = 0
        while not self._ended.is_set() and (count := self.queue.delete_old(seconds)):
            deleted += count
            self.queue.renew(self.owner, self.settings.lease)
            self.queue.servers.renew(self.owner, self.settings.lease, len(self._places))
        if deleted:
            self.queue.database.compact()
            _LOG.info("%d submissions whose verdicts were old enough are deleted.", deleted)

    def _share_express(self) -> None:
        """Give up what holds the express place for long, when somebody who has nothing under way waits for it."""
        for place in self._places[:1]:
            if place.express and place.held() > self.settings.express and self.queue.queues_up():
                place.cancel.set()
                self.meters.given_up()
