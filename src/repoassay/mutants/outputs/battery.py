"""The battery of one deliverable task: its right outputs changed in every way, graded by its fair criteria."""

from __future__ import annotations

from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.grading import Graded, Job, grade_deliverables
from repoassay.mutants.outputs.expectation import expect
from repoassay.mutants.outputs.make import make_mutants
from repoassay.mutants.outputs.mutant import Battery, GradedMutant, MadeMutant
from repoassay.sandbox import Sandbox, temporary_folder
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome

__all__ = ["run_battery"]


def run_battery(
    folder: TaskFolder, outputs: Path, sandbox: Sandbox, *, most: int = 100, workers: int = 1
) -> Battery:  # fmt: skip
    """Grade mutants of the right `outputs` of a task.

    Args:
        folder: The task.
        outputs: What its solution left; it must pass.
        sandbox: Where mutants are made and graded.
        most: Wrong mutants at most; more are sampled, by the task's name as seed.
        workers: How many are graded at a time.

    Raises:
        InfraFault: Mutants could not be made.
    """
    with temporary_folder("mutants") as place:
        mutants, left_out = make_mutants(folder, outputs, Path(place), sandbox, most)
        if not mutants:
            return Battery(folder.task.id, why="no output of this task is of a kind that mutants are made of")
        jobs = [Job(folder, Path(place, mutant.folder), to_first_failure=True) for mutant in mutants]
        graded = grade_deliverables(jobs, sandbox, workers=workers)
        found = tuple(_graded(folder, mutant, each) for mutant, each in zip(mutants, graded, strict=True))
    return Battery(folder.task.id, found, left_out=left_out, tolerance=folder.task.mutants.tolerance)


def _graded(folder: TaskFolder, mutant: MadeMutant, graded: Graded) -> GradedMutant:
    expected, why = expect(mutant, folder.task)
    if isinstance(graded.result, InfraFault):
        outcome, comment = Outcome.INFRA_FAULT, str(graded.result)
    else:
        outcome, comment = graded.result.outcome, "; ".join(graded.result.comments)
    return GradedMutant(mutant.file, mutant.name, expected, why, outcome, comment)
