"""What a mutant is: a right output made wrong in a named way, or written otherwise and still right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from repoassay.types import MutantKind, MutantTrial, Outcome, Record, TaskStrength

__all__ = [
    "Battery", "Expected", "GradedMutant", "MadeMutant", "OutputChange", "RightOutput", "Same", "battery_record",
    "battery_strength",
]  # fmt: skip


class Expected(StrEnum):
    """What fair criteria must make of a mutant; `OPEN` where the task does not say."""

    WRONG = "wrong"
    RIGHT = "right"
    OPEN = "open"


class Same(Exception):
    """A change that leaves this output as it was, or cannot be made of it."""


@dataclass(frozen=True, slots=True)
class RightOutput:
    """A right output and what its mutants may be made of.

    Args:
        path: The output.
        inputs: Files the task gives, in the task's order.
        formats: Suffixes that the task names for it, its own among them.
        seed: What random choices hang on.
    """

    path: Path
    inputs: Sequence[Path]
    formats: Sequence[str]
    seed: int


@dataclass(frozen=True, slots=True)
class OutputChange:
    """One way to change an output.

    Args:
        name: As users see it.
        write: Writes the changed file, or raises `Same`; returns how much it changed where only that tells.
        expected: What must become of it, as far as the change alone says.
        share: Part of the output that is wrong, from 0 to 1.
        suffix: Of the file, where it is another format.
        sized: Wrong only where the task states the size.
    """

    name: str
    write: Callable[[Path], float | None]
    expected: Expected = Expected.WRONG
    share: float = 1.0
    suffix: str = ""
    sized: bool = False


class MadeMutant(Record):
    """A mutant as the sandbox that made it tells: its folder, the files it holds or lacks."""

    folder: Annotated[str, Field(pattern=r"^(set-)?\d{1,6}$")]
    file: str
    name: str
    expected: Expected
    share: float
    sized: bool = False
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedMutant:
    """A mutant, what must become of it and why, and what did."""

    file: str
    name: str
    expected: Expected
    why: str
    outcome: Outcome
    comment: str = ""

    @property
    def title(self) -> str:
        """File and change."""
        return f"{self.file}:{self.name}"

    @property
    def judged(self) -> bool:
        """Whether the criteria could decide; what was spoiled by a fault of ours tells nothing."""
        return self.outcome not in (Outcome.NOT_GRADABLE, Outcome.INFRA_FAULT)

    @property
    def agrees(self) -> bool:
        """Whether the criteria decided as they must; what is open or could not be judged agrees."""
        if self.expected is Expected.OPEN or not self.judged:
            return True
        return (self.outcome is Outcome.PASSED) == (self.expected is Expected.RIGHT)


@dataclass(frozen=True, slots=True)
class Battery:
    """Every mutant of one task, and why there are none where there are none."""

    task: str
    mutants: tuple[GradedMutant, ...] = ()
    why: str = ""
    left_out: int = field(default=0)
    """Mutants that were not made, since more than asked for could be."""
    tolerance: float = 0.0
    """Share of the wrong outputs that the task lets be accepted."""

    def of(self, expected: Expected) -> list[GradedMutant]:
        """Mutants of which this is expected."""
        return [each for each in self.mutants if each.expected is expected]

    @property
    def survivors(self) -> list[GradedMutant]:
        """Wrong outputs that were accepted."""
        return [each for each in self.of(Expected.WRONG) if not each.agrees]

    @property
    def refused(self) -> list[GradedMutant]:
        """Right outputs that were not."""
        return [each for each in self.of(Expected.RIGHT) if not each.agrees]

    @property
    def strength(self) -> float | None:
        """Share of the wrong outputs that were refused; None where none was made."""
        count = len(self.of(Expected.WRONG))
        return 1 - len(self.survivors) / count if count else None

    @property
    def weak(self) -> bool:
        """Whether more wrong outputs were accepted than the task tolerates."""
        return self.strength is not None and 1 - self.strength > self.tolerance + 1e-9

    @property
    def sound(self) -> bool:
        """Whether no more wrong outputs were accepted than the task tolerates, and no right one refused."""
        return not (self.weak or self.refused)

    def __str__(self) -> str:
        if self.why:
            return self.why
        wrong, right = self.of(Expected.WRONG), self.of(Expected.RIGHT)
        parts = [f"killed {len(wrong) - len(self.survivors)} of {len(wrong)}"]
        parts += [f"weak, {self.tolerance:.0%} may survive"] if self.weak else []
        parts += [f"accepted {len(right) - len(self.refused)} of {len(right)} right variants"] if right else []
        parts += [f"survivors: {', '.join(each.title for each in self.survivors)}"] if self.survivors else []
        parts += [f"refused though right: {', '.join(each.title for each in self.refused)}"] if self.refused else []
        return "; ".join(parts)


def battery_record(battery: Battery) -> dict[str, object]:
    """A battery as JSON lines and kept evidence hold it."""
    return {
        "why": battery.why,
        "made": len(battery.of(Expected.WRONG)),
        "killed": len(battery.of(Expected.WRONG)) - len(battery.survivors),
        "survivors": [each.title for each in battery.survivors],
        "refused": [each.title for each in battery.refused],
        "left_out": battery.left_out,
        "strength": battery.strength,
        "tolerance": battery.tolerance,
        "weak": battery.weak,
        "mutants": [
            {"file": each.file, "name": each.name, "expected": each.expected.value, "why": each.why,
             "outcome": each.outcome.value, "comment": each.comment}
            for each in battery.mutants
        ],
    }  # fmt: skip


def battery_strength(battery: Battery, task_digest: str, grader: str) -> TaskStrength:
    """The share of wrong outputs that a deliverable task's criteria refuse, as the strength of tests is kept.

    Mutants of which the task leaves open what they are, and right ones, are no part of it.
    """
    wrong = battery.of(Expected.WRONG)
    faults = sum(not each.judged for each in wrong)
    survivors = tuple(
        MutantTrial(
            name=each.title, kind=MutantKind.OUTPUT, path=each.file, line=0, now=each.name, fate="survived",
            why=each.why[:300],
        )
        for each in battery.survivors
    )  # fmt: skip
    return TaskStrength(
        task=battery.task, task_digest=task_digest, grader=grader, drawn=len(wrong), faults=faults,
        killed=len(wrong) - faults - len(survivors), survivors=survivors, why=battery.why,
    )  # fmt: skip
