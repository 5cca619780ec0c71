"""Which attempts people reviewed in a study, and their mergeable rate beside the rate of tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repoassay.errors import BadInput
from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import named_runs
from repoassay.review import (
    Gap,
    ItemSummary,
    Rubric,
    SystemDifference,
    SystemFigures,
    TaskDifference,
    compare_systems,
    counted_rows,
    gap,
    open_database,
    plan_hash,
    read_rubric_of,
    study_names,
    task_difference,
)
from repoassay.stats import Interval, Proportion
from repoassay.text import one_line

if TYPE_CHECKING:
    from repoassay.db import Database

__all__ = ["ReviewedAttempts", "open_reviews", "read_reviews", "reviews_document"]


@dataclass(frozen=True, slots=True)
class ReviewedAttempts:
    """The reviewed attempts of one study, by attempt id; controls and what is excluded there are not among them.

    `asked` is whether being mergeable is what raters answered, because their rubric derives nothing from its axes.
    """

    study: str
    plan: str
    asked: bool
    rows: Mapping[str, ItemSummary]

    def of(self, rows: Iterable[ResultRow]) -> list[ItemSummary]:
        """What was said of those of the rows that were reviewed."""
        return [self.rows[row.attempt] for row in rows if row.attempt in self.rows]

    def gap_of(self, rows: Iterable[ResultRow]) -> Gap:
        """Tests against people on the reviewed ones of these rows."""
        return gap(self.of(rows), would_merge=self.asked)

    def difference(self, first: Iterable[ResultRow], second: Iterable[ResultRow]) -> TaskDifference:
        """The mergeable rate of the second system minus that of the first, paired by task, as `compare` counts."""
        return task_difference(self.of(second), self.of(first), "would_merge" if self.asked else "mergeable")

    def compared(
        self, rows: Sequence[ResultRow]
    ) -> tuple[list[tuple[str, Gap]], list[tuple[str, str, TaskDifference, float | None]]]:
        """Every agent with its gap, and every pair with its difference (first minus second) and Holm's p-value."""
        several = named_runs(rows)
        names = {
            self.rows[row.attempt].item: f"{row.run.title}: {row.agent}" if several else row.agent
            for row in rows
            if row.attempt in self.rows
        }
        systems, differences = compare_systems(self.of(rows), names)
        return [(one.name, self._gap(one)) for one in systems], [
            (one.first, one.second, *self._difference(one)) for one in differences
        ]

    def _gap(self, one: SystemFigures) -> Gap:
        return one.asked if self.asked else one.gap

    def _difference(self, one: SystemDifference) -> tuple[TaskDifference, float | None]:
        return (one.would_merge, one.would_merge_adjusted) if self.asked else (one.mergeable, one.adjusted)


def open_reviews(where: str) -> Database:
    """Open a database of reviews that is there.

    Raises:
        BadInput: When there is none.
        MissingExtra: Without the extra `review`.
    """
    if "://" not in where and not Path(where).is_file():
        raise BadInput(f"{where} is not a file.", "Name the database of `repoassay review`.")
    return open_database(where)


def read_reviews(where: str, study: str = "") -> ReviewedAttempts | None:
    """Read what people said of attempts, first answers alone.

    Args:
        where: A file that `repoassay review` made, or the URL of a PostgreSQL database.
        study: Which study; empty for the only one that asks whether to merge.

    Returns:
        None where no study asks that and none was named.

    Raises:
        BadInput: When there is no such database or study, the study does not ask it, or several do and none is named.
        MissingExtra: Without the extra `review`.
    """
    database = open_reviews(where)
    try:
        rubrics = {name: read_rubric_of(database, name) for name in ([study] if study else study_names(database))}
        asking = [name for name, rubric in rubrics.items() if _asks(rubric)]
        if study and not asking:
            raise BadInput(f"The study {one_line(study, 80)!r} does not ask whether to merge.", "Name another --study.")
        if len(asking) > 1:
            named = ", ".join(one_line(name, 60) for name in asking[:8])
            raise BadInput(f"Several studies in {where} ask whether to merge: {named}.", "Name one with --study.")
        return _read(database, asking[0], rubrics[asking[0]]) if asking else None
    finally:
        database.close()


def _asks(rubric: Rubric) -> bool:
    return rubric.rule != "none" or any(question.key == "would_merge" for question in rubric.questions)


def _read(database: Database, study: str, rubric: Rubric) -> ReviewedAttempts:
    known = counted_rows(database, study)
    rows = {
        attempt: row for row in known.rows if row.golden is None and (attempt := known.items[row.item].hidden.attempt)
    }
    return ReviewedAttempts(study, plan_hash(database, study), rubric.rule == "none", rows)


def reviews_document(reviews: ReviewedAttempts, rows: Sequence[ResultRow]) -> dict[str, Any]:
    """For programs: agents with both rates, and their differences, first minus second; shares from 0 to 1."""
    systems, differences = reviews.compared(rows)
    return {
        "study": reviews.study,
        "plan_hash": reviews.plan,
        "asked": reviews.asked,
        "agents": [
            {
                "name": name,
                "tasks": found.tasks,
                "reviewed": found.n,
                "left_out": found.left_out,
                "tests": _share(found.tests, found.tests_interval),
                "mergeable": _share(found.people, found.people_interval),
                "tests_minus_mergeable": {
                    "value": found.difference, **_ends(found.interval), "p_value": found.test.p_value,
                    "test": found.test.method,
                },
            }
            for name, found in systems
        ],
        "differences": [
            {"first": first, "second": second, **difference_document(found), "p_adjusted": adjusted}
            for first, second, found, adjusted in differences
        ],
    }  # fmt: skip


def difference_document(difference: TaskDifference) -> dict[str, Any]:
    """A difference of two mergeable rates for programs."""
    return {
        "tasks": difference.tasks, "value": difference.difference, **_ends(difference.interval),
        "p_value": difference.test.p_value, "test": difference.test.method,
    }  # fmt: skip


def _share(share: Proportion, ends: Interval) -> dict[str, Any]:
    return {"successes": share.successes, "n": share.n, "value": share.value, **_ends(ends)}


def _ends(ends: Interval) -> dict[str, Any]:
    return {"low": ends.low, "high": ends.high, "method": ends.method, "undefined": ends.undefined}
