"""Grading a deliverable: files looked at from outside, then criteria measured in a sandbox of their own."""

from __future__ import annotations

import json
import os
import stat
import sys
import sysconfig
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import repoassay
from repoassay.errors import InfraFault
from repoassay.grading.registry import get, names
from repoassay.model import Criterion, CriterionResult, Ended, Limits, Outcome, Verdict
from repoassay.tasks import TaskFolder
from repoassay.workspace import Command, Completed, Mount, Sandbox

__all__ = ["grade_deliverable"]

_PACKAGE = Path(repoassay.__file__).resolve().parent
_LIMITS = Limits(seconds=120, memory=2 * 2**30, disk=256 * 2**20, processes=64, output=2**20)
_START = "import sys; sys.path[:0] = sys.argv[1:]; from repoassay.grading.measure import main; main()"


def grade_deliverable(
    folder: TaskFolder,
    outputs: Path,
    sandbox: Sandbox,
    *,
    limits: Limits = _LIMITS,
    cancel: threading.Event | None = None,
) -> Verdict:
    """Return the verdict on the files in `outputs`.

    Args:
        folder: The task.
        outputs: What was submitted; hostile, and opened only inside the sandbox.
        sandbox: Where metrics run.
        limits: What opening and measuring all files may take together.
        cancel: Set to give up early.

    Raises:
        InfraFault: When a metric, a package or the ground truth fails; never for what a file holds.
    """
    started = time.monotonic()

    def verdict(
        outcome: Outcome, comments: Sequence[str], criteria: Sequence[CriterionResult] = (), *, process: bool = False
    ) -> Verdict:
        return Verdict(
            task=folder.task.id,
            task_digest=folder.digest,
            outcome=outcome,
            process=process,
            result=outcome is Outcome.PASSED,
            criteria=tuple(criteria),
            comments=tuple(comments),
            grader=f"repoassay/{repoassay.__version__}",
            graded_at=datetime.now(UTC),
            seconds=round(time.monotonic() - started, 3),
        )

    unusable = [reason for name in folder.task.outputs.files if (reason := _unusable(folder, outputs, name))]
    if unusable:
        return verdict(Outcome.NO_OUTPUT, unusable)
    criteria, unreadable = _measure(folder, outputs, sandbox, limits, cancel)
    comments = [_sentence(item) for item in criteria if not item.passed]
    if unreadable or not all(item.passed for item in criteria if item.stage == "process"):
        return verdict(Outcome.NO_OUTPUT, comments, criteria)
    passed = all(item.passed for item in criteria)
    return verdict(Outcome.PASSED if passed else Outcome.FAILED, comments, criteria, process=True)


def _unusable(folder: TaskFolder, outputs: Path, name: str) -> str:
    """Why an expected file cannot be opened at all; nothing is followed and nothing is read."""
    place = outputs
    try:
        for part in Path(name).parts:
            place = place / part
            status = place.lstat()
            if stat.S_ISLNK(status.st_mode):
                return f"{name}: a symbolic link is no output."
    except OSError:
        return f"{name}: missing."
    if not stat.S_ISREG(status.st_mode):
        return f"{name}: not a regular file."
    if status.st_size == 0:
        return f"{name}: empty."
    if status.st_size > folder.task.outputs.max_bytes:
        return f"{name}: {status.st_size} bytes are more than the {folder.task.outputs.max_bytes} allowed."
    return ""


def _measure(
    folder: TaskFolder, outputs: Path, sandbox: Sandbox, limits: Limits, cancel: threading.Event | None
) -> tuple[list[CriterionResult], bool]:
    """Every criterion as measured, and whether an output turned out to be unreadable."""
    grading = folder.task.grading
    staged = [("process", item) for item in grading.process] + [("result", item) for item in grading.result]
    done = sandbox.run(_command(folder, outputs, [item for _, item in staged], limits), cancel)
    ready, begun, lines = _lines(done)
    if not ready:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        raise InfraFault(f"The metrics of {folder.task.id} could not be started: {said}")
    results = []
    unreadable = False
    for index, (stage, criterion) in enumerate(staged):
        told = lines.get(index)
        if told is None:
            told = {
                "status": "unreadable",
                "value": None,
                "comment": _struck(done) if index <= begun else "not reached",
            }
        if told["status"] in ("fault", "missing_package"):
            raise InfraFault(f"{folder.task.id}: {criterion.metric} of {criterion.of} failed: {told['comment']}")
        unreadable |= told["status"] == "unreadable"
        results.append(_result(stage, criterion, told))
    return results, unreadable


def _command(folder: TaskFolder, outputs: Path, criteria: Sequence[Criterion], limits: Limits) -> Command:
    job = {
        "outputs": "/outputs",
        "inputs": "/inputs",
        "truth": "/truth",
        "criteria": [item.model_dump(include={"metric", "of", "against", "options"}) for item in criteria],
    }
    # The interpreter itself, not a link of our environment to it, which may lead through folders nobody sees there.
    libraries = list(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))
    mounts = [Mount(outputs, "/outputs"), *(Mount(Path(path), path) for path in [*libraries, str(_PACKAGE)])]
    mounts += [Mount(path, to) for path, to in ((folder.inputs, "/inputs"), (folder.tests, "/truth")) if path.is_dir()]
    return Command(
        argv=(os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", _START, str(_PACKAGE.parent), *libraries),
        # One thread a measurement: workers run side by side.
        env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        stdin=json.dumps(job).encode(),
        mounts=tuple(mounts),
        limits=limits,
        channel=True,
    )


def _lines(done: Completed) -> tuple[bool, int, dict[int, dict[str, object]]]:
    ready, begun, lines = False, -1, {}
    for line in done.channel.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        ready |= "ready" in told
        if "begin" in told:
            begun = int(told["begin"])
        if "index" in told:
            lines[int(told["index"])] = told
    return ready, begun, lines


def _struck(done: Completed) -> str:
    """What ended the worker while it was at a file."""
    if done.exit.ended is Ended.TIMED_OUT:
        return "opening it takes more time than is allowed"
    if done.exit.ended is Ended.OUT_OF_MEMORY or done.exit.signal == 9:
        return "opening it takes more memory than is allowed"
    return f"the program that opens it crashed ({done.exit.ended.value}, {done.exit.code or done.exit.signal})"


def _result(stage: str, criterion: Criterion, told: dict[str, object]) -> CriterionResult:
    value = told["value"]
    assert value is None or isinstance(value, float)
    return CriterionResult(
        stage=stage,
        metric=criterion.metric,
        of=criterion.of,
        against=criterion.against,
        value=value,
        threshold=criterion.threshold,
        passed=value is not None and criterion.holds(value),
        unit=get(criterion.metric).unit if criterion.metric in names() else "",
        comment=str(told["comment"]),
    )


def _sentence(item: CriterionResult) -> str:
    note = f" ({item.comment})" if item.comment else ""
    if item.value is None:
        return f"{item.of}: {item.metric} could not be measured: {item.comment or 'no value'}."
    return f"{item.of}: {item.metric} is {item.value:.4g}, needs {item.threshold}{note}."
