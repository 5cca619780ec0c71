"""What a run came to: every figure with its counts, from the run folder alone."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.records import (
    ALL,
    AttemptStatus,
    FinishedAttempt,
    IndexedAttempt,
    IndexedRun,
    RunFolder,
    SlotStatus,
    index_run,
    places,
    read_attempt,
    undisturbed,
)
from repoassay.report.money import RunSpending, SpendingTotal, spending_of
from repoassay.report.results import ResultRow, result_rows
from repoassay.report.strength_lines import strength_sentence, strengths_of
from repoassay.report.tables.groups import group_rows, rates
from repoassay.stats import Rate
from repoassay.types import Attribution, Outcome, Plan, PlannedTask, Spending, SuiteStrength

__all__ = ["AgentSummary", "DomainRow", "Summary", "SummaryRow", "Unfinished", "WallTime", "summarise"]

_NOT_PASSED = [outcome for outcome in Outcome if outcome is not Outcome.PASSED]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One finished attempt, where it stands, and its task (None where the plan does not hold it)."""

    found: IndexedAttempt
    place: SlotStatus
    task: PlannedTask | None
    run: Path

    @property
    def counts(self) -> bool:
        """Whether it enters the figures."""
        return self.place.standing is AttemptStatus.COUNTS

    @property
    def folder(self) -> Path:
        """The attempt's folder."""
        return self.run / "attempts" / self.found.id

    def read(self) -> FinishedAttempt:
        """Read the attempt with its latest verdict, whole; raises `BadInput` when it cannot be read back."""
        return FinishedAttempt(*read_attempt(self.run, self.found.id, ALL), self.folder)

    @property
    def seconds(self) -> float | None:
        """Wall seconds the agent's command ran, laying out and grading apart; None where nobody measured it."""
        return self.found.wall

    @property
    def moved(self) -> bool:
        """Whether the task was another version than the one planned."""
        planned = self.task.digest if self.task else self.found.task_digest
        return not planned == self.found.task_digest == self.found.judged_digest


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
    not_passed: Mapping[Attribution, int]
    domains: tuple[DomainRow, ...]
    wall: WallTime
    spent: Spending | None

    @property
    def unfinished(self) -> int:
        """Planned attempts without a finished one."""
        return self.planned - self.finished


@dataclass(frozen=True, slots=True)
class Summary:
    """The results of one run.

    `strengths` is what was known, when the run was planned, of the share of wrong solutions that tasks' tests refuse.
    `rows` holds every finished attempt in the order they ended, superseded ones among them; `results` one row for each
    place of the plan, out of which every figure is worked out.
    """

    path: Path
    plan: Plan
    agents: tuple[AgentSummary, ...]
    rows: tuple[SummaryRow, ...]
    results: tuple[ResultRow, ...]
    unfinished: tuple[Unfinished, ...]
    torn: tuple[int, ...]
    spending: RunSpending
    strengths: SuiteStrength | None = None

    def of_standing(self, standing: AttemptStatus) -> int:
        """How many finished attempts stand so."""
        return sum(row.place.standing is standing for row in self.rows)

    @property
    def scope(self) -> str:
        """What a rate of one agent is over, in words."""
        tasks = len(self.plan.tasks)
        if self.plan.attempts == 1:
            return "1 task" if tasks == 1 else f"{tasks} tasks"
        return f"{tasks * self.plan.attempts} attempts of {tasks} task{'' if tasks == 1 else 's'}"

    @property
    def strength_sentence(self) -> str:
        """What the tests behind the rates are worth, as a line; empty where nothing is known."""
        return strength_sentence(self.strengths, len(self.plan.tasks))


def summarise(run: RunFolder) -> Summary:
    """Work out every figure of a run, finished or not.

    Raises:
        BadInput: When a finished attempt cannot be read back.
    """
    with undisturbed():
        return _summary(run, index_run(run.path))


def _summary(run: RunFolder, found: IndexedRun) -> Summary:
    plan, rows = run.plan, tuple(_rows(run, found.attempts))
    results = tuple(result_rows(plan, run.path, {row.place.slot: row.found for row in rows if row.counts}))
    return Summary(
        path=run.path,
        plan=plan,
        agents=_agents(plan, rows, results),
        rows=rows,
        results=results,
        unfinished=tuple(Unfinished(row.planned, row.agent, row.number) for row in results if not row.finished),
        torn=found.torn,
        strengths=strengths_of(run.path, {task.digest for task in plan.tasks}),
        spending=spending_of(run, [(row.found.id, row.counts, row.found.spent) for row in rows]),
    )


def _rows(run: RunFolder, found: Sequence[IndexedAttempt]) -> list[SummaryRow]:
    tasks = {task.id: task for task in run.plan.tasks}
    status = places(run.plan, found)
    return [SummaryRow(item, place, tasks.get(item.task), run.path) for item, place in zip(found, status, strict=True)]


def _agents(plan: Plan, rows: Sequence[SummaryRow], results: Sequence[ResultRow]) -> tuple[AgentSummary, ...]:
    of_agent = group_rows(results, lambda row: row.agent)
    superseded: Counter[str] = Counter()
    spent: dict[str, SpendingTotal] = defaultdict(SpendingTotal)
    for row in rows:
        superseded[row.place.slot.agent] += row.place.standing is AttemptStatus.SUPERSEDED
        if row.counts:
            spent[row.place.slot.agent].add(row.found.spent)
    return tuple(
        _agent(name, plan, of_agent.get(name, []), superseded[name], spent[name].spending) for name in plan.agents
    )


def _agent(
    name: str, plan: Plan, mine: Sequence[ResultRow], superseded: int, spent: Spending | None
) -> AgentSummary:  # fmt: skip
    ended = Counter(row.outcome for row in mine)
    process, result = rates(mine)
    return AgentSummary(
        name=name,
        settings=plan.agents[name].settings,
        planned=len(mine),
        finished=sum(row.finished for row in mine),
        superseded=superseded,
        process=process,
        result=result,
        outcomes={outcome: ended[outcome] for outcome in Outcome},
        not_passed={whose: sum(ended[one] for one in _NOT_PASSED if one.whose is whose) for whose in Attribution},
        domains=tuple(_domains(mine)),
        wall=_wall([row.seconds for row in mine if row.seconds is not None]),
        spent=spent,
    )


def _domains(rows: Sequence[ResultRow]) -> Iterator[DomainRow]:
    for domain, members in sorted(group_rows(rows, lambda row: row.domain).items()):
        process, result = rates(members)
        yield DomainRow(domain, len({row.task for row in members}), len(members), process, result)


def _wall(seconds: Sequence[float]) -> WallTime:
    return WallTime(sum(seconds), statistics.median(seconds) if seconds else None, len(seconds))
