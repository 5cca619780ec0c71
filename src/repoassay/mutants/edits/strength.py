"""Strengths of tasks as they are kept here: each mutant's fate as soon as it is known, and the figure of each task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from repoassay.mutants.edits.mutant import Mutant
from repoassay.records import NewerRecord, parse, read_regular, read_strengths, to_json
from repoassay.stats import wilson
from repoassay.tasks import SuiteFolder
from repoassay.types import MutantFate, MutantTrial, Record, SuiteStrength, TaskStrength

__all__ = ["StrengthStore", "TrialJournal", "known_strengths", "strength_line", "strength_of", "trial_of"]

_LARGEST = 64 * 2**20


class TrialJournal(Record):
    """Every mutant of a task that was tried in an environment by a grader; other ones begin anew."""

    environment: str
    grader: str
    trials: tuple[MutantTrial, ...] = ()


class StrengthStore:
    """A folder a task in the cache, by the task's digest; apart from verdicts, which these never are."""

    def __init__(self, cache: Path) -> None:
        self._folder = cache / "strength"

    def trials(self, task_digest: str, environment: str, grader: str) -> TrialJournal:
        """What was tried before; empty where that was another grader or environment, or nothing can be read."""
        found = self._read(TrialJournal, task_digest, "trials.json")
        same = isinstance(found, TrialJournal) and (found.environment, found.grader) == (environment, grader)
        return (
            found if same and isinstance(found, TrialJournal) else TrialJournal(environment=environment, grader=grader)
        )

    def get(self, task_digest: str) -> TaskStrength | None:
        """The figure of a task; None where nothing can be read."""
        found = self._read(TaskStrength, task_digest, "strength.json")
        return found if isinstance(found, TaskStrength) else None

    def put(self, strength: TaskStrength, journal: TrialJournal | None = None) -> None:
        """Keep a task's figure and what it was made from, in the place of what was known."""
        folder = self._folder / strength.task_digest
        folder.mkdir(parents=True, exist_ok=True)
        for name, record in (("trials.json", journal), ("strength.json", strength)):
            if record is None:
                continue
            part = folder / f".{name}.part"
            part.write_bytes(to_json(record))
            part.replace(folder / name)

    def _read(self, kind: type[Record], task_digest: str, name: str) -> Record | None:
        try:
            return parse(kind, read_regular(self._folder / task_digest / name, _LARGEST))
        except (OSError, ValidationError, NewerRecord):
            return None


def known_strengths(suite: SuiteFolder, cache: Path) -> SuiteStrength:
    """What is known of a suite's tasks: what was measured here or came with the suite, whichever counts more mutants.

    Raises:
        BadInput: When the suite's `strength.json` cannot be read.
    """
    store, shipped = StrengthStore(cache), read_strengths(suite.path)
    found = []
    for folder in suite.tasks:
        both = (store.get(folder.digest), shipped.of(folder.digest) if shipped else None)
        known = [each for each in both if each is not None]
        if known:
            found.append(max(known, key=lambda each: each.counted))
    return SuiteStrength(tolerance=suite.suite.strength.tolerance, tasks=tuple(found))


def strength_of(strength: TaskStrength, trials: Sequence[MutantTrial]) -> TaskStrength:
    """The figure that trials come to."""
    fates = [trial.fate for trial in trials]
    late, faults = fates.count("timed_out"), fates.count("fault")
    survivors = tuple(trial for trial in trials if trial.fate == "survived")
    return strength.model_copy(
        update={"killed": fates.count("killed") + late, "timed_out": late, "faults": faults, "survivors": survivors}
    )


def strength_line(strength: TaskStrength) -> str:
    """A task's strength as a line: the share with its interval, and what is to be known of it."""
    if strength.share is None:
        return strength.why or "no mutant of the solution could be made"
    interval = wilson(strength.killed, strength.counted)
    sentence = f"{strength.killed} of {strength.counted} mutants killed, {strength.share:.0%}"
    sentence += f" ({interval.low:.0%} to {interval.high:.0%})"
    left = strength.drawn - strength.counted - strength.faults
    notes = [f"{strength.timed_out} of them by the time limit"] if strength.timed_out else []
    notes += [f"{strength.faults} not counted for a fault of ours"] if strength.faults else []
    notes += [f"{left} not run, since time was over"] if left > 0 else []
    return "; ".join((sentence, *notes))


def trial_of(mutant: Mutant, fate: MutantFate, why: str, seconds: float) -> MutantTrial:
    """A trial of a mutant."""
    return MutantTrial(
        name=mutant.name, kind=mutant.kind, path=mutant.path, line=mutant.line, was=mutant.was, now=mutant.now,
        fate=fate, why=why[:300], seconds=round(seconds, 3),
    )  # fmt: skip
