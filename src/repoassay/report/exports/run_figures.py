"""What a tracker of experiments is told of a run: parameters and figures of each agent, and one row an attempt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import repoassay
from repoassay.records import FinishedAttempt, counting_attempts
from repoassay.report.exporters import ExportSource
from repoassay.stats import clustered_proportion
from repoassay.text import printable

__all__ = ["COLUMNS", "AgentFigures", "figures_of_agents"]

COLUMNS = ("task", "number", "outcome", "passed", "seconds", "tokens_in", "tokens_out", "dollars", "attempt")
_Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """One agent of a run.

    Attributes:
        agent: Its name in the run.
        parameters: What was set, as text: suite, versions, the agent's settings.
        metrics: Figures; what is unknown is left out, never 0. Dollars are those of all attempts, or none.
        rows: One an attempt that counts, in the order of `COLUMNS`.
    """

    agent: str
    parameters: dict[str, str]
    metrics: dict[str, float]
    rows: Sequence[tuple[_Cell, ...]]


def figures_of_agents(source: ExportSource) -> Iterator[AgentFigures]:
    """Every agent of the run that finished an attempt."""
    assert source.run is not None
    plan = source.run.plan
    counting = counting_attempts(plan, list(source.attempts()), lambda found: found.attempt)
    about = {"run": plan.id, "suite": plan.suite, "suite_version": plan.suite_version,
             "repoassay_version": repoassay.__version__, "isolation": plan.isolation}  # fmt: skip
    if plan.origin is not None:
        about["origin"] = plan.origin.sentence
    for agent, entry in plan.agents.items():
        found = [one for slot, one in counting.items() if slot.agent == agent]
        if found:
            settings = {f"setting.{key}": printable(str(value), 500) for key, value in entry.settings.items()}
            rows = [_row(one) for one in found]
            yield AgentFigures(printable(agent, 200), {"agent": agent, **about, **settings}, _metrics(found), rows)


def _metrics(found: Sequence[FinishedAttempt]) -> dict[str, float]:
    tasks: dict[str, list[bool]] = {}
    for one in found:
        if one.verdict.result is not None:
            tasks.setdefault(one.attempt.task, []).append(one.verdict.result)
    values = [value for task in tasks.values() for value in task]
    metrics = {"attempts": float(len(found)), "judged": float(len(values))}
    if values:
        metrics["pass_rate"] = sum(values) / len(values)
        interval = clustered_proportion(list(tasks.values()))
        if interval.low is not None and interval.high is not None:
            metrics |= {"pass_rate_low": interval.low, "pass_rate_high": interval.high}
    spent = [one.attempt.spent for one in found if one.attempt.spent is not None]
    if len(spent) == len(found):
        metrics["tokens_in"] = float(sum(one.usage.input for one in spent))
        metrics["tokens_out"] = float(sum(one.usage.output for one in spent))
        dollars = [one.dollars for one in spent if one.dollars is not None]
        if len(dollars) == len(spent):
            metrics["dollars"] = float(sum(dollars, Decimal(0)))
    return metrics


def _row(found: FinishedAttempt) -> tuple[_Cell, ...]:
    attempt, verdict, spent = found.attempt, found.verdict, found.attempt.spent
    usage = spent.usage if spent else None
    return (
        attempt.task, attempt.number, verdict.outcome.value, None if verdict.result is None else int(verdict.result),
        (attempt.ended - attempt.started).total_seconds(), usage.input if usage else None,
        usage.output if usage else None,
        float(spent.dollars) if spent and spent.dollars is not None else None, attempt.id,
    )  # fmt: skip
