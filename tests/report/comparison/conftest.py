"""Runs of systems whose answers are written out: one letter an attempt."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from repoassay.records import RunFolder
from repoassay.types import (
    Attempt,
    Ended,
    Exit,
    Outcome,
    Plan,
    PlannedTask,
    Spending,
    Submission,
    TaskKind,
    Usage,
    Verdict,
)

START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
LETTERS: dict[str, tuple[Outcome, bool | None, bool | None]] = {
    "p": (Outcome.PASSED, True, True),
    "f": (Outcome.FAILED, True, False),
    "n": (Outcome.NO_OUTPUT, False, False),
    "?": (Outcome.INFRA_FAULT, None, None),
    "t": (Outcome.TIMED_OUT, None, False),
}
MakeRun = Callable[..., Path]


@pytest.fixture
def answers(tmp_path: Path) -> MakeRun:
    """`answers("before", {"agent": ["p", "f?"]})`: of each agent one text a task, one letter an attempt, `.` not made.

    Passed on: `names` and `digests` of the tasks, `dollars` and `tokens` of each attempt (by agent), `comment`.
    """
    counter = itertools.count(1)

    def make(
        name: str,
        of_agents: Mapping[str, Sequence[str]],
        *,
        names: Sequence[str] = (),
        digests: Sequence[str] = (),
        spent: Mapping[str, Sequence[tuple[int, str | None]]] | None = None,
        seconds: Mapping[str, Sequence[float]] | None = None,
        comment: str = "",
    ) -> Path:
        texts = next(iter(of_agents.values()))
        ids = list(names) or [f"task-{number:02d}" for number in range(1, len(texts) + 1)]
        tasks = tuple(
            PlannedTask(
                id=task,
                digest=digests[place] if digests else f"{place + 1:064x}",
                folder=f"/s/{place}",
                title=f"Title {place}",
                kind=TaskKind.EDIT,
                domain="web",
            )
            for place, task in enumerate(ids)
        )
        plan = Plan(
            id=f"01KG9RUN{next(counter):018d}",
            created=START,
            suite="mini",
            suite_version="1",
            suite_folder="/s",
            tasks=tasks,
            agents={agent: {"kind": "command"} for agent in of_agents},
            attempts=max(map(len, texts)),
            isolation="namespaces",
            versions={"repoassay": "0.1.0", "python": "3.11.7"},
        )
        run = RunFolder.create(tmp_path / name, plan)
        for agent, texts in of_agents.items():
            for place, text in enumerate(texts):
                for number, letter in enumerate(text, 1):
                    if letter != ".":
                        tokens, dollars = spent[agent][place] if spent else (0, "0")
                        wall = seconds[agent][place] if seconds else 1.0
                        _record(run, tasks[place], agent, number, letter, next(counter), comment, wall,
                                _spent(tokens, dollars) if spent else None)  # fmt: skip
        return run.path

    return make


def _spent(tokens: int, dollars: str | None) -> Spending:
    return Spending(calls=1, usage=Usage(input=tokens), dollars=None if dollars is None else Decimal(dollars))


def _record(
    run: RunFolder, task: PlannedTask, agent: str, number: int, letter: str, count: int, comment: str, wall: float,
    spent: Spending | None,
) -> None:  # fmt: skip
    outcome, process, result = LETTERS[letter]
    started = START + timedelta(minutes=count)
    attempt = Attempt(
        id=f"01KG9ATT{count:018d}",
        run=run.plan.id,
        task=task.id,
        task_digest=task.digest,
        agent=agent,
        number=number,
        started=started,
        ended=started + timedelta(seconds=30),
        submission=Submission(exit=Exit(ended=Ended.EXITED, code=0, wall=wall)),
        settings=run.plan.agents[agent].settings,
        spent=spent,
    )
    verdict = Verdict(
        task=task.id,
        task_digest=task.digest,
        outcome=outcome,
        process=process,
        result=result,
        comments=(comment,) if comment else (),
        grader="repoassay/0.1.0",
        graded_at=started + timedelta(seconds=31),
    )
    run.record(attempt, verdict)
