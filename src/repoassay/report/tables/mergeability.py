"""Whether people would merge what tests passed: agents' two rates on the same attempts, and their differences."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.report.results import ResultRow
from repoassay.report.reviewed import ReviewedAttempts
from repoassay.report.tables.value import ColumnUnit, Estimate, Table, TableColumn
from repoassay.review import Gap
from repoassay.stats import Interval

__all__ = ["mergeability"]


def mergeability(rows: Sequence[ResultRow], reviewed: ReviewedAttempts) -> list[Table]:
    """Mergeable beside tests, and where there are several agents the differences between them."""
    systems, differences = reviewed.compared(rows)
    word = "“would you merge it”" if reviewed.asked else "what the rubric derives from its axes"
    plan = f", plan {reviewed.plan[:12]}" if reviewed.plan else ""
    source = f"Study {reviewed.study}{plan}; mergeable is {word}, by the first answers of people."
    method = (
        "Intervals are 95% and take tasks as the sample, and so do the p-values (sign flips by task): attempts at one"
        " task are not independent."
    )
    beside = Table(
        name="mergeable",
        title="Mergeable beside tests",
        after="METR August 2025",
        columns=(
            TableColumn("agent", "Agent"),
            TableColumn("tasks", "Tasks", ColumnUnit.COUNT),
            TableColumn("n", "Reviewed attempts", ColumnUnit.COUNT),
            TableColumn("tests", "Tests passed", ColumnUnit.ESTIMATE),
            TableColumn("mergeable", "Mergeable", ColumnUnit.ESTIMATE),
            TableColumn("difference", "Tests minus mergeable", ColumnUnit.ESTIMATE),
            TableColumn("p", "p", ColumnUnit.P_VALUE),
            TableColumn("left_out", "An answer is missing", ColumnUnit.COUNT),
        ),
        rows=tuple(
            (
                name, found.tasks, found.n, _estimate(found.tests.value, found.tests_interval),
                _estimate(found.people.value, found.people_interval), _estimate(found.difference, found.interval),
                found.test.p_value, found.left_out,
            )
            for name, found in systems
        ),
        notes=(source, f"Both rates are over the same attempts. {method}"),
    )  # fmt: skip
    if not differences:
        return [beside]
    return [beside, Table(
        name="mergeable_differences",
        title="Differences in mergeable",
        after="",
        columns=(
            TableColumn("first", "First"),
            TableColumn("second", "Second"),
            TableColumn("tasks", "Common tasks", ColumnUnit.COUNT),
            TableColumn("difference", "First minus second", ColumnUnit.ESTIMATE),
            TableColumn("p", "p", ColumnUnit.P_VALUE),
            TableColumn("adjusted", "p, Holm", ColumnUnit.P_VALUE),
        ),
        rows=tuple(
            (first, second, found.tasks, _estimate(found.difference, found.interval), found.test.p_value, adjusted)
            for first, second, found, adjusted in differences
        ),
        notes=(f"Paired by task: the mean over common tasks, each of which counts once. {method}",),
    )]  # fmt: skip


def _estimate(value: float | None, ends: Interval) -> Estimate:
    return Estimate(value, ends.low, ends.high, ends.n, ends.undefined)


def merged_share(found: Gap) -> Estimate:
    """An agent's mergeable rate, over attempts with an answer of people and of tests."""
    return _estimate(found.people.value, found.people_interval)
