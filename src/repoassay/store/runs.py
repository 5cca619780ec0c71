"""One run on disk: its plan, and every finished attempt with its latest verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.model import Attempt, Plan, Verdict
from repoassay.store.durable import write_once
from repoassay.store.journal import Journal
from repoassay.store.sound import check_plan_file

__all__ = ["Finished", "RunFolder"]


@dataclass(frozen=True, slots=True)
class Finished:
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
            raise BadInput(
                f"{path} is not a run folder: it has no run.json.", "Name a folder that `repoassay run` made."
            )
        check_plan_file(plan)
        try:
            self.plan = Plan.model_validate_json(plan.read_bytes())
        except ValidationError as error:
            raise BadInput(f"{plan} cannot be read as a plan: {error.errors()[0]['msg']}.") from error
        self.journal = Journal(path / "journal.jsonl")

    @classmethod
    def create(cls, path: Path, plan: Plan) -> RunFolder:
        """Lay out a new run; the folder must not exist yet or be empty."""
        if path.exists() and any(path.iterdir()):
            raise BadInput(
                f"{path} already exists and is not empty.", "Choose another --out; runs are never overwritten."
            )
        (path / "attempts").mkdir(parents=True)
        write_once(path / "run.json", plan.model_dump_json(indent=2).encode())
        return cls(path)

    def attempt_folder(self, attempt_id: str) -> Path:
        """Where everything of one attempt lies."""
        return self.path / "attempts" / attempt_id

    def record(self, attempt: Attempt, verdict: Verdict) -> None:
        """Write attempt and verdict beside each other, then the journal line that makes them count."""
        folder = self.attempt_folder(attempt.id)
        write_once(folder / "attempt.json", attempt.model_dump_json(indent=2).encode())
        write_once(folder / "verdict.json", verdict.model_dump_json(indent=2).encode())
        self.journal.append(
            "finished",
            attempt=attempt.id,
            task=attempt.task,
            agent=attempt.agent,
            number=attempt.number,
            outcome=verdict.outcome.value,
        )

    def finished(self) -> Iterator[Finished]:
        """Every attempt the journal calls finished, in the order they ended; the journal decides what counts."""
        for event in self.journal.read().events:
            if event.get("event") == "finished":
                folder = self.attempt_folder(str(event["attempt"]))
                attempt = Attempt.model_validate_json((folder / "attempt.json").read_bytes())
                yield Finished(attempt, self._latest_verdict(folder), folder)

    @staticmethod
    def _latest_verdict(folder: Path) -> Verdict:
        later = sorted(folder.glob("verdict.*.json"), key=lambda path: int(path.name.split(".")[1]))
        return Verdict.model_validate_json((later[-1] if later else folder / "verdict.json").read_bytes())

    def events(self) -> list[dict[str, object]]:
        """The journal's whole records."""
        return self.journal.read().events

    def describe(self) -> str:
        """The plan as indented JSON."""
        return json.dumps(self.plan.model_dump(mode="json"), indent=2)
