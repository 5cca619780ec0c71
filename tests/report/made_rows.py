"""Rows made in memory, for tests of tables, plots and pages."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.report.results import ResultRow, RunEntry, RunInfo
from repoassay.types import Outcome, PlannedTask, TaskKind
from repoassay.types.task import Economics

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
ANSWERS: dict[Outcome | None, tuple[bool | None, bool | None]] = {
    None: (None, None), Outcome.PASSED: (True, True), Outcome.FAILED: (True, False),
    Outcome.NO_OUTPUT: (False, False), Outcome.TIMED_OUT: (None, False), Outcome.INFRA_FAULT: (None, None),
    Outcome.BUDGET: (False, False), Outcome.NOT_GRADABLE: (None, None),
}  # fmt: skip


def info(name: str = "run", suite: str = "mini", attempts: int = 1, folder: str = "/nowhere") -> RunInfo:
    return RunInfo(name, name, Path("/nowhere") / name.replace("\0", "-"), suite, "1", folder, NOW, 2, attempts)


def entry(framework: str = "hare", model: str = "scripted/a", **limits: str) -> RunEntry:
    name = f"{framework} @ {model}" if model else framework
    name = ", ".join([name, *(f"{key}={value}" for key, value in limits.items())])
    return RunEntry(name, framework, model, {"kind": "x", **({"model": model} if model else {}), **limits})


def task(name: str = "t1", repository: str = "sums", domain: str = "web", value: str | None = "10") -> PlannedTask:
    worth = Economics(value=Decimal(value), low=Decimal(1), high=Decimal(99), source="made up") if value else None
    return PlannedTask(
        id=name, digest="d", folder="/f", title="A task", kind=TaskKind.EDIT, domain=domain, subdomain="sub",
        repository=repository, economics=worth,
    )  # fmt: skip


def _id(run: RunInfo, by: RunEntry, of: PlannedTask, number: int) -> str:
    return hashlib.sha256(repr((run.id, by.name, of.id, number)).encode()).hexdigest()[:26]


def row(
    outcome: Outcome | None = Outcome.PASSED, *, run: RunInfo | None = None, by: RunEntry | None = None,
    of: PlannedTask | None = None, number: int = 1, tokens: int | None = 1000, dollars: str | None = "0.5",
    **more: Any,
) -> ResultRow:  # fmt: skip
    process, result = ANSWERS[outcome]
    run, by, of = run or info(), by or entry(), of or task()
    if outcome is None:
        return ResultRow(run, by, of, number)
    spent: dict[str, Any] = {"calls": None, "tokens_in": None, "tokens_out": None}
    if tokens is not None:
        spent = {"calls": 3, "tokens_in": tokens, "tokens_out": tokens // 10}
    return ResultRow(
        run, by, of, number,
        **{
            "attempt": _id(run, by, of, number), "outcome": outcome, "process": process, "result": result,
            "dollars": None if dollars is None else Decimal(dollars), "seconds": 2.0, **spent, **more,
        },
    )  # fmt: skip
