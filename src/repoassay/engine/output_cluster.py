"""Having outputs graded by the nodes of a cluster: what a node is given and answers, and the caller's side of it."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future

from pydantic import ConfigDict

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.staged_output import StagedOutput
from repoassay.engine.submission_cluster import environment_digest, verify_task
from repoassay.engine.task_parcels import TaskParcels
from repoassay.errors import InfraFault, Unavailable
from repoassay.executors import NodeJob, NodeSetup, answers_in_order, find_executor, pack_files, submit_again
from repoassay.grading import fault, name_isolation
from repoassay.types import Reading, Record, Submission, Verdict

__all__ = ["GradedOutput", "OutputJob", "OutputSettings", "grade_on_cluster"]

_WORK = "repoassay.engine.output_node:OutputNode"


class OutputJob(Record):
    """An output to be graded; `parcel` is the key of its task's parcel, `files` are as `pack_files` makes them."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    parcel: str
    submission: Submission
    files: bytes


class GradedOutput(Record):
    """The verdict on an output."""

    verdict: Verdict


class OutputSettings(Record):
    """How nodes grade outputs; see `GradingContext`."""

    isolation: str
    reading: Reading


def grade_on_cluster(
    outputs: Iterable[StagedOutput], bench: GradingContext, executor: str, workers: int | None
) -> Iterator[Verdict]:
    """Yield the verdicts that an executor's nodes reach, in order; what a lost node had is given to another.

    Outputs are taken as there is room for them on the nodes, and their folders removed when they are on their way.

    Raises:
        BadInput: There is no such executor, or a node cannot be told how to grade.
        Unavailable: Its nodes cannot be had.
        Interrupted: The cluster was lost.
    """
    settings = OutputSettings(isolation=bench.sandbox.name, reading=bench.reading)
    setup = NodeSetup(_WORK, settings.model_dump(mode="json"), GradedOutput)
    parcels, cancel = TaskParcels(bench.repositories, bench.cache), threading.Event()
    cluster = find_executor(executor).open(setup, workers)

    def give(output: StagedOutput) -> Future[GradedOutput]:
        folder = output.folder
        try:
            sent = parcels.of(folder)
            job = OutputJob(parcel=sent[0].key, submission=output.submission, files=pack_files(output.files))
            shutil.rmtree(output.files)
        except (InfraFault, Unavailable) as error:
            refused: Future[GradedOutput] = Future()
            refused.set_exception(error)
            return refused
        return submit_again(cluster, NodeJob(job, environment_digest(folder), sent), cancel)

    try:
        futures = ((output, give(output)) for output in outputs)
        with contextlib.closing(answers_in_order(futures, lambda: 2 * cluster.capacity)) as answers:
            for output, answer in answers:
                yield _verdict_from(output, answer, bench)
    finally:
        cancel.set()
        cluster.close()


def _verdict_from(output: StagedOutput, answer: Future[GradedOutput], bench: GradingContext) -> Verdict:
    """The verdict, once it is one on this task; else a fault of ours."""
    try:
        verdict = answer.result().verdict
        verify_task(verdict, output.folder)
    except (InfraFault, Unavailable) as error:
        verdict = fault(output.folder, error, bench.reading)
    return name_isolation(verdict, bench.sandbox)
