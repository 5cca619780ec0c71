"""Traces of tasks' bases: each recorded once, kept beside the proofs, and asked about every patch."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import InfraFault
from repoassay.grading.base_trace.sandbox import TraceSandbox
from repoassay.grading.base_trace.trace import BaseTrace, PathSet, failed_by_tests, outcomes_of, strip_unseen
from repoassay.grading.oracle.oracle import Oracle
from repoassay.grading.oracle.reference import Reference
from repoassay.grading.test_run import HiddenTestExamination, HiddenTestSubject, examine
from repoassay.sandbox import Cache
from repoassay.tasks import read_regular

__all__ = ["BaseTraces"]

_TaskHere = tuple[str, Path, Path]
"""A task's digest, its base and its environment."""
_KIND = "traces"
_TRACED = 2
_MOST_KEPT, _MOST_PATHS = 64 * 2**20, 200_000
_MACHINES = ("x86_64", "aarch64")


class BaseTraces:
    """Hands out traces; safe for threads.

    Args:
        cache: Where they are kept.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._known: dict[_TaskHere, BaseTrace] = {}
        self._keys: dict[_TaskHere, str] = {}
        self._making: dict[_TaskHere, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def recorded(self) -> dict[str, BaseTrace]:
        """Those in use, by the digest of the task."""
        return {digest: trace for (digest, _, _), trace in self._known.items()}

    def known(self, subject: HiddenTestSubject, reference: Reference | None) -> BaseTrace | None:
        """The trace of a subject's task where there is one already.

        Raises:
            InfraFault: It cannot be read.
        """
        here = _task_here(subject)
        if here not in self._known and (self._cache.path / _KIND / self._key(subject, reference)).exists():
            self._known[here] = self._cached(subject, reference, None)
        return self._known.get(here)

    def of(self, subject: HiddenTestSubject, reference: Reference | None, oracle: Oracle | None) -> BaseTrace:
        """The trace of a subject's task, recorded when it is not in the cache.

        Python's own tests in a prefork server's forks are traced; of others there is none that anything rests on.
        """
        folder, here = subject.folder, _task_here(subject)
        tests = folder.task.grading.tests
        if tests is None or tests.runner != "pytest" or folder.task.state or subject.pool is None:
            return BaseTrace(unusable="such tests are not traced")
        with self._lock:
            making = self._making.setdefault(here, threading.Lock())
        with making:
            if here not in self._known:
                try:
                    self._known[here] = self._cached(subject, reference, oracle)
                except InfraFault as fault:
                    if subject.cancel is not None and subject.cancel.is_set():
                        return BaseTrace(unusable="the recording was given up")
                    self._known[here] = BaseTrace(unusable=str(fault))  # and runs will say what is wrong here
        return self._known[here]

    def _key(self, subject: HiddenTestSubject, reference: Reference | None) -> str:
        here = _task_here(subject)
        if here not in self._keys:
            tests = subject.folder.task.grading.tests
            limit = "" if tests is None else f"{tests.seconds}"
            yielded = reference.model_dump_json() if reference else ""
            folder, base, environment = subject.folder, subject.base, subject.environment
            parts = (_programs(), limit, folder.digest, environment.name, base.name, yielded)
            identity = "\0".join(parts)
            self._keys[here] = hashlib.sha256(identity.encode()).hexdigest()[:32]
        return self._keys[here]

    def _cached(self, subject: HiddenTestSubject, reference: Reference | None, oracle: Oracle | None) -> BaseTrace:
        def build(part: Path) -> None:
            began = time.monotonic()
            trace = _recorded(replace(subject, edits={}), reference, oracle)
            if subject.cancel is not None and subject.cancel.is_set():
                raise InfraFault("The recording was given up.")
            trace = trace.model_copy(update={"seconds": round(time.monotonic() - began, 2)})
            (part / "trace.json").write_text(trace.model_dump_json(), encoding="utf-8")

        entry = self._cache.entry(_KIND, self._key(subject, reference), build)
        try:
            return BaseTrace.model_validate_json(read_regular(entry / "trace.json", _MOST_KEPT))
        except (OSError, ValidationError) as error:
            raise InfraFault(
                f"The trace of {subject.folder.task.id} cannot be read.", f"Remove {entry} to record it again."
            ) from error


def _task_here(subject: HiddenTestSubject) -> _TaskHere:
    return subject.folder.digest, subject.base, subject.environment


def _recorded(subject: HiddenTestSubject, reference: Reference | None, oracle: Oracle | None) -> BaseTrace:
    if os.uname().machine not in _MACHINES:
        return BaseTrace(unusable="system calls of this machine are not known")
    first = examine(subject, reference, oracle)
    if not failed_by_tests(first):
        return BaseTrace(unusable="the tests do not simply fail on the base")
    tracer = TraceSandbox(subject.sandbox)
    looked: set[str] = set()
    listed: set[str] = set()
    for _ in range(_TRACED):
        if why := _other(first, examine(replace(subject, sandbox=tracer, pool=None), reference, oracle)):
            return BaseTrace(unusable=f"when they are traced, {why}")
        if tracer.notes.unread:
            return BaseTrace(unusable=tracer.notes.unread)
        looked |= set(tracer.notes.looked)
        listed |= set(tracer.notes.listed)
    if len(looked) + len(listed) > _MOST_PATHS:
        return BaseTrace(unusable="the tests look at too many paths")
    absent = {path for path in looked if not os.path.lexists(subject.base / path)}
    last = examine(
        replace(subject, edits=strip_unseen(subject.base, PathSet(looked, listed, absent))), reference, oracle
    )
    if why := _other(first, last):
        return BaseTrace(unusable=f"without what they did not look at, {why}")
    return BaseTrace(
        looked=tuple(sorted(looked - absent)), absent=tuple(sorted(absent)), listed=tuple(sorted(listed)),
        tests=tuple(first.tests), wall=max(first.ran.exit.wall, last.ran.exit.wall),
    )  # fmt: skip


def _other(first: HiddenTestExamination, again: HiddenTestExamination) -> str:
    """Whether a run came to something else than the first; the test that shows it, in words."""
    if not failed_by_tests(again):
        return "the tests do not simply fail"
    was, came = outcomes_of(first), outcomes_of(again)
    return next((f"{name} came to {came.get(name)}" for name in (*was, *came) if was.get(name) != came.get(name)), "")


def _programs() -> str:
    here = Path(__file__).parent
    parts = [path.read_bytes() for folder in ("base_trace", "hidden_tests")
             for path in sorted((here.parent / folder).glob("*.py"))]  # fmt: skip
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
