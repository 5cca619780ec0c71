"""A summary as JSON for programs: stable keys, every figure with its counts.

::

    schema        "repoassay/report/1"; keys are added under the same number, never renamed or removed
    run           the plan as run.json has it
    folder        the run folder as it was named
    planned, finished, unfinished, superseded, outside_plan      counts of attempts
    torn_lines    line numbers of journal.jsonl that could not be read
    agents[]      name, settings, planned, finished, unfinished, superseded,
                  ecr, tpr            each {all: P, judged: P, unknown}
                  outcomes            {outcome: count}, every outcome
                  not_passed          {agent, suite, ours: count}, by whose doing
                  wall                {total, median, n}, seconds of the agent's command
                  spent               S over the attempts that count
                  domains[]           domain, tasks, planned, ecr, tpr
    spent         {counted, aside, unfinished, total: S}: attempts that count; superseded ones and those outside the
                  plan; dropped and killed ones; everything the model proxy's journals hold
    attempts[]    standing ("counts", "superseded", "outside_plan"), replaced_by (attempt id or null),
                  moved (true when the task digest is not the planned one), wall, folder (below the run folder),
                  attempt and verdict as the run folder has them
    strength      null where nothing was known, else tolerance, median (share of mutants killed), weak[] (task ids), and
                  tasks[]: task, killed, counted, share, survivors (how many)
    missing[]     task, agent, number of every planned attempt that is not finished

    S             null where no model was asked, else calls, failed, refused, usage {input, output, cached, cache_write,
                  reasoning}, unknown (calls that told no tokens), dollars (null is unknown), dollars_note (why),
                  dollars_known (a lower bound), retries, faults, outage, exhausted, models
    P             successes, n, value, low, high, method; value, low and high are null where n is 0

Shares lie between 0 and 1, durations are seconds, sizes bytes, times ISO 8601 in UTC, money is a decimal string.
A number that is not finite is null.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum
from typing import Any

from repoassay.records import ALL, AttemptStatus, EncodedJson, read_attempt, undisturbed
from repoassay.report.summary import AgentSummary, Summary, SummaryRow
from repoassay.stats import Proportion, Rate
from repoassay.types import Spending, SuiteStrength

__all__ = ["SCHEMA", "encoded_attempts", "plain_value", "summary_document"]

SCHEMA = "repoassay/report/1"
_NOT_PLAIN = re.compile(r"[^\x00-\x7e]+")


def summary_document(summary: Summary) -> dict[str, Any]:
    """The document, of nothing but what JSON can hold; `attempts` is an iterator that reads each when it is asked for.

    Raises:
        BadInput: From that iterator, when an attempt cannot be read any more.
    """
    plain: dict[str, Any] = plain_value(_document(summary))
    return {key: map(_attempt, summary.rows) if key == "attempts" else value for key, value in plain.items()}


def _document(summary: Summary) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "run": summary.plan.model_dump(mode="json"),
        "folder": str(summary.path),
        "planned": summary.plan.size,
        "finished": summary.of_standing(AttemptStatus.COUNTS),
        "unfinished": len(summary.unfinished),
        "superseded": summary.of_standing(AttemptStatus.SUPERSEDED),
        "outside_plan": summary.of_standing(AttemptStatus.OUTSIDE_PLAN),
        "torn_lines": list(summary.torn),
        "spent": {
            "counted": _spent(summary.spending.counted),
            "aside": _spent(summary.spending.aside),
            "unfinished": _spent(summary.spending.unfinished),
            "total": _spent(summary.spending.total),
        },
        "agents": [_agent(agent) for agent in summary.agents],
        "attempts": [],
        "strength": _strength(summary.strengths) if summary.strengths else None,
        "missing": [{"task": gap.task.id, "agent": gap.agent, "number": gap.number} for gap in summary.unfinished],
    }


def _strength(found: SuiteStrength) -> dict[str, Any]:
    return {
        "tolerance": found.tolerance,
        "median": found.median,
        "weak": [task.task for task in found.weak],
        "tasks": [
            {"task": task.task, "killed": task.killed, "counted": task.counted, "share": task.share,
             "survivors": len(task.survivors)}
            for task in found.tasks
        ],
    }  # fmt: skip


def _agent(agent: AgentSummary) -> dict[str, Any]:
    return {
        "name": agent.name,
        "settings": dict(agent.settings),
        "planned": agent.planned,
        "finished": agent.finished,
        "unfinished": agent.unfinished,
        "superseded": agent.superseded,
        "ecr": _rate(agent.process),
        "tpr": _rate(agent.result),
        "outcomes": {outcome.value: count for outcome, count in agent.outcomes.items()},
        "not_passed": {whose.value: count for whose, count in agent.not_passed.items()},
        "wall": {"total": agent.wall.total, "median": agent.wall.median, "n": agent.wall.n},
        "spent": _spent(agent.spent),
        "domains": [
            {
                "domain": row.domain,
                "tasks": row.tasks,
                "planned": row.planned,
                "ecr": _rate(row.process),
                "tpr": _rate(row.result),
            }
            for row in agent.domains
        ],
    }


def _spent(spent: Spending | None) -> dict[str, Any] | None:
    return None if spent is None else spent.model_dump(mode="json")


def _rate(rate: Rate) -> dict[str, Any]:
    return {"all": _proportion(rate.over_all), "judged": _proportion(rate.over_judged), "unknown": rate.unknown}


def _proportion(proportion: Proportion) -> dict[str, Any]:
    interval = proportion.interval
    return {
        "successes": proportion.successes,
        "n": proportion.n,
        "value": proportion.value,
        "low": interval.low,
        "high": interval.high,
        "method": interval.method,
    }


def _attempt(row: SummaryRow) -> dict[str, Any]:
    attempt, verdict = read_attempt(row.run, row.found.id, ALL)
    return {**_place(row), "attempt": attempt.model_dump(mode="json"), "verdict": verdict.model_dump(mode="json")}


def _place(row: SummaryRow) -> dict[str, Any]:
    return {
        "standing": row.place.standing.value,
        "replaced_by": row.place.replaced_by,
        "moved": row.moved,
        "wall": plain_value(row.seconds),
        "folder": f"attempts/{row.found.id}",
    }


def encoded_attempts(summary: Summary) -> Iterator[EncodedJson | dict[str, Any]]:
    """The attempts of the document, as JSON where pydantic can write it: there may be 100,000.

    Raises:
        BadInput: When an attempt cannot be read any more.
    """
    with undisturbed():
        yield from map(_encoded, summary.rows)


def _encoded(row: SummaryRow) -> EncodedJson | dict[str, Any]:
    attempt, verdict = read_attempt(row.run, row.found.id, ALL)
    try:
        records = f'"attempt": {attempt.model_dump_json()}, "verdict": {verdict.model_dump_json()}'
    except ValueError:  # half a surrogate, which only Python's JSON writes
        return _attempt(row)
    if not records.isascii() or "\x7f" in records:
        records = _NOT_PLAIN.sub(_escape, records)
    return EncodedJson(f"{json.dumps(_place(row))[:-1]}, {records}}}")


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def plain_value(value: Any) -> Any:
    """What JSON can hold: enums by value, money as text, NaN and infinities as null."""
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, Enum):
        return plain_value(value.value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
