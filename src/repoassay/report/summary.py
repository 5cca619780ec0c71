"""What a run came to: every figure with its counts, from the run folder alone."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.model import Attempt, Outcome, Plan, PlannedTask, Spending, Verdict, Whose
from repoassay.report.money import RunSpending, spending_of, sum_of
from repoassay.stats import Rate
from repoassay.store import Finished, RunFolder
from repoassay.store.slots import Place, Slot, Standing, places, slots_of

__all__ = ["AgentSummary", "DomainRow", "Row", "Summary", "Unfinished", "WallTime", "summarise"]


@dataclass(frozen=True, slots=True)
class Row:
    """One finished attempt, where it stands, and its task (None where the plan does not hold it)."""

    finished: Finished
    place: Place
    task: PlannedTask | None

    @property
    def counts(self) -> bool:
        """Whether it enters the figures."""
        return self.place.standing is Standing.COUNTS

    @property
    def attempt(self) -> Attempt:
        """The attempt itself."""
        return self.finished.attempt

    @property
    def verdict(self) -> Verdict:
        """Its latest verdict."""
        return self.finished.verdict

    @property
    def seconds(self) -> float | None:
        """Wall seconds the agent's command ran, laying out and grading apart; None where nobody measured it."""
        ending = self.attempt.submission.exit
        return ending.wall if ending else None

    @property
    def moved(self) -> bool:
        """Whether the task was another version than the one planned."""
        planned = self.task.digest if self.task else self.attempt.task_digest
        return not planned == self.attempt.task_digest == self.verdict.task_digest


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A place of the plan that no finished attempt fills."""

    task: PlannedTask
    agent: str
    number: int


@dataclass(frozen=True, slots=True)
class WallTime:
    """Wall seconds of the agent's own command over the `n` attempts where it was measured; None where n is 0."""

    total: float
    median: float | None
    n: int


@dataclass(frozen=True, slots=True)
class DomainRow:
    """Rates within one domain, over the `planned` attempts of its tasks."""

    domain: str
    tasks: int
    planned: int
    process: Rate
    result: Rate


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """One agent's figures.

    `process` is what ECR and `result` what TPR counts, over the `planned` attempts: one not finished is unknown, as
    is one that could not be judged. `outcomes` and `not_passed` (by whose doing) count finished attempts that count,
    and `spent` sums over them; None where none asked a model.
    """

    name: str
    settings: Mapping[str, str]
    planned: int
    finished: int
    superseded: int
    process: Rate
    result: Rate
    outcomes: Mapping[Outcome, int]
    not_passed: Mapping[Whose, int]
    domains: tuple[DomainRow, ...]
    wall: WallTime
    spent: Spending | None

    @property
    def unfinished(self) -> int:
        """Planned attempts without a finished one."""
        return self.planned - self.finished


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole run. `rows` holds every finished attempt in the order they ended, superseded ones among them."""

    path: Path
    plan: Plan
    agents: tuple[AgentSummary, ...]
    rows: tuple[Row, ...]
    unfinished: tuple[Unfinished, ...]
    torn: tuple[int, ...]
    spending: RunSpending

    def of_standing(self, standing: Standing) -> int:
        """How many finished attempts stand so."""
        return sum(row.place.standing is standing for row in self.rows)

    @property
    def scope(self) -> str:
        """What a rate of one agent is over, in words."""
        tasks = len(self.plan.tasks)
        if self.plan.attempts == 1:
            return "1 task" if tasks == 1 else f"{tasks} tasks"
        return f"{tasks * self.plan.attempts} attempts of {tasks} task{'' if tasks == 1 else 's'}"


def summarise(run: RunFolder) -> Summary:
    """Work out every figure of a run, finished or not.

    Raises:
        BadInput: When a finished attempt cannot be read back.
    """
    plan, rows = run.plan, tuple(_rows(run))
    filled = {row.place.slot: row for row in rows if row.counts}
    tasks = {task.id: task for task in plan.tasks}
    return Summary(
        path=run.path,
        plan=plan,
        agents=tuple(_agent(name, plan, rows, filled) for name in plan.agents),
        rows=rows,
        unfinished=tuple(
            Unfinished(tasks[slot.task], slot.agent, slot.number) for slot in slots_of(plan) if slot not in filled
        ),
        torn=run.journal.read().torn,
        spending=spending_of(run, [(row.attempt.id, row.counts, row.attempt.spent) for row in rows]),
    )


def _rows(run: RunFolder) -> list[Row]:
    finished = list(run.finished())
    tasks = {task.id: task for task in run.plan.tasks}
    found = places(run.plan, [item.attempt for item in finished])
    return [Row(item, place, tasks.get(item.attempt.task)) for item, place in zip(finished, found, strict=True)]


def _agent(name: str, plan: Plan, rows: Sequence[Row], filled: Mapping[Slot, Row]) -> AgentSummary:
    mine = {slot: filled.get(slot) for slot in slots_of(plan, name)}
    done = [row for row in mine.values() if row is not None]
    outcomes = Counter(row.verdict.outcome for row in done)
    whose = Counter(row.verdict.outcome.whose for row in done if row.verdict.outcome is not Outcome.PASSED)
    process, result = _rates(mine.values())
    return AgentSummary(
        name=name,
        settings=plan.agents[name].settings,
        planned=len(mine),
        finished=len(done),
        superseded=sum(row.place.standing is Standing.SUPERSEDED and row.place.slot.agent == name for row in rows),
        process=process,
        result=result,
        outcomes={outcome: outcomes[outcome] for outcome in Outcome},
        not_passed={kind: whose[kind] for kind in Whose},
        domains=tuple(_domains(plan, mine)),
        wall=_wall([row.seconds for row in done if row.seconds is not None]),
        spent=sum_of(row.attempt.spent for row in done),
    )


def _rates(rows: Iterable[Row | None]) -> tuple[Rate, Rate]:
    """ECR and TPR over the given slots; None is a slot that no attempt fills yet."""
    verdicts = [row.verdict if row else None for row in rows]
    return (
        Rate.of(verdict.process if verdict else None for verdict in verdicts),
        Rate.of(verdict.result if verdict else None for verdict in verdicts),
    )


def _domains(plan: Plan, mine: Mapping[Slot, Row | None]) -> Iterator[DomainRow]:
    domain_of = {task.id: task.domain for task in plan.tasks}
    for domain, tasks in sorted(Counter(domain_of.values()).items()):
        rows = [row for slot, row in mine.items() if domain_of[slot.task] == domain]
        process, result = _rates(rows)
        yield DomainRow(domain=domain, tasks=tasks, planned=len(rows), process=process, result=result)


def _wall(seconds: Sequence[float]) -> WallTime:
    return WallTime(sum(seconds), statistics.median(seconds) if seconds else None, len(seconds))
