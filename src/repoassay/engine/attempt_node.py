"""Making attempts on a node of a cluster, each with a model proxy of its own, in a folder that is sent back."""

from __future__ import annotations

import platform
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from repoassay.agents import Agent
from repoassay.engine.attempt import AttemptContext, AttemptResult, work
from repoassay.engine.attempt_cluster import AttemptAnswer, AttemptJob, AttemptSettings
from repoassay.engine.execution import agents_of, prepare
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.model_access import ModelAccess
from repoassay.engine.models import check_models
from repoassay.engine.starts import Starts
from repoassay.engine.task_parcels import ShippedTasks
from repoassay.errors import BadInput
from repoassay.executors import NodePlace, pack_files
from repoassay.sandbox import open_sandbox, temporary_folder
from repoassay.types import Plan, Record

__all__ = ["AttemptNode"]


class AttemptNode:
    """Makes attempts on one node. See `NodeWork`.

    Raises:
        NoIsolation: The node has no such sandbox.
        BadInput: What an agent or a model is made of is not here as it was planned.
    """

    job_type: type[Record] = AttemptJob

    def __init__(self, data: Mapping[str, Any], place: NodePlace) -> None:
        self._plan: Plan = AttemptSettings.model_validate(data).plan
        self._cache = place.cache
        self._sandbox = open_sandbox(self._plan.isolation, place.cache)
        try:
            self._agents: dict[str, Agent] = agents_of(self._plan)
            check_models(self._plan)
        except BadInput as error:
            raise BadInput(
                f"On the node {platform.node()}: {error.message}",
                "Keep files of agents, models and prices where every machine of the cluster sees them by one path.",
            ) from error
        self._bench = GradingContext(None, place.cache, self._sandbox, self._plan.timeout, self._plan.reading)
        self._starts = Starts(self._plan, self._agents, place.cache, self._sandbox)
        self._tasks = ShippedTasks(place.cache)
        self._installing = threading.Lock()
        self._installed: set[str] = set()

    def do(self, record: AttemptJob, cancel: threading.Event) -> AttemptAnswer:
        """See `NodeWork.do`."""
        with self._installing:
            if record.agent not in self._installed:
                prepare([self._agents[record.agent]], self._cache, self._sandbox)
                self._installed.add(record.agent)
        if record.started:
            self._starts.saw(record.agent)
        with temporary_folder("attempt") as folder:
            into = Path(folder, "attempts", record.attempt)
            into.mkdir(parents=True)
            result = self._run_attempt(record, into, cancel)
            return AttemptAnswer(
                submission=result.submission, verdict=result.verdict, started=result.started, ended=result.ended,
                dropped=result.dropped, spent=result.spent, over_run=result.over_run,
                excuse=result.excuse and result.excuse.why, proven=bool(result.excuse and result.excuse.proven),
                started_well=result.started_well, files=pack_files(into),
            )  # fmt: skip

    def _run_attempt(self, record: AttemptJob, into: Path, cancel: threading.Event) -> AttemptResult:
        settings = self._plan.agents[record.agent]
        share = record.share_usd
        if share is not None and settings.budget_usd is not None and share >= settings.budget_usd:
            share = None  # the attempt's own limit is the nearer one, and it is that which ends it
        metering = self._plan.metering.model_copy(update={"budget_usd": share})
        plan = self._plan.model_copy(update={"metering": metering, "agents": {record.agent: settings}})
        with ModelAccess(plan, into.parent.parent) as meter:
            entry = AttemptContext(
                record.attempt, settings, meter, plan.graded, agent=record.agent, starts=self._starts
            )
            result = work(self._tasks[record.parcel], self._agents[record.agent], self._bench, into, cancel, entry)
        if result.started_well:
            self._starts.saw(record.agent)
        return result if result.dropped == cancel.is_set() else replace(result, dropped=True)

    def close(self) -> None:
        """See `NodeWork.close`."""
        self._bench.oracle.close()
