"""Grading outputs on a node of a cluster."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.output_cluster import GradedOutput, OutputJob, OutputSettings
from repoassay.engine.staged_output import StagedOutput, grade_output
from repoassay.engine.task_parcels import ShippedTasks
from repoassay.executors import NodePlace, unpack_files
from repoassay.sandbox import open_sandbox, temporary_folder
from repoassay.types import Record

__all__ = ["OutputNode"]


class OutputNode:
    """Grades outputs on one node. See `NodeWork`.

    Raises:
        NoIsolation: The node has no such sandbox.
    """

    job_type: type[Record] = OutputJob

    def __init__(self, data: Mapping[str, Any], place: NodePlace) -> None:
        settings = OutputSettings.model_validate(data)
        sandbox = open_sandbox(settings.isolation, place.cache)
        self._bench = GradingContext(None, place.cache, sandbox, reading=settings.reading)
        self._tasks = ShippedTasks(place.cache)

    def do(self, record: OutputJob, cancel: threading.Event) -> GradedOutput:
        """See `NodeWork.do`."""
        folder = self._tasks[record.parcel]
        with temporary_folder("output") as place:
            files = Path(place, "files")
            files.mkdir()
            unpack_files(record.files, files)
            return GradedOutput(
                verdict=grade_output(StagedOutput(folder, files, record.submission), self._bench, cancel)
            )

    def close(self) -> None:
        """See `NodeWork.close`."""
        self._bench.oracle.close()
