"""How strong the tests and criteria of tasks are: mutants of the solution that they kill, and those that survive."""

from __future__ import annotations

import statistics
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from repoassay.types.base import Record

__all__ = ["MutantFate", "MutantKind", "MutantTrial", "SuiteStrength", "TaskStrength"]

MutantFate = Literal["killed", "timed_out", "survived", "fault"]
"""What became of a mutant: refused, refused by the clock, passed, or spoiled by a fault of ours."""


class MutantKind(StrEnum):
    """What a mutation operator changes."""

    FILE = "file"
    HUNK = "hunk"
    STATEMENT = "statement"
    CONDITION = "condition"
    COMPARISON = "comparison"
    OPERATOR = "operator"
    CONSTANT = "constant"
    RETURN = "return"
    ARGUMENT = "argument"
    EXCEPTION = "exception"
    DECORATOR = "decorator"
    OUTPUT = "output"
    """An output file of a deliverable, made wrong."""


class MutantTrial(Record):
    """What became of one mutant, which changes `line` of the file `path` of the solution.

    `was` and `now` are lines of strangers, `now` empty where something was left out; `why` names the test that failed,
    or the fault. Of an output, `now` names how it was made wrong and `why` says why that is wrong; it has no line.
    """

    name: str
    kind: MutantKind
    path: str
    line: int
    was: str = ""
    now: str = ""
    fate: MutantFate
    why: str = ""
    seconds: float = 0.0

    @property
    def wanted(self) -> str:
        """The test to write, as a sentence; hostile text is in it."""
        place = f"{self.path}:{self.line}"
        if self.kind is MutantKind.OUTPUT:
            return f"{self.path}: no criterion refuses it made wrong as `{self.now}`."
        if self.kind is MutantKind.FILE:
            return f"{self.path}: no test fails when the change of this file is left out."
        if self.kind is MutantKind.HUNK:
            base = f" are as on the base, `{self.now}`" if self.now else " are left out, as on the base"
            lines = f"the lines from `{self.was}` on" if self.was else "the lines removed here"
            return f"{place}: no test fails when {lines}{base}."
        if not self.now:
            return f"{place}: no test fails without `{self.was}`."
        return f"{place}: no test fails when `{self.was}` reads `{self.now}`."


class TaskStrength(Record):
    """How many mutants of a task's solution its hidden tests, or its criteria, refuse.

    Attributes:
        task: The task's id.
        task_digest: Its digest.
        grader: What made the mutants and graded them.
        seed: By which they were drawn.
        drawn: How many there were; fewer were run when time was over.
        killed: How many of those that were run the tests refused, by the clock or otherwise.
        timed_out: How many of these by the clock.
        faults: How many were spoiled by a fault of ours, and are not counted.
        survivors: Those that passed.
        why: Why there is no figure, where there is none.
    """

    task: str
    task_digest: str
    grader: str = ""
    seed: int = 0
    drawn: int = 0
    killed: int = 0
    timed_out: int = 0
    faults: int = 0
    survivors: tuple[MutantTrial, ...] = ()
    why: str = ""

    @property
    def counted(self) -> int:
        """Mutants that the share is over."""
        return self.killed + len(self.survivors)

    @property
    def share(self) -> float | None:
        """Share of the mutants that are killed; None where none counts."""
        return self.killed / self.counted if self.counted else None

    def below(self, tolerance: float) -> bool:
        """Whether a smaller share is killed than this one; never where nothing is known."""
        return self.share is not None and self.share < tolerance


class SuiteStrength(Record):
    """Strengths of a suite's tasks, and the share below which one is weak: `strength.json` of a suite or a run."""

    tolerance: Annotated[float, Field(ge=0, le=1)] = 0.8
    tasks: tuple[TaskStrength, ...] = ()

    def of(self, task_digest: str) -> TaskStrength | None:
        """The strength of the task with a digest."""
        return next((task for task in self.tasks if task.task_digest == task_digest), None)

    @property
    def known(self) -> tuple[TaskStrength, ...]:
        """Tasks with a share."""
        return tuple(task for task in self.tasks if task.share is not None)

    @property
    def weak(self) -> tuple[TaskStrength, ...]:
        """Tasks of which a smaller share is killed than is tolerated."""
        return tuple(task for task in self.tasks if task.below(self.tolerance))

    @property
    def median(self) -> float | None:
        """Median of the shares; None where there is none."""
        shares = [task.share for task in self.known if task.share is not None]
        return statistics.median(shares) if shares else None
