"""The strength of a task's tests as it is kept: which mutants they killed, and which survive."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from repoassay.mutants.edits.mutant import Mutant, MutantKind
from repoassay.records import NewerRecord, parse, read_regular, to_json
from repoassay.stats import Interval, wilson
from repoassay.types import Record

__all__ = ["MutantTrial", "StrengthStore", "TaskStrength"]

Fate = Literal["killed", "timed_out", "survived", "fault"]
_LARGEST = 16 * 2**20


class MutantTrial(Record):
    """What became of one mutant: `killed`, `timed_out` (killed by the clock), `survived`, or `fault`, which is ours.

    `why` names the test that failed, or the fault. `was` and `now` are lines of strangers.
    """

    name: str
    kind: MutantKind
    path: str
    line: int
    was: str = ""
    now: str = ""
    fate: Fate
    why: str = ""
    seconds: float = 0.0

    @property
    def wanted(self) -> str:
        """The test to write, as a sentence; hostile text is in it."""
        place = f"{self.path}:{self.line}"
        match self.kind:
            case MutantKind.FILE:
                return f"{self.path}: no test fails when the change of this file is left out."
            case MutantKind.HUNK if self.now:
                return f"{place}: no test fails when `{self.was}` and its block are as on the base, `{self.now}`."
            case MutantKind.HUNK:
                return f"{place}: no test fails without the block of lines that begins with `{self.was}`."
            case _ if not self.now:
                return f"{place}: no test fails without `{self.was}`."
            case _:
                return f"{place}: no test fails when `{self.was}` reads `{self.now}`."


class TaskStrength(Record):
    """How many mutants of a task's solution its hidden tests refuse.

    Attributes:
        task: The task's id.
        task_digest: Its digest.
        environment: Name of the environment they ran in.
        grader: What graded them.
        seed: By which they were drawn.
        wanted: How many were to be drawn at most.
        drawn: How many could be.
        trials: What became of those that were run; fewer than `drawn` when time was over.
        others: The same of mutants of other draws, which the figure does not count.
        why: Why there is no figure, where there is none.
    """

    task: str
    task_digest: str
    environment: str = ""
    grader: str = ""
    seed: int = 0
    wanted: int = 0
    drawn: int = 0
    trials: tuple[MutantTrial, ...] = Field(default=())
    others: tuple[MutantTrial, ...] = Field(default=())
    why: str = ""

    @property
    def counted(self) -> int:
        """Mutants that the figure rests on."""
        return sum(trial.fate != "fault" for trial in self.trials)

    @property
    def killed(self) -> int:
        """Mutants that the tests refuse; running out of time is being refused."""
        return sum(trial.fate in ("killed", "timed_out") for trial in self.trials)

    @property
    def survivors(self) -> tuple[MutantTrial, ...]:
        """Mutants that pass."""
        return tuple(trial for trial in self.trials if trial.fate == "survived")

    @property
    def share(self) -> float | None:
        """Share of mutants killed; None where none counts."""
        return self.killed / self.counted if self.counted else None

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the share."""
        return wilson(self.killed, self.counted)

    def weak(self, tolerance: float) -> bool:
        """Whether fewer are killed than a stated share; never where nothing is known."""
        return self.share is not None and self.share < tolerance

    def __str__(self) -> str:
        if self.share is None:
            return self.why or "no mutant could be made"
        low, high = self.interval.low, self.interval.high
        told = f"{self.killed} of {self.counted} mutants killed, {self.share:.0%} ({low:.0%} to {high:.0%})"
        late = sum(trial.fate == "timed_out" for trial in self.trials)
        faults = len(self.trials) - self.counted
        notes = [f"{late} by the time limit"] if late else []
        notes += [f"{faults} not counted, for a fault of ours"] if faults else []
        notes += (
            [f"{self.drawn - len(self.trials)} not run, since time was over"] if len(self.trials) < self.drawn else []
        )
        return "; ".join((told, *notes))


class StrengthStore:
    """Strengths by task digest, one file each in a folder of the cache; apart from verdicts, which these never are."""

    def __init__(self, cache: Path) -> None:
        self._folder = cache / "strength"

    def get(self, task_digest: str) -> TaskStrength | None:
        """What is kept of a task; None where nothing can be read."""
        try:
            return parse(TaskStrength, read_regular(self._folder / f"{task_digest}.json", _LARGEST))
        except (OSError, ValidationError, NewerRecord):
            return None

    def put(self, strength: TaskStrength) -> None:
        """Keep it in the place of what was known of the task."""
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._folder / f".{strength.task_digest}.part"
        part.write_bytes(to_json(strength))
        part.replace(self._folder / f"{strength.task_digest}.json")


def trial_of(mutant: Mutant, fate: Fate, why: str = "", seconds: float = 0.0) -> MutantTrial:
    """A trial of a mutant."""
    return MutantTrial(
        name=mutant.name, kind=mutant.kind, path=mutant.path, line=mutant.line, was=mutant.was, now=mutant.now,
        fate=fate, why=why[:300], seconds=round(seconds, 3),
    )  # fmt: skip
