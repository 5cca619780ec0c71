"""Trying commits on a node of a cluster, each for a suite of its own that is sent back."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repoassay.construct.history import History
from repoassay.construct.mining.cluster import HISTORIES, MinedAnswer, MiningJob, MiningSettings, used_cpu
from repoassay.construct.mining.journal import CommitStatus
from repoassay.construct.mining.request import MiningRequest
from repoassay.construct.mining.suite import begin_suite
from repoassay.construct.mining.trials import LocalTrials, MinedRepository
from repoassay.engine import GradingContext
from repoassay.errors import Interrupted
from repoassay.executors import NodePlace, pack_files
from repoassay.sandbox import open_sandbox, temporary_folder
from repoassay.types import Record

__all__ = ["MiningNode"]


class MiningNode:
    """Tries commits on one node. See `NodeWork`.

    Raises:
        NoIsolation: The node has no such sandbox.
    """

    job_type: type[Record] = MiningJob

    def __init__(self, data: Mapping[str, Any], place: NodePlace) -> None:
        settings = MiningSettings.model_validate(data)
        self._request = MiningRequest(
            kinds=settings.kinds,
            rules=settings.rules,
            issues=settings.issues,
            proofs=settings.proofs,
            most_seconds=settings.most_seconds,
        )
        self._cache = place.cache
        self._bench = GradingContext(None, place.cache, open_sandbox(settings.isolation, place.cache))
        self._told = used_cpu()
        self._lock = threading.Lock()

    def do(self, record: MiningJob, cancel: threading.Event) -> MinedAnswer:
        """See `NodeWork.do`."""
        history = History(self._cache.path / HISTORIES / record.history, record.url)
        opened = MinedRepository(history, record.name, record.url, record.local, record.bundled)
        with temporary_folder("mining") as folder:
            suite = Path(folder, "suite")
            begin_suite(suite)
            trials = LocalTrials(
                suite, self._bench.ending_with(cancel), self._request, cancel, lambda name, facts, tests: None
            )
            row = trials.row(opened, record.facts)
            if row is None:
                raise Interrupted("The commit was given up.")
            files = pack_files(suite / "tasks" / row.task) if row.status is CommitStatus.TASK else b""
        return MinedAnswer(row=row, files=files, cpu_seconds=self._used())

    def _used(self) -> float:
        """CPU seconds since this was last asked."""
        with self._lock:
            before, self._told = self._told, used_cpu()
            return max(0.0, self._told - before)

    def close(self) -> None:
        """See `NodeWork.close`."""
        self._bench.oracle.close()
