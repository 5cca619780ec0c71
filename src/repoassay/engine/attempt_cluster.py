"""Having attempts made by the nodes of a cluster: what a node is given and answers, and the caller's side of it.

A whole attempt is made on its node: workspace, agent, model proxy, verdict. The caller alone writes the run folder.
What comes back is looked at as what a stranger sends: files and folders alone, no name of the records that only the
caller writes, and a submission that is as it was said to be.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from pydantic import ConfigDict

from repoassay.agents import Agent
from repoassay.engine.attempt import AttemptResult
from repoassay.engine.attempt_maker import AttemptShare
from repoassay.engine.budget_shares import BudgetShares, lost_shares
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.model_access import AttemptAccess
from repoassay.engine.models import upstreams_of
from repoassay.engine.starts import Excuse, Starts
from repoassay.engine.submission_cluster import environment_digest, verify_task
from repoassay.engine.submitted_files import describe
from repoassay.engine.task_parcels import TaskParcels
from repoassay.errors import BadInput, InfraFault
from repoassay.executors import Cluster, NodeJob, NodeLost, NodeSetup, find_executor, unpack_files
from repoassay.model_proxy import Upstream, split_model
from repoassay.records import RunFolder, Slot
from repoassay.tasks import TaskFolder
from repoassay.types import Plan, Record, Spending, Submission, Verdict

__all__ = ["AttemptAnswer", "AttemptJob", "AttemptSettings", "ClusterAttempts", "check_executor", "open_attempts"]

_WORK = "repoassay.engine.attempt_node:AttemptNode"
_OURS = ("attempt.json", "verdict")
"""How names of files begin that nobody but the caller writes into the folder of an attempt."""


class AttemptSettings(Record):
    """How nodes make attempts: the plan, without its tasks, which come with the jobs."""

    plan: Plan


class AttemptJob(Record):
    """An attempt to be made.

    Attributes:
        parcel: The key of the task's parcel.
        agent: The agent's name in the plan.
        attempt: The attempt's id.
        started: Whether the agent is known to start.
        share_usd: Dollars it may spend of the run's budget; None where that is not limited.
    """

    parcel: str
    agent: str
    attempt: str
    started: bool = False
    share_usd: Decimal | None = None


class AttemptAnswer(Record):
    """An attempt that was made; the fields of `AttemptResult`, and its folder as `pack_files` makes it."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    submission: Submission
    verdict: Verdict
    started: datetime
    ended: datetime
    dropped: bool
    spent: Spending | None
    over_run: str
    excuse: str | None
    proven: bool
    started_well: bool
    files: bytes


def _setup_of(plan: Plan) -> NodeSetup:
    """The setup of nodes that make attempts; the keys of the plan's models go along as secrets.

    Raises:
        BadInput: A key is not set.
    """
    upstreams, secrets = upstreams_of(plan.metering), {}
    for entry in plan.agents.values():
        upstream = upstreams.get(split_model(entry.model)[0]) if entry.model else None
        if isinstance(upstream, Upstream) and upstream.key_env:
            secrets[upstream.key_env] = upstream.key()
    data = AttemptSettings(plan=plan.model_copy(update={"tasks": ()})).model_dump(mode="json")
    return NodeSetup(_WORK, data, AttemptAnswer, secrets)


def check_executor(executor: str, plan: Plan, own: Mapping[str, Agent] | None) -> None:
    """Look at everything about making attempts on an executor that can be known before a run is begun.

    Raises:
        BadInput: There is no such executor, an agent is an object of this program, or the run has a budget and an
            attempt has none.
    """
    if executor == "local":
        return
    find_executor(executor)
    if own:
        raise BadInput(
            f"{next(iter(own))} is an object of this program, which other machines do not have.",
            "Name an agent as package.module:name, or leave the executor out.",
        )
    BudgetShares(plan, plan.metering.budget_usd, Decimal(0))


def open_attempts(
    run: RunFolder, folders: Mapping[str, TaskFolder], bench: GradingContext, starts: Starts,
    budget_usd: Decimal | None, executor: str, workers: int | None, own: Mapping[str, Agent] | None,
    ends: contextlib.ExitStack,
) -> ClusterAttempts:  # fmt: skip
    """Let the nodes of an executor make the attempts of a run; they are let go of by `ends`.

    Raises:
        BadInput: There is no such executor, a key is not set, an attempt has no budget where the run has one, or an
            agent is an object of this program.
        Unavailable: Its nodes cannot be had.
    """
    plan = run.plan
    check_executor(executor, plan, own)
    budget = plan.metering.budget_usd if budget_usd is None else budget_usd
    shares = BudgetShares(plan, budget, lost_shares(run) if budget is not None else Decimal(0))
    cluster = find_executor(executor).open(_setup_of(plan), workers)
    ends.callback(cluster.close)
    return ClusterAttempts(cluster, folders, TaskParcels(bench.repositories, bench.cache), shares, starts)


class ClusterAttempts:
    """Attempts on a cluster whose nodes make attempts. See `AttemptMaker`.

    Args:
        cluster: The nodes; not closed by this.
        folders: The tasks by id.
        parcels: Makes their parcels.
        shares: The run's budget.
        starts: What is known of the agents' starts.
    """

    def __init__(
        self, cluster: Cluster, folders: Mapping[str, TaskFolder], parcels: TaskParcels, shares: BudgetShares,
        starts: Starts,
    ) -> None:  # fmt: skip
        self._cluster, self._folders, self._parcels, self._shares = cluster, folders, parcels, shares
        self.starts = starts

    @property
    def capacity(self) -> int:
        """Workers of all nodes that are ready."""
        return self._cluster.capacity

    def admit(self, slot: Slot, stopped: threading.Event) -> AttemptShare:
        """See `AttemptMaker.admit`."""
        return self._shares.admit(slot.agent, stopped)

    def make(
        self, slot: Slot, attempt: str, place: Path, share_usd: Decimal | None, cancel: threading.Event,
        on_account: Callable[[AttemptAccess], None],
    ) -> AttemptResult:  # fmt: skip
        """See `AttemptMaker.make`; `on_account` is not told, since the account is on the node."""
        spent: Spending | None = None
        try:
            folder = self._folders[slot.task]
            parcels = self._parcels.of(folder)
            job = AttemptJob(
                parcel=parcels[0].key, agent=slot.agent, attempt=attempt, started=self.starts.has_seen(slot.agent),
                share_usd=share_usd,
            )  # fmt: skip
            warmth = environment_digest(folder)
            answer: AttemptAnswer = self._cluster.submit(NodeJob(job, warmth, parcels), cancel).result()
            spent = answer.spent or Spending()
            if answer.dropped and not cancel.is_set():
                raise NodeLost("Its node gave it up unasked.")
            return _unpack_attempt(answer, folder, place)
        finally:
            self._shares.settle(share_usd, spent)


def _unpack_attempt(answer: AttemptAnswer, folder: TaskFolder, place: Path) -> AttemptResult:
    """Write an attempt's files into its folder, which is empty, once they are what was said of them.

    Raises:
        InfraFault: They are not, or the verdict is on another task; nothing is left of them.
    """
    try:
        unpack_files(answer.files, place)
        _check(answer, folder, place)
    except BaseException:
        for item in place.iterdir():
            shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
        raise
    return AttemptResult(
        submission=answer.submission, verdict=answer.verdict, started=answer.started, ended=answer.ended,
        dropped=answer.dropped, spent=answer.spent, over_run=answer.over_run,
        excuse=None if answer.excuse is None else Excuse(answer.excuse, answer.proven),
        started_well=answer.started_well,
    )  # fmt: skip


def _check(answer: AttemptAnswer, folder: TaskFolder, place: Path) -> None:
    strange = [name for name in os.listdir(place) if name.startswith((".", *_OURS))]  # noqa: PTH208 - names alone
    if strange:
        raise InfraFault(f"A node sent {strange[0]!r} among the files of an attempt.")
    if describe(place / "submission") != answer.submission.files:
        raise InfraFault("A node sent another submission than it said it judged.")
    verify_task(answer.verdict, folder)
