"""The oracle of a bench: references of its tasks, each recorded once, and the judge that compares with them."""

from __future__ import annotations

import functools
import threading
import time
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.grading.in_place.proof import TaskProof, proof_of
from repoassay.grading.oracle.judge import OracleJudge
from repoassay.grading.oracle.language import JavaScript, Language, Python
from repoassay.grading.oracle.recording import reference_of
from repoassay.grading.oracle.reference import Reference
from repoassay.sandbox import Cache, Sandbox, can_attest, can_judge, capabilities_of
from repoassay.tasks import TaskFolder
from repoassay.types import IsolationGrade

__all__ = ["Oracle"]

_UNATTESTED = "its sandbox is of a grade in which no pass is attested"
_AGAIN = 1800.0
"""Seconds after which a task that could not be proven is tried again: it may have been the machine that failed."""
_LEAST_SECONDS, _TIMES_PROOF = 60.0, 10.0
"""A run in place may take so long while it is recorded, or so many times what the slowest run of the proof took."""


class Oracle:
    """Hands out references; safe for threads; to be closed when done.

    Args:
        cache: Where references are kept.
        sandbox: Where they are recorded.
    """

    def __init__(self, cache: Cache, sandbox: Sandbox) -> None:
        self._cache, self._sandbox = cache, sandbox
        self._judge = OracleJudge(cache)
        self._python, self._javascript = Python(self._judge), JavaScript(sandbox)
        self._javascript_in_place = JavaScript(sandbox, in_place=True)
        self._known: dict[tuple[str, Path, Path], Reference | None] = {}
        self._proofs: dict[tuple[str, Path, Path], TaskProof] = {}
        self._faults: dict[tuple[str, Path, Path], tuple[float, InfraFault]] = {}
        self._lock = threading.Lock()

    def reference(self, folder: TaskFolder, base: Path, environment: Path) -> Reference | None:
        """The reference of a task; None for one that has no solution, or without isolation.

        Raises:
            InfraFault: When its solution does not pass here, so that nobody can be judged.
        """
        tests = folder.task.grading.tests
        if tests is None or tests.runner == "script" or not (folder.solution / "changes.diff").is_file():
            return None
        if not self._attests and not (tests.runner == "repository" and self._compares):
            return None  # without isolation nothing is assured anyway
        key = (folder.digest, base, environment)
        if key not in self._known:
            found = self._recorded(folder, base, environment)
            found = found if self._attests else found.unattested(_UNATTESTED)
            with self._lock:
                self._known[key] = found
        return self._known[key]

    @functools.cached_property
    def _attests(self) -> bool:
        return can_attest(self._sandbox, self._cache)

    @functools.cached_property
    def _compares(self) -> bool:
        """Whether values are compared although no pass is attested: forgers are found all the same."""
        return capabilities_of(self._sandbox).grade is IsolationGrade.CONTAINER and can_judge(self._cache)

    def _recorded(self, folder: TaskFolder, base: Path, environment: Path) -> Reference:
        tests = folder.task.hidden_tests
        seconds = None
        if tests.runner == "repository":
            seconds = max(_LEAST_SECONDS, _TIMES_PROOF * self.proof(folder, base, environment).seconds)
        return reference_of(
            folder, base, environment, self._sandbox, self._cache, self.language(folder), seconds=seconds
        )

    def keep_proof(self, folder: TaskFolder, base: Path, environment: Path, proof: TaskProof) -> None:
        """Take a proof that was just made here as the task's, as long as this program runs."""
        self._proofs[folder.digest, base, environment] = proof

    def proof(
        self, folder: TaskFolder, base: Path, environment: Path, cancel: threading.Event | None = None
    ) -> TaskProof:
        """The proof of a task whose tests run in place.

        Raises:
            InfraFault: When it is unproven here, so that nobody can be judged, or `cancel` was set.
        """
        key = (folder.digest, base, environment)
        if key in self._proofs:
            return self._proofs[key]
        at, fault = self._faults.get(key, (-_AGAIN, None))
        if fault is not None and time.monotonic() - at < _AGAIN:
            raise fault
        try:
            self._proofs[key] = proof_of(folder, base, environment, self._sandbox, self._cache, cancel)
        except InfraFault as error:
            if cancel is None or not cancel.is_set():  # else it says nothing of the task
                self._faults[key] = (time.monotonic(), error)
            raise
        return self._proofs[key]

    def language(self, folder: TaskFolder) -> Language:
        """What a task's tests are written in."""
        tests = folder.task.grading.tests
        if tests is not None and tests.in_javascript:
            return self._javascript_in_place
        return self._javascript if tests is not None and tests.runner == "node" else self._python

    def close(self) -> None:
        """End the judge."""
        self._judge.close()
