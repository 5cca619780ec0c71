"""Grading a submission again, where it holds what agents left and the suite is here."""

from __future__ import annotations

import glob
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from repoassay.engine import GradingContext, grade_outputs
from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.report.leaderboard.entry import RUN, EntryRefusal
from repoassay.report.leaderboard.validate import Validated
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import find_suite
from repoassay.types import Attempt, Outcome, Verdict

__all__ = ["regrade"]

_BY_GRADING = (Outcome.PASSED, Outcome.FAILED, Outcome.NO_OUTPUT, Outcome.PATCH_FAILED, Outcome.TAMPERING)


def regrade(
    validated: Validated, suite: str, *, isolation: str = "namespaces", workers: int = 1
) -> Iterator[EntryRefusal]:
    """Grade every attempt anew and yield a refusal for each that comes to another verdict.

    Of attempts that a time-out or a budget ended, only a claim to have passed is compared. Attempts of no agent's doing
    are left alone.

    Args:
        validated: A submission in which nothing was refused.
        suite: Name or folder of the suite.
        isolation: How tests are kept from this machine.
        workers: How many tasks at a time.

    Raises:
        BadInput: When it was not sound, holds no files, or the suite has other tasks.
        NoIsolation: When no sandbox can be had here.
    """
    plan = validated.plan
    if not validated.sound or plan is None:
        raise BadInput(f"{validated.folder} is not sound.", "Only a sound submission is graded again.")
    found = find_suite(suite, only=[glob.escape(task.id) for task in plan.tasks])
    found = found.released() if plan.released else found
    digests = {folder.task.id: folder.digest for folder in found.tasks}
    for task in plan.tasks:
        if digests.get(task.id) != task.digest:
            raise BadInput(
                f"The suite {suite} has another {task.id} than the plan.", "Give the version it was made on."
            )
    cache = Cache()
    bench = GradingContext(found.repositories, cache, open_sandbox(isolation, cache), plan.timeout, plan.reading)
    by_number: dict[int, dict[str, tuple[Attempt, Verdict, Path]]] = defaultdict(dict)
    counts = {row.attempt for row in validated.rows}
    for item in RunFolder(validated.folder / RUN).finished():
        if item.attempt.id in counts:
            place = item.folder / "submission"
            if item.attempt.submission.files and not place.is_dir():
                raise BadInput(f"{validated.folder} does not hold what agents left.", "Pack it with --with-files.")
            by_number[item.attempt.number][item.attempt.task] = (item.attempt, item.verdict, place)
    for members in by_number.values():
        places = {task: place for task, (_, _, place) in members.items()}
        for verdict in grade_outputs(found, validated.folder, bench, workers, places):
            if verdict.task in members:
                attempt, stated, _ = members[verdict.task]
                yield from _compared(attempt, stated, verdict)


def _compared(attempt: Attempt, stated: Verdict, again: Verdict) -> Iterator[EntryRefusal]:
    file = f"{RUN}/attempts/{attempt.id}/verdict.json"
    if stated.outcome in _BY_GRADING and stated.outcome is not again.outcome:
        yield EntryRefusal(
            file, f"the outcome of {attempt.task} is {stated.outcome}, and graded again it is {again.outcome}."
        )
    elif stated.outcome is Outcome.BUDGET and stated.result and not again.result:
        yield EntryRefusal(file, f"{attempt.task} is said to have passed, and graded again it is {again.outcome}.")
