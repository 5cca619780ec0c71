"""Grading deliverables: files looked at from outside, then criteria measured in a sandbox of their own."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import repoassay
from repoassay.errors import InfraFault
from repoassay.grading.registry import get, names
from repoassay.grading.select import select
from repoassay.grading.worker import MetricRequest, Told, measure
from repoassay.sandbox import Sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Criterion, CriterionResult, Limits, Outcome, Reading, Verdict

__all__ = ["LIMITS", "Job", "grade_deliverable", "grade_deliverables"]

LIMITS = Limits(seconds=120, memory=2 * 2**30, disk=256 * 2**20, processes=64, output=2**20)
"""What opening and measuring the files of one task may take."""


@dataclass(frozen=True, slots=True)
class Job:
    """A task and the folder of what was submitted; hostile, and opened only inside the sandbox.

    With `to_first_failure`, criteria after the first that fails are not measured.
    """

    folder: TaskFolder
    outputs: Path
    to_first_failure: bool = False


def grade_deliverable(
    folder: TaskFolder,
    outputs: Path,
    sandbox: Sandbox,
    *,
    reading: Reading = Reading.FAIR,
    limits: Limits = LIMITS,
    cancel: threading.Event | None = None,
) -> Verdict:
    """Return the verdict on the files in `outputs`.

    Args:
        folder: The task.
        outputs: What was submitted.
        sandbox: Where metrics run.
        reading: Which criteria decide.
        limits: What opening and measuring all files may take together.
        cancel: Set to give up early.

    Raises:
        InfraFault: When a metric, a package or the ground truth fails; never for what a file holds.
    """
    job = Job(folder, outputs)
    return next(grade_deliverables([job], sandbox, reading=reading, limits=limits, cancel=cancel)).verdict()


@dataclass(frozen=True, slots=True)
class Graded:
    """The result of one job: a verdict, or a fault of ours."""

    job: Job
    result: Verdict | InfraFault

    def verdict(self) -> Verdict:
        """The verdict; raises the fault when there is one."""
        if isinstance(self.result, InfraFault):
            raise self.result
        return self.result


def grade_deliverables(
    jobs: Sequence[Job],
    sandbox: Sandbox,
    *,
    reading: Reading = Reading.FAIR,
    workers: int = 1,
    limits: Limits = LIMITS,
    cancel: threading.Event | None = None,
) -> Iterator[Graded]:
    """Yield what became of every job, in their order, as soon as it is known.

    One sandbox serves them all: libraries are imported once, and each task is measured in a process of its own,
    `workers` at a time. Whatever a file does to it costs its own task alone.
    """
    prepared = [_prepare(job, reading) for job in jobs]
    requests = [each.asked for each in prepared if isinstance(each, _Prepared)]
    measurements = (
        iter(measure(requests, sandbox, workers=workers, limits=limits, cancel=cancel)) if requests else iter(())
    )
    for job, each in zip(jobs, prepared, strict=True):
        if isinstance(each, Verdict):
            yield Graded(job, each)
            continue
        try:
            yield Graded(job, _conclude(job, each, next(measurements), reading))
        except InfraFault as error:
            yield Graded(job, error)
    next(measurements, None)  # it ends when the sandbox has


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A job ready to be measured: which file is which output, and what is to be said of the choice."""

    asked: MetricRequest
    notes: tuple[str, ...]


def _prepare(job: Job, reading: Reading) -> _Prepared | Verdict:
    """Choose the files; a verdict at once where there is nothing to measure."""
    folder, outputs = job.folder, job.outputs
    criteria = [criterion for _, criterion in folder.task.grading.criteria(reading)]
    lacking = _lacking(folder, criteria)
    if lacking:
        comment = f"The benchmark's own data lacks {', '.join(lacking)}, so nobody can grade this task here."
        return _verdict(job, reading, Outcome.NOT_GRADABLE, [comment])
    files: dict[str, str] = {".": "."}
    notes = []
    unusable = []
    for pattern in folder.task.outputs.files:
        chosen = select(pattern, outputs)
        shown = pattern.partition(" | ")[0]
        # A missing file keeps a name, for published scripts that say what they make of one.
        files[pattern] = chosen.name or shown.partition("{")[0] + shown.partition("{")[2].partition(",")[0]
        notes += [chosen.note] if chosen.note else []
        unusable += (
            [reason] if (reason := _unusable(outputs, chosen.name or shown, folder.task.outputs.max_bytes)) else []
        )
    judged_whole = reading is Reading.PUBLISHED and folder.task.grading.published is not None
    if unusable and not judged_whole:
        return _verdict(job, reading, Outcome.NO_OUTPUT, [*unusable, *notes])
    dangerous = [reason for reason in unusable if reason.endswith(_DANGEROUS)]
    if dangerous:
        return _verdict(job, reading, Outcome.NO_OUTPUT, dangerous)
    return _Prepared(
        MetricRequest(outputs, folder.inputs, folder.tests, criteria, files, job.to_first_failure), tuple(notes)
    )


_DANGEROUS = ("allowed.", "no output.", "not a regular file.")


def _lacking(folder: TaskFolder, criteria: Sequence[Criterion]) -> list[str]:
    """References the suite keeps elsewhere that are not on this disk."""
    absent = {name.replace("tests/", "truth:", 1).replace("inputs/", "input:", 1) for name in folder.absent}
    return sorted({item.against.partition(":")[2] for item in criteria if item.against in absent and item.against})


def _unusable(outputs: Path, name: str, most: int) -> str:
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
    if status.st_size > most:
        return f"{name}: {status.st_size} bytes are more than the {most} allowed."
    return ""


def _conclude(job: Job, prepared: _Prepared, measurement: Told, reading: Reading) -> Verdict:
    """The verdict on what was measured."""
    if isinstance(measurement, InfraFault):
        raise measurement
    criteria = []
    statuses = set()
    staged = job.folder.task.grading.criteria(reading)
    for (stage, criterion), answer in zip(staged, measurement.answers, strict=True):
        if answer["status"] in ("fault", "missing_package"):
            raise InfraFault(f"{job.folder.task.id}: {criterion.metric} of {criterion.of} failed: {answer['comment']}")
        statuses.add(answer["status"])
        criteria.append(_result(stage, criterion, answer))
    measured = [
        item for item, told_of in zip(criteria, measurement.answers, strict=True) if told_of["status"] != "skipped"
    ]
    comments = [_sentence(item, prepared.asked.files) for item in measured if not item.passed]
    comments += prepared.notes
    failed = [item for item in criteria if item.passed is False]
    if "unreadable" in statuses or any(item.stage == "process" for item in failed):
        outcome, process = Outcome.NO_OUTPUT, False
    elif failed:
        outcome, process = Outcome.FAILED, True
    elif "not_gradable" in statuses:
        return _verdict(job, reading, Outcome.NOT_GRADABLE, comments, criteria, measurement.seconds)
    else:
        outcome, process = Outcome.PASSED, True
    return _verdict(job, reading, outcome, comments, criteria, measurement.seconds, process=process)


def _verdict(
    job: Job, reading: Reading, outcome: Outcome, comments: Sequence[str],
    criteria: Sequence[CriterionResult] = (), seconds: float = 0.0, *, process: bool | None = False,
) -> Verdict:  # fmt: skip
    unknown = outcome is Outcome.NOT_GRADABLE
    return Verdict(
        task=job.folder.task.id,
        task_digest=job.folder.digest,
        outcome=outcome,
        process=None if unknown else process,
        result=None if unknown else outcome is Outcome.PASSED,
        reading=reading,
        criteria=tuple(criteria),
        comments=tuple(comments),
        grader=f"repoassay/{repoassay.__version__}",
        graded_at=datetime.now(UTC),
        seconds=round(seconds, 3),
    )


def _result(stage: str, criterion: Criterion, answer: Mapping[str, object]) -> CriterionResult:
    value = answer["value"]
    assert value is None or isinstance(value, float)
    unknown = answer["status"] in ("not_gradable", "skipped")
    return CriterionResult(
        stage=stage,
        metric=criterion.metric,
        of=criterion.of,
        against=criterion.against,
        value=value,
        threshold=criterion.threshold,
        passed=None if unknown else value is not None and criterion.holds(value),
        unit=get(criterion.metric).unit if criterion.metric in names() else "",
        comment=str(answer["comment"]),
    )


def _sentence(item: CriterionResult, files: Mapping[str, str]) -> str:
    note = f" ({item.comment})" if item.comment else ""
    name = "the outputs" if item.of == "." else files.get(item.of, item.of)
    if item.value is None:
        return f"{name}: {item.metric} could not be measured: {item.comment or 'no value'}."
    return f"{name}: {item.metric} is {item.value:.4g}, needs {item.threshold}{note}."
