"""Judging submissions on a node of a cluster."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submission_cluster import JudgedSubmission, SubmissionJob, SubmissionSettings
from repoassay.engine.submit import SubmissionEngine
from repoassay.engine.task_parcels import ShippedTasks
from repoassay.executors import NodePlace
from repoassay.sandbox import open_sandbox
from repoassay.types import Record

__all__ = ["SubmissionNode"]


class SubmissionNode:
    """Judges submissions on one node. See `NodeWork`.

    Raises:
        NoIsolation: The node has no such sandbox.
    """

    job_type: type[Record] = SubmissionJob

    def __init__(self, data: Mapping[str, Any], place: NodePlace) -> None:
        settings = SubmissionSettings.model_validate(data)
        bench = GradingContext(None, place.cache, open_sandbox(settings.isolation, place.cache), settings.timeout)
        self._tasks = ShippedTasks(place.cache)
        self._engine = SubmissionEngine(
            self._tasks, bench, place.workers, repeat=settings.repeat, lenient=settings.lenient, warm=settings.warm,
            limits=settings.limits, run_always=settings.run_always,
        )  # fmt: skip

    def do(self, record: SubmissionJob, cancel: threading.Event) -> JudgedSubmission:
        """See `NodeWork.do`."""
        key = record.parcel
        self._tasks[key]  # read, where it is new, so that the engine has it
        if record.patch is None:
            return JudgedSubmission(environment=self._engine.environment(key))
        return self._engine.judge(key, record.patch, cancel)

    def close(self) -> None:
        """See `NodeWork.close`."""
        self._engine.close()
