"""Runs of the tiny agent by scripted models, made in this process; what the tests of this folder share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.engine import Settings, execute, make_plan, open_run
from repoassay.engine.matrix import spread
from repoassay.engine.model_access import AttemptAccess
from repoassay.engine.models import named_file
from repoassay.engine.scheduler import all_slots
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.records.slots import Slot
from repoassay.tasks.suite import SuiteFolder, find_suite
from repoassay.types import Attempt, Metering, NetworkPolicy, Outcome, Verdict

ASSETS = Path(__file__).parents[1] / "assets"
TINY = {"kind": "command", "command": "python {agent}/tiny.py", "folder": str(ASSETS / "agents")}
STUBBORN = {**TINY, "command": "python {agent}/tiny.py --ignore-errors"}
SOLVE = "printf 'month,amount\\n2025-01,15\\n2025-02,37\\n2025-03,1\\n' > /workspace/output/totals.csv"
PRICES = '[[price]]\nmodel = "scripted/*"\nfrom = 2020-01-01\ninput = "1000"\noutput = "2000"\n'


class Watching:
    """Progress nobody looks at, kept for the tests."""

    def __init__(self) -> None:
        self.started_slots: list[Slot] = []
        self.most_at_once: dict[str, int] = {}
        self._busy: dict[str, int] = {}

    def resuming(self, kept: int, recovered: int, torn: tuple[int, ...], left: int) -> None: ...

    def started(self, slot: Slot) -> None:
        self.started_slots.append(slot)
        self._busy[slot.agent] = self._busy.get(slot.agent, 0) + 1
        self.most_at_once[slot.agent] = max(self.most_at_once.get(slot.agent, 0), self._busy[slot.agent])

    def admitted(self, slot: Slot, account: AttemptAccess) -> None: ...

    def finished(self, slot: Slot, attempt: Attempt, verdict: Verdict) -> None:
        self._busy[slot.agent] -= 1

    def dropped(self, slot: Slot) -> None: ...


def shell(command: str, **more: Any) -> dict[str, Any]:
    """A turn in which the model calls the shell."""
    return {"calls": [{"tool": "shell", "command": command}], "usage": {"input": 100, "output": 50}, **more}


def said(text: str = "Done.", **more: Any) -> dict[str, Any]:
    """A turn in which it only speaks."""
    return {"text": text, "usage": {"input": 100, "output": 50}, **more}


def write_dialogue(folder: Path, turns: Sequence[Mapping[str, Any]], end: str = "error") -> Path:
    """A dialogue file."""
    path = folder / "dialogue.jsonl"
    lines = [{"kind": "settings", "end": end}, *({"kind": "turn", **turn} for turn in turns)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def mini(task: str = "sum-ledger") -> SuiteFolder:
    return find_suite(ASSETS / "suites" / "mini", only=[task])


def plan_run(
    tmp_path: Path, turns: Sequence[Mapping[str, Any]], limits: Mapping[str, str] | None = None, *,
    agent: Mapping[str, str] = TINY, end: str = "error", task: str = "sum-ledger", attempts: int = 1, workers: int = 1,
    retries: int = 0, budget_usd: str | None = None, prices: str = "", models: Sequence[str] = ("scripted/any",),
    upstreams: str = "", concurrency: Mapping[str, int] | None = None, network: NetworkPolicy | None = None,
    isolation: str = "namespaces", suite: SuiteFolder | None = None,
) -> tuple[RunFolder, SuiteFolder]:  # fmt: skip
    """A run folder, and its suite, ready to be executed."""
    suite = suite or mini(task)
    (tmp_path / "prices.toml").write_text(prices)
    (tmp_path / "upstreams.toml").write_text(upstreams)
    plan = make_plan(
        suite,
        Settings(
            agents=spread({"tiny": agent}, models, limits or {}, {}), attempts=attempts, workers=workers,
            isolation=isolation,
            metering=Metering(
                dialogue=named_file(write_dialogue(tmp_path, turns, end)) if turns else None,
                prices=(named_file(tmp_path / "prices.toml"),) if prices else (),
                upstreams=(named_file(tmp_path / "upstreams.toml"),) if upstreams else (),
                budget_usd=Decimal(budget_usd) if budget_usd else None,
                retries=retries, concurrency=dict(concurrency or {}), network=network,
            ),
        ),
    )  # fmt: skip
    return open_run(plan, tmp_path / "runs"), suite


def make(tmp_path: Path, turns: Sequence[Mapping[str, Any]], *arguments: Any, **settings: Any) -> list[FinishedAttempt]:
    """Plan and execute; every finished attempt in the order they ended."""
    run, suite = plan_run(tmp_path, turns, *arguments, **settings)
    execute(run, suite, all_slots(run), Watching())
    return list(run.finished())


def one(tmp_path: Path, turns: Sequence[Mapping[str, Any]], *arguments: Any, **settings: Any) -> FinishedAttempt:
    """The only attempt of a run."""
    (found,) = make(tmp_path, turns, *arguments, **settings)
    return found


def outcome(found: FinishedAttempt) -> Outcome:
    return found.verdict.outcome
