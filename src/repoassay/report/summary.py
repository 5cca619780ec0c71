"""What a run came to: every figure with its counts, from the run folder alone."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.records import AttemptStatus, FinishedAttempt, RunFolder, SlotStatus, places
from repoassay.report.money import RunSpending, spending_of, sum_of
from repoassay.report.results import ResultRow, result_rows
from repoassay.report.strength_lines import strength_sentence, strengths_of
from repoassay.report.tables.groups import group_rows, rates
from repoassay.stats import Rate
from repoassay.types import Attempt, Attribution, Outcome, Plan, PlannedTask, Spending, SuiteStrength, Verdict

__all__ = ["AgentSummary", "DomainRow", "Summary", "SummaryRow", "Unfinished", "WallTime", "summarise"]

_NOT_PASSED = [outcome for outcome in Outcome if outcome is not Outcome.PASSED]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One finished attempt, where it stands, and its task (None where the plan does not hold it)."""

    finished: FinishedAttempt
    place: SlotStatus
    task: PlannedTask | None

    @property
    def counts(self) -> bool:
        """Whether it enters the figures."""
        return self.place.standing is AttemptStatus.COUNTS

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
    plan, rows = run.plan, tuple(_rows(run))
    results = tuple(result_rows(plan, run.path, rows))
    return Summary(
        path=run.path,
        plan=plan,
        agents=tuple(_agent(name, plan, rows, results) for name in plan.agents),
        rows=rows,
        results=results,
        unfinished=tuple(Unfinished(row.planned, row.agent, row.number) for row in results if not row.finished),
        torn=run.journal.read().torn,
        strengths=strengths_of(run.path, {task.digest for task in plan.tasks}),
        spending=spending_of(run, [(row.attempt.id, row.counts, row.attempt.spent) for row in rows]),
    )


def _rows(run: RunFolder) -> list[SummaryRow]:
    finished = list(run.finished())
    tasks = {task.id: task for task in run.plan.tasks}
    found = places(run.plan, [item.attempt for item in finished])
    return [SummaryRow(item, place, tasks.get(item.attempt.task)) for item, place in zip(finished, found, strict=True)]


def _agent(name: str, plan: Plan, rows: Sequence[SummaryRow], results: Sequence[ResultRow]) -> AgentSummary:
    mine = [row for row in results if row.agent == name]
    ended = Counter(row.outcome for row in mine)
    process, result = rates(mine)
    return AgentSummary(
        name=name,
        settings=plan.agents[name].settings,
        planned=len(mine),
        finished=sum(row.finished for row in mine),
        superseded=sum(row.place.standing is AttemptStatus.SUPERSEDED and row.place.slot.agent == name for row in rows),
        process=process,
        result=result,
        outcomes={outcome: ended[outcome] for outcome in Outcome},
        not_passed={whose: sum(ended[one] for one in _NOT_PASSED if one.whose is whose) for whose in Attribution},
        domains=tuple(_domains(mine)),
        wall=_wall([row.seconds for row in mine if row.seconds is not None]),
        spent=sum_of(row.attempt.spent for row in rows if row.counts and row.place.slot.agent == name),
    )


def _domains(rows: Sequence[ResultRow]) -> Iterator[DomainRow]:
    for domain, members in sorted(group_rows(rows, lambda row: row.domain).items()):
        process, result = rates(members)
        yield DomainRow(domain, len({row.task for row in members}), len(members), process, result)


def _wall(seconds: Sequence[float]) -> WallTime:
    return WallTime(sum(seconds), statistics.median(seconds) if seconds else None, len(seconds))
