"""Having commits tried by the nodes of a cluster: what a node is given and answers, and the caller's side of it.

A node proves; the caller decides what is a duplicate, lays out the base tree, and is the only one to write the suite.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field

from repoassay.construct.mining.journal import CommitStatus, MinedCommit
from repoassay.construct.mining.request import MiningRequest
from repoassay.construct.mining.rules import CommitFacts, MiningRules
from repoassay.construct.mining.trials import LocalTrials, MinedRepository, trial_refusal
from repoassay.construct.placement import bundle_base, part_folder, place_task
from repoassay.construct.task_request import MOST_SECONDS
from repoassay.errors import BadInput, BadTask, InfraFault, Interrupted, Unavailable
from repoassay.executors import (
    CacheParcel,
    Cluster,
    NodeJob,
    NodeSetup,
    find_executor,
    pack_tree,
    submit_again,
    unpack_files,
)
from repoassay.tasks import read_task
from repoassay.text import printable
from repoassay.types import Record
from repoassay.workspace import run_git

__all__ = [
    "HISTORIES",
    "ClusterTrials",
    "MinedAnswer",
    "MiningJob",
    "MiningSettings",
    "check_nodes",
    "open_trials",
    "used_cpu",
]  # fmt: skip

HISTORIES = "histories"
"""Kind of cache entry under which nodes keep repositories that are mined."""
_WORK = "repoassay.construct.mining.mining_node:MiningNode"
_MOST_HISTORY = 2 * 2**30
"""Bytes of the largest history that is sent."""


class MiningSettings(Record):
    """How nodes try commits; see `MiningRequest`."""

    isolation: str
    kinds: tuple[str, ...]
    rules: MiningRules
    issues: Mapping[int, str]
    proofs: int
    most_seconds: float = MOST_SECONDS


class MiningJob(Record):
    """A commit to be tried; `history` is the key of its repository's parcel, the rest as in `MinedRepository`."""

    history: str
    name: str
    url: str
    local: bool
    bundled: bool
    facts: CommitFacts


class MinedAnswer(Record):
    """What became of a commit, the files of its task as `pack_files` makes them, and CPU seconds.

    These are all that the node has used since its last answer, whatever for.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    row: MinedCommit
    files: bytes = b""
    cpu_seconds: Annotated[float, Field(ge=0, le=1e9)] = 0.0


def used_cpu() -> float:
    """CPU seconds of this process, and of those it started that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def check_nodes(executor: str, request: MiningRequest) -> None:
    """Look at everything about an executor that can be known before anything is written.

    Raises:
        BadInput: There is no such executor, or its nodes cannot do what is asked for.
    """
    if executor == "local":
        return
    find_executor(executor)
    for option, value in (("--rewrite", request.rewrite), ("--mirror", request.mirrors)):
        if value:
            raise BadInput(
                f"Nodes cannot mine with {option}, whose models or files only this machine has.",
                f"Leave {option} out, or --executor.",
            )


@contextlib.contextmanager
def open_trials(here: LocalTrials, executor: str, workers: int | None) -> Iterator[ClusterTrials]:
    """Let the nodes of an executor try what would be tried here.

    Raises:
        BadInput: There is no such executor.
        Unavailable: Its nodes cannot be had.
    """
    request = here.request
    settings = MiningSettings(
        isolation=here.bench.sandbox.name, kinds=request.kinds, rules=request.rules, issues=request.issues,
        proofs=request.proofs, most_seconds=request.most_seconds,
    )  # fmt: skip
    setup = NodeSetup(_WORK, settings.model_dump(mode="json"), MinedAnswer)
    cluster = find_executor(executor).open(setup, workers)
    try:
        yield ClusterTrials(cluster, here)
    finally:
        cluster.close()


class ClusterTrials:
    """Has commits tried by a cluster. See `CommitTrials`.

    Args:
        cluster: The nodes; not closed by this.
        here: What would try them on this machine; its suite is where tasks are placed.

    Attributes:
        cpu_seconds: What nodes have used so far.
    """

    def __init__(self, cluster: Cluster, here: LocalTrials) -> None:
        self._cluster, self._here = cluster, here
        self._parcels: dict[Path, CacheParcel] = {}
        self._lock = threading.Lock()
        self.cpu_seconds = 0.0

    def row(self, repository: MinedRepository, facts: CommitFacts) -> MinedCommit | None:
        """See `CommitTrials.row`.

        Raises:
            Unavailable: The cluster was lost.
        """
        began = time.monotonic()
        update: dict[str, object] = {}
        try:
            self._here.check()
            answer = self._answer(repository, facts)
            update = _own_words(answer.row, facts)
            if answer.row.status is CommitStatus.TASK:
                update |= self._place(repository, facts, answer)
        except Interrupted as error:
            if self._here.cancel.is_set():
                return None
            raise Unavailable(f"Nobody tries commits any more. {error.message}", "The same call goes on.") from error
        except Exception as error:  # noqa: BLE001 - one commit never stops the others, and its row says what it was
            if self._here.cancel.is_set():
                return None
            update |= trial_refusal(error)
        row = self._here.candidate(repository, facts).row(None, time.monotonic() - began)
        return row.model_copy(update=update)

    def _answer(self, repository: MinedRepository, facts: CommitFacts) -> MinedAnswer:
        parcel = self._parcel(repository)
        job = MiningJob(
            history=parcel.key, name=repository.name, url=repository.url, local=repository.local,
            bundled=repository.bundled, facts=facts,
        )  # fmt: skip
        future = submit_again(self._cluster, NodeJob(job, repository.name, (parcel,)), self._here.cancel)
        answer: MinedAnswer = future.result()
        with self._lock:
            self.cpu_seconds += answer.cpu_seconds
        return answer

    def _parcel(self, repository: MinedRepository) -> CacheParcel:
        """Our copy of a repository, named by its content."""
        place = repository.history.place
        with self._lock:
            if place not in self._parcels:
                if sum(path.lstat().st_size for path in place.rglob("*")) > _MOST_HISTORY:
                    raise InfraFault(f"The history of {repository.name} is too large to be sent to nodes.")
                refs = run_git(place, "for-each-ref", "--format=%(objectname) %(refname)")
                key = hashlib.sha256(refs).hexdigest()[:32]
                self._parcels[place] = CacheParcel(HISTORIES, key, partial(pack_tree, {".": place}))
            return self._parcels[place]

    def _place(self, repository: MinedRepository, facts: CommitFacts, answer: MinedAnswer) -> dict[str, object]:
        """Give a proven task its place beside the base tree, which is laid out here; returns what its row says.

        Raises:
            CandidateRefused: Another task has its tests.
            InfraFault: What was sent is no task of this commit.
        """
        here = self._here
        request, draft = here.draft(repository, here.candidate(repository, facts))
        with part_folder(here.suite) as part:
            bundled = bundle_base(draft, repository.history, part, here.suite) if request.bundle else None
            folder = part / draft.task.id
            folder.mkdir()
            unpack_files(answer.files, folder)
            try:
                found = read_task(folder, repositories=part / "repositories" if bundled else None).task
            except BadTask as error:
                raise InfraFault(
                    f"A node sent a task that is none: {printable(str(error.problems[0]), 300)}"
                ) from error
            if (found.id, found.repository) != (draft.task.id, draft.task.repository) or found.grading.tests is None:
                raise InfraFault("A node sent the task of another commit.")
            must_pass = tuple(found.grading.tests.fail_to_pass)
            here.claim(repository.name, facts, must_pass)
            place_task(folder, bundled, here.suite)
        return {"task": draft.task.id, "must_pass": must_pass}


def _own_words(row: MinedCommit, facts: CommitFacts) -> dict[str, object]:
    """What a node may say of a commit; the rest is known here.

    Raises:
        InfraFault: It speaks of another one, or of what no trial ends with.
    """
    ends = (CommitStatus.TASK, CommitStatus.REFUSED, CommitStatus.FAULT)
    if row.commit != facts.commit or row.status not in ends:
        raise InfraFault("A node answered for another commit.")
    texts = {name: tuple(printable(each, 400) for each in getattr(row, name)) for name in ("told", "passed", "notes")}
    return {
        "status": row.status, "cause": printable(row.cause, 100), "reason": printable(row.reason, 600),
        "kind": printable(row.kind, 40), "source": printable(row.source, 200), "difficulty": row.difficulty,
        "flaky": row.flaky, "must_pass": row.must_pass, "released": printable(row.released, 100), **texts,
    }  # fmt: skip
