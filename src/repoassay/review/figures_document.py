"""All figures of a study in one document: over all, by agent or model, and the systems' differences by task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from enum import Enum
from itertools import combinations
from statistics import fmean
from typing import Any, Literal

from repoassay.db import Database
from repoassay.errors import MissingExtra
from repoassay.review.failures import AxisFailures, ReviewProblems, failure_table, problems_per_submission
from repoassay.review.item_summary import ItemSummary
from repoassay.review.mergeability_gap import Controls, Gap, controls, gap
from repoassay.review.minutes import Minutes, MinutesDifference, minutes_difference, minutes_to_fix
from repoassay.review.plan import system_of
from repoassay.review.plan_store import Amendment, amendments_of, plan_of
from repoassay.review.rater_quality import RaterDrift, rater_drift
from repoassay.review.rater_statistics import Order, RaterSeverity, order_effects, severity
from repoassay.review.reliability import Agreement, agreement
from repoassay.review.study import HiddenPart
from repoassay.review.study_rows import counted_rows
from repoassay.stats import (
    Interval,
    MixedLogistic,
    Significance,
    clustered_difference,
    clustered_test,
    fit_mixed_logistic,
    holm,
)
from repoassay.types import Rating, RatingPhase

__all__ = [
    "StudyFigures",
    "SystemDifference",
    "SystemFigures",
    "TaskDifference",
    "compare_systems",
    "study_figures",
    "task_difference",
]

Grouping = Literal["system", "agent", "model"]


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """One rate of a first system minus that of a second: the mean over common tasks, each of which counts once.

    `interval` and `test` take tasks as the sample. `difference` is None without common tasks.
    """

    tasks: int
    difference: float | None
    interval: Interval
    test: Significance


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """One system: tests against mergeable (`gap`), and against what raters would merge (`asked`); minutes to fix."""

    name: str
    gap: Gap
    asked: Gap
    minutes: Minutes


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """Two systems on the same tasks.

    `adjusted` is the p-value of `mergeable` by Holm over all pairs of the study, `would_merge_adjusted` the other's.
    """

    first: str
    second: str
    mergeable: TaskDifference
    would_merge: TaskDifference
    tests: TaskDifference
    adjusted: float | None
    would_merge_adjusted: float | None
    minutes_to_fix: MinutesDifference
    mixed: MixedLogistic | None = None


@dataclass(frozen=True, slots=True)
class StudyFigures:
    """Every figure of a study. `plan_hash` is empty without a plan; `excluded` says why items are in no figure."""

    study: str
    phase: str
    by: str
    plan_hash: str
    plan_frozen: str
    amendments: tuple[Amendment, ...]
    items: int
    ratings: int
    excluded: dict[str, str]
    gap: Gap
    asked: Gap
    systems: tuple[SystemFigures, ...]
    differences: tuple[SystemDifference, ...]
    failures: tuple[AxisFailures, ...]
    problems: ReviewProblems
    minutes: dict[str, Minutes]
    controls: Controls
    agreement: tuple[Agreement, ...]
    severity: tuple[RaterSeverity, ...]
    order: Order
    drift: tuple[RaterDrift, ...]

    def to_dict(self) -> dict[str, Any]:
        """The document as JSON values."""
        found = _plain(self)
        assert isinstance(found, dict)
        return found


def study_figures(
    database: Database,
    study: str,
    phase: RatingPhase = RatingPhase.BLIND,
    grouping: Grouping = "system",
    *,
    models: bool = False,
) -> StudyFigures:
    """Compute every figure of a study.

    Args:
        database: Where the study is.
        study: Its name.
        phase: `blind` for first answers; `revealed` for the last, blind ones included where nobody amended.
        grouping: What systems are: agent with model, or either alone.
        models: Whether to fit a mixed model of every two systems, too: a second or more each.

    Raises:
        BadInput: When there is no such study.
    """
    known = counted_rows(database, study, phase)
    rubric, kept, counted = known.rubric, known.rows, known.ratings
    plan = plan_of(database, study)
    hidden = {name: item.hidden for name, item in known.items.items()}
    names = {
        name: system_of(each) if grouping == "system" else getattr(each, grouping) for name, each in hidden.items()
    }
    systems, differences = compare_systems(kept, names)
    if models:
        differences = tuple(
            replace(one, mixed=mixed_effect(counted, hidden, names, one.first, one.second)) for one in differences
        )
    return StudyFigures(
        study=study,
        phase=phase.value,
        by=grouping,
        plan_hash="" if plan is None else plan.digest,
        plan_frozen="" if plan is None or plan.frozen is None else plan.frozen.isoformat(),
        amendments=amendments_of(database, study),
        items=len(kept),
        ratings=len(counted),
        excluded=dict(known.excluded),
        gap=gap(kept),
        asked=gap(kept, would_merge=True),
        systems=systems,
        differences=differences,
        failures=failure_table(kept, rubric),
        problems=problems_per_submission(kept, rubric),
        minutes=minutes_to_fix(kept),
        controls=controls(kept),
        agreement=agreement(counted, rubric, tasks={name: each.task for name, each in hidden.items()})
        if counted
        else (),
        severity=severity(counted, rubric),
        order=order_effects(counted, rubric),
        drift=rater_drift(counted, hidden, rubric),
    )


def compare_systems(
    rows: Sequence[ItemSummary], names: dict[str, str]
) -> tuple[tuple[SystemFigures, ...], tuple[SystemDifference, ...]]:
    """Return figures of each system and of every pair, by name.

    Args:
        rows: Reviewed submissions; controls are left aside.
        names: The system of each item.
    """
    groups: dict[str, list[ItemSummary]] = {}
    for row in rows:
        if row.golden is None:
            groups.setdefault(names[row.item] or "not known", []).append(row)
    systems = tuple(
        SystemFigures(name, gap(group), gap(group, would_merge=True), minutes_to_fix(group)["all"])
        for name, group in sorted(groups.items())
    )
    found = []
    for first, second in combinations(sorted(groups), 2):
        merged, would_merge, tests = (
            task_difference(groups[first], groups[second], key) for key in ("mergeable", "would_merge", "tests")
        )
        minutes = minutes_difference(groups[first], groups[second])
        found.append(SystemDifference(first, second, merged, would_merge, tests, None, None, minutes))
    adjusted = holm([each.mergeable.test.p_value for each in found])
    would = holm([each.would_merge.test.p_value for each in found])
    return systems, tuple(
        replace(one, adjusted=p_value, would_merge_adjusted=other)
        for one, p_value, other in zip(found, adjusted, would, strict=True)
    )


def mixed_effect(
    ratings: Iterable[Rating], hidden_parts: Mapping[str, HiddenPart], names: Mapping[str, str], first: str, second: str
) -> MixedLogistic:
    """Fit the odds of `first` against `second`, with random intercepts for task, task by system, submission and rater.

    Args:
        ratings: Of the items that count; what they say of merging is derived from the axes, or else what was asked.
        hidden_parts: The hidden half of each item; controls are left aside.
        names: The system of each item.
        first: One system.
        second: Another.
    """
    answers: list[bool] = []
    mine: list[bool] = []
    places: dict[str, list[object]] = {"task": [], "task by system": [], "submission": [], "rater": []}
    for rating in ratings:
        item, system = hidden_parts[rating.submission], names[rating.submission]
        answer = rating.mergeable if rating.mergeable is not None else rating.would_merge
        if item.golden is not None or answer is None or system not in (first, second):
            continue
        answers.append(answer)
        mine.append(system == first)
        cell = (item.task, item.task + "\0" + system, rating.submission, rating.rater)
        for values, value in zip(places.values(), cell, strict=True):
            values.append(value)
    try:
        return fit_mixed_logistic(answers, mine, places)
    except MissingExtra as error:
        reason = f"not fitted: {error}"
        nothing = Interval(None, None, "logistic mixed model", 0, reason)
        return MixedLogistic(None, nothing, Significance(None, None, nothing.method, 0, reason), {}, False, 0)


def task_difference(first: Sequence[ItemSummary], second: Sequence[ItemSummary], key: str) -> TaskDifference:
    """The rate of the first system minus that of the second on the tasks both have.

    Args:
        first: Reviewed submissions of one system.
        second: Of the other.
        key: What is a success: `mergeable`, `would_merge` or `tests`.
    """
    ours, theirs = _by_task(first, key), _by_task(second, key)
    common = sorted(ours.keys() & theirs.keys())
    values = [[fmean(ours[task]) - fmean(theirs[task])] for task in common]
    pairs = sum(min(len(ours[task]), len(theirs[task])) for task in common)
    mean = fmean(value for [value] in values) if values else None
    return TaskDifference(len(common), mean, clustered_difference(values, pairs=pairs), clustered_test(values))


def _by_task(rows: Sequence[ItemSummary], key: str) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for row in rows:
        if (answer := getattr(row, key)) is not None:
            found.setdefault(row.task, []).append(answer)
    return found


def _plain(value: object) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {key: _plain(part) for key, part in asdict(value).items()}
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
