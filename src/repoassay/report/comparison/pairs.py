"""Tasks two systems have in common, by id and digest, and what changed on each. Unknown is never false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from statistics import fmean

from repoassay.errors import BadInput
from repoassay.report.comparison.sides import ComparedSide
from repoassay.report.results import ResultRow
from repoassay.stats import Rate
from repoassay.text import one_line

__all__ = ["ExcludedTask", "Measure", "OutcomeChange", "Paired", "TaskPair", "pair"]

_MOST_NAMED = 5


class Measure(StrEnum):
    """Which answer is compared: Result (what TPR counts) or Process (what ECR counts)."""

    RESULT = "result"
    PROCESS = "process"


class OutcomeChange(StrEnum):
    """What became of a task from the first system to the second; of several attempts, of their rate."""

    FIXED = "fixed"
    BROKEN = "broken"
    SAME = "same"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TaskPair:
    """One task of both systems: the answers of each, and by how much the second spent more, on the attempts' means.

    Differences are second minus first (tokens, US dollars, seconds); None where one of them is not known.
    """

    task: str
    title: str
    domain: str
    first: Rate
    second: Rate
    tokens: float | None
    dollars: Decimal | None
    seconds: float | None
    comment: str = ""

    @property
    def difference(self) -> float | None:
        """Rate of the second minus rate of the first, over attempts with an answer; None where one has none."""
        first, second = self.first.over_judged.value, self.second.over_judged.value
        return None if first is None or second is None else second - first

    @property
    def change(self) -> OutcomeChange:
        """What became of it. Without an answer on both sides it is unknown."""
        if (found := self.difference) is None:
            return OutcomeChange.UNKNOWN
        return OutcomeChange.SAME if found == 0 else OutcomeChange.FIXED if found > 0 else OutcomeChange.BROKEN


@dataclass(frozen=True, slots=True)
class ExcludedTask:
    """A task that is not compared, and why."""

    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class Paired:
    """All pairs in the first system's order, and what was left out."""

    pairs: tuple[TaskPair, ...]
    left_out: tuple[ExcludedTask, ...]


def pair(first: ComparedSide, second: ComparedSide, measure: Measure, *, across_versions: bool = False) -> Paired:
    """Pair the tasks of two systems.

    Args:
        first: The baseline.
        second: What is compared with it.
        measure: Which answer.
        across_versions: Pair tasks of the same id also where their digests differ.

    Raises:
        BadInput: When they have no task in common, or none of the same version.
    """
    common = [task for task in first.tasks if task in second.tasks]
    labels = f"{one_line(first.label, 80)} and {one_line(second.label, 80)}"
    if not common:
        raise BadInput(f"{labels} have no task in common.", "Compare runs of the same suite.")
    pairs, left_out = [], []
    for task in common:
        one, other = first.tasks[task], second.tasks[task]
        if not across_versions and (reason := _other_version(one, other)):
            left_out.append(ExcludedTask(task, reason))
        else:
            pairs.append(_pair(one, other, measure))
    if not pairs:
        names = ", ".join(one_line(item.task, 60) for item in left_out[:_MOST_NAMED])
        raise BadInput(
            f"{labels} have no task of the same version in common: {names} differ in their digest.",
            "Run both on one version of the suite, or accept the difference with --across-versions.",
        )
    left_out += [ExcludedTask(task, f"only {first.label} has it") for task in first.tasks if task not in second.tasks]
    left_out += [ExcludedTask(task, f"only {second.label} has it") for task in second.tasks if task not in first.tasks]
    return Paired(tuple(pairs), tuple(left_out))


def _other_version(one: Sequence[ResultRow], other: Sequence[ResultRow]) -> str:
    if one[0].planned.digest != other[0].planned.digest:
        return f"two versions, {one[0].planned.digest[:12]} and {other[0].planned.digest[:12]}"
    if any(row.moved for row in (*one, *other)):
        return "an attempt was made on another version than planned"
    return ""


def _pair(one: Sequence[ResultRow], other: Sequence[ResultRow], measure: Measure) -> TaskPair:
    planned = one[0].planned

    def answered(row: ResultRow) -> bool | None:
        return row.result if measure is Measure.RESULT else row.process

    first, second = (Rate.of(answered(row) for row in rows) for rows in (one, other))
    return TaskPair(
        planned.id,
        planned.title,
        planned.domain,
        first,
        second,
        tokens=_apart(*(_mean([_tokens(row) for row in rows]) for rows in (one, other))),
        dollars=_dollars(one, other),
        seconds=_apart(*(_mean([row.seconds for row in rows]) for rows in (one, other))),
        comment=next((row.comment for row in other if answered(row) is not True and row.comment), ""),
    )


def _tokens(row: ResultRow) -> int | None:
    """Tokens of an attempt; of one that asked no model there are none, and of one that told only some, unknown."""
    if not row.finished or row.tokens_partly:
        return None
    return row.tokens or 0


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean; None where one of the values is not known, as a mean of the others would be of other attempts."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def _apart(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else second - first


def _dollars(one: Sequence[ResultRow], other: Sequence[ResultRow]) -> Decimal | None:
    means = []
    for rows in (one, other):
        known = [row.dollars for row in rows if row.finished and row.dollars is not None]
        if not known or len(known) != len(rows):
            return None
        means.append(sum(known, Decimal(0)) / len(known))
    return means[1] - means[0]
