"""Runs as compact rows: one for each place of each plan, with what tables need and nothing else.

Read from the run folders' own files, or from an index of them that is looked at only as long as they are unchanged
(`repoassay.records.index_run`), so that 100,000 attempts take seconds; what is read is validated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records import (
    IndexedAttempt,
    RunFolder,
    Slot,
    counting_attempts,
    finished_ids,
    index_run,
    slots_of,
    undisturbed,
)
from repoassay.types import Economics, Outcome, Plan, PlannedTask

__all__ = ["ResultRow", "RunEntry", "RunInfo", "read_rows", "result_rows"]

_LIMIT = re.compile(r", (?:timeout|max_iterations|max_tokens|context_window|budget_usd)=[^,]*$")


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What rows of one run share. `title` names it among those read together: its folder's name, made unique."""

    id: str
    title: str
    path: Path
    suite: str
    suite_version: str
    suite_folder: str
    created: datetime
    tasks: int
    attempts: int

    @classmethod
    def of(cls, plan: Plan, path: Path, title: str = "") -> RunInfo:
        """What a run's rows share, by default titled by its folder."""
        return cls(
            plan.id,
            title or path.resolve().name or plan.id,
            path,
            plan.suite,
            plan.suite_version,
            plan.suite_folder,
            plan.created,
            len(plan.tasks),
            plan.attempts,
        )


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One entry of a plan's `agents`: its name there, the framework (agent), the model, and all settings as text."""

    name: str
    framework: str
    model: str
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One place of a plan and the attempt that counts there.

    `outcome` is None, and `attempt` empty, where no attempt is finished: process and result are then unknown.
    `tokens_in`, `tokens_out` and `calls` are None where the agent asked no model; with `tokens_partly` some calls told
    none. `dollars` is 0 without a model and None where a price or usage is unknown; `dollars_known` is its lower bound.
    `seconds` is the wall time of the agent's command.
    """

    run: RunInfo
    entry: RunEntry
    planned: PlannedTask
    number: int
    attempt: str = ""
    moved: bool = False
    outcome: Outcome | None = None
    process: bool | None = None
    result: bool | None = None
    calls: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_partly: bool = False
    dollars: Decimal | None = None
    dollars_known: Decimal = Decimal(0)
    seconds: float | None = None
    comment: str = ""

    @property
    def finished(self) -> bool:
        """Whether an attempt fills the place."""
        return self.outcome is not None

    @property
    def agent(self) -> str:
        """Name in the plan."""
        return self.entry.name

    @property
    def framework(self) -> str:
        """The agent without model and limits."""
        return self.entry.framework

    @property
    def model(self) -> str:
        """`provider/name`; empty without a model."""
        return self.entry.model

    @property
    def task(self) -> str:
        """The task's id."""
        return self.planned.id

    @property
    def repository(self) -> str:
        """The repository's name; empty in plans that did not keep it."""
        return self.planned.repository

    @property
    def domain(self) -> str:
        """The task's domain."""
        return self.planned.domain

    @property
    def subdomain(self) -> str:
        """The task's subdomain, or empty."""
        return self.planned.subdomain

    @property
    def value(self) -> Economics | None:
        """The task's market value, where it states one."""
        return self.planned.economics

    @property
    def tokens(self) -> int | None:
        """Tokens read and written; None without a model."""
        return None if self.tokens_in is None or self.tokens_out is None else self.tokens_in + self.tokens_out

    @property
    def folder(self) -> Path | None:
        """The attempt's folder; None where none is finished."""
        return self.run.path / "attempts" / self.attempt if self.attempt else None


def read_rows(paths: Sequence[Path], progress: Callable[[int, int], None] | None = None) -> list[ResultRow]:
    """Read run folders, in the order given; within one by agent, task and number.

    Superseded attempts and those outside their plan are not among the rows.

    Args:
        paths: Run folders.
        progress: Called now and then with how many attempts are read, and how many are to be.

    Raises:
        BadInput: When a folder is no run, one is named twice, or a finished attempt cannot be read back.
    """
    runs = [RunFolder(path) for path in paths]
    _refuse_twice(runs)
    rows: list[ResultRow] = []
    done = 0
    total = sum(len(finished_ids(run.path)) for run in runs) if progress is not None else 0
    with undisturbed():
        for run, title in zip(runs, _titles(runs), strict=True):
            on_read = None if progress is None else partial(_advance, progress, done, total)
            found = index_run(run.path, on_read, strict=False).attempts
            done += len(found)
            filled = counting_attempts(run.plan, found, lambda attempt: attempt)
            rows.extend(result_rows(run.plan, run.path, filled, title))
    return rows


def _advance(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _refuse_twice(runs: Sequence[RunFolder]) -> None:
    seen: dict[str, Path] = {}
    for run in runs:
        if run.plan.id in seen:
            raise BadInput(
                f"{seen[run.plan.id]} and {run.path} are the same run ({run.plan.id}).", "Name every run once."
            )
        seen[run.plan.id] = run.path


def _titles(runs: Sequence[RunFolder]) -> list[str]:
    names = [run.path.resolve().name or run.plan.id for run in runs]
    return [
        name if names.count(name) == 1 else f"{run.path.resolve().parent.name}/{name}"
        for name, run in zip(names, runs, strict=True)
    ]


def result_rows(
    plan: Plan, path: Path, filled: Mapping[Slot, IndexedAttempt], title: str = ""
) -> Iterator[ResultRow]:  # fmt: skip
    """The rows of one run, of which attempts that count are known by slot; without a title it has its folder's."""
    info = RunInfo.of(plan, path, title)
    entries = {name: _entry(name, entry.settings) for name, entry in plan.agents.items()}
    tasks = {task.id: task for task in plan.tasks}
    for slot in slots_of(plan):
        entry, task = entries[slot.agent], tasks[slot.task]
        found = filled.get(slot)
        yield (
            ResultRow(info, entry, task, slot.number) if found is None else _row(info, entry, task, slot.number, found)
        )


def _row(info: RunInfo, entry: RunEntry, task: PlannedTask, number: int, found: IndexedAttempt) -> ResultRow:
    spent = found.spent
    return ResultRow(
        run=info,
        entry=entry,
        planned=task,
        number=number,
        attempt=found.id,
        moved=not task.digest == found.task_digest == found.judged_digest,
        outcome=found.outcome,
        process=found.process,
        result=found.result,
        calls=spent.calls if spent else None,
        tokens_in=spent.usage.input if spent else None,
        tokens_out=spent.usage.output if spent else None,
        tokens_partly=bool(spent and spent.unknown),
        dollars=spent.dollars if spent else Decimal(0),
        dollars_known=spent.dollars_known if spent else Decimal(0),
        seconds=found.wall,
        comment=found.comment[:400],
    )


def _entry(name: str, settings: Mapping[str, str]) -> RunEntry:
    model = settings.get("model", "")
    framework = name.partition(f" @ {model}")[0] if model else name
    while (cut := _LIMIT.sub("", framework)) != framework:
        framework = cut
    return RunEntry(name, framework or name, model, dict(settings))
