"""One run on disk: its plan, and every finished attempt with its latest verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.records.attempts import ALL, read_attempts
from repoassay.records.durable_write import write_once
from repoassay.records.files import reason
from repoassay.records.folder_check import check_plan_file
from repoassay.records.journal import Journal
from repoassay.records.versions import parse, to_json, validation_reason
from repoassay.types import Attempt, Plan, Verdict

__all__ = ["FinishedAttempt", "RunFolder"]

_REMEDY = "Restore it from a copy; files of a run must not be edited."


@dataclass(frozen=True, slots=True)
class FinishedAttempt:
    """A finished attempt with its latest verdict and its folder (submission/, transcript/, log.txt)."""

    attempt: Attempt
    verdict: Verdict
    folder: Path


class RunFolder:
    """The folder of one run.

    Raises:
        BadInput: When the folder holds no readable plan.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        plan = path / "run.json"
        if not (plan.is_file() or plan.is_symlink()):
            within = max(path.glob("*/run.json"), default=None) if path.is_dir() else None
            remedy = (
                f"Name a run in it, such as {within.parent}." if within else "Name a folder that `repoassay run` made."
            )
            raise BadInput(f"{path} is not a run folder: it has no run.json.", remedy)
        check_plan_file(plan)
        try:
            self.plan = parse(Plan, plan.read_bytes(), str(plan))
        except OSError as error:
            raise BadInput(f"{plan} cannot be read: {reason(error)}.", "Check who may read it.") from error
        except ValidationError as error:
            raise BadInput(f"{plan} cannot be read as a plan: {validation_reason(error)}.", _REMEDY) from error
        self.journal = Journal(path / "journal.jsonl")
        self.go_on = f"repoassay resume {path}"
        """The command that goes on with it."""

    @classmethod
    def create(cls, path: Path, plan: Plan) -> RunFolder:
        """Lay out a new run; the folder must not exist yet or be empty. Where that fails nothing is left of it."""
        if path.exists() and any(path.iterdir()):
            raise BadInput(
                f"{path} already exists and is not empty.", "Choose another --out; runs are never overwritten."
            )
        made = [folder for folder in (path / "attempts", path, *path.parents) if not folder.exists()]
        try:
            (path / "attempts").mkdir(parents=True)
            write_once(path / "run.json", to_json(plan, indent=2))
        except OSError:
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()
            raise
        return cls(path)

    def attempt_folder(self, attempt_id: str) -> Path:
        """Where everything of one attempt lies."""
        return self.path / "attempts" / attempt_id

    def record(self, attempt: Attempt, verdict: Verdict) -> None:
        """Write attempt and verdict beside each other, then the journal line that makes them count."""
        folder = self.attempt_folder(attempt.id)
        write_once(folder / "attempt.json", to_json(attempt, indent=2))
        write_once(folder / "verdict.json", to_json(verdict, indent=2))
        self.journal.append(
            "finished",
            attempt=attempt.id,
            task=attempt.task,
            agent=attempt.agent,
            number=attempt.number,
            outcome=verdict.outcome.value,
        )

    def add_verdict(self, attempt_id: str, verdict: Verdict) -> None:
        """Write a later verdict on a finished attempt beside the earlier ones; the latest counts."""
        folder = self.attempt_folder(attempt_id)
        number = 1
        while (folder / f"verdict.{number}.json").exists():
            number += 1
        write_once(folder / f"verdict.{number}.json", to_json(verdict, indent=2))
        self.journal.append("judged", attempt=attempt_id, outcome=verdict.outcome.value)

    def finished(self) -> Iterator[FinishedAttempt]:
        """Every attempt the journal calls finished, in the order they ended; the journal decides what counts.

        Raises:
            BadInput: When one cannot be read back.
        """
        for attempt, verdict in read_attempts(self.path, ALL):
            yield FinishedAttempt(attempt, verdict, self.attempt_folder(attempt.id))

    def events(self) -> list[dict[str, object]]:
        """The journal's whole records."""
        return self.journal.read().events
