"""Every table of a set of runs, worked out once, in the order they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from repoassay.economics import Quality
from repoassay.report.outcome_tables import ReportTables, outcome_tables
from repoassay.report.plugin_tables import plugin_tables
from repoassay.report.results import ResultRow
from repoassay.report.tables.errors import MOST_DIAGNOSED, diagnosis_table, errors
from repoassay.report.tables.external import Scores, benchmark_correlations, external
from repoassay.report.tables.sizes import Sizes, repository_tokens, size_correlations, sizes_of
from repoassay.report.tables.tokens import tokens
from repoassay.report.tables.worth import (
    agent_alpha,
    alpha_rows,
    cumulated,
    curves,
    quality_notes,
    repositories,
    repository_alpha,
)

__all__ = ["TableSelection", "figure_out"]


@dataclass(frozen=True, slots=True)
class TableSelection:
    """What goes in beside the runs.

    `scores` are of other benchmarks, `sizes` of repositories. `published` are suites whose published figures stand
    beside; None takes those of the runs. `quality` is reviewed quality by attempt id. At most `diagnosis_table` failed
    attempts are diagnosed.
    """

    scores: Scores = field(default_factory=dict)
    sizes: Sizes = field(default_factory=dict)
    published: tuple[str, ...] | None = None
    quality: Mapping[str, Quality] = field(default_factory=dict)
    diagnosed: int = MOST_DIAGNOSED


def figure_out(rows: Sequence[ResultRow], wanted: TableSelection | None = None) -> ReportTables:
    """Work out every table."""
    given = wanted or TableSelection()
    attempts = alpha_rows(rows, given.quality)
    parts = repositories(attempts)
    said = quality_notes(attempts)
    sizes = sizes_of(rows, given.sizes)
    made = [
        *outcome_tables(rows),
        agent_alpha(attempts, said),
        repository_alpha(parts, said),
        cumulated(curves(parts)),
        errors(rows, diagnosis_table(rows, given.diagnosed)),
        tokens(rows),
        repository_tokens(rows, sizes),
        size_correlations(rows, sizes),
        external(rows, given.scores),
        benchmark_correlations(rows, given.scores),
    ]
    made += plugin_tables(rows, made, given.published)
    return ReportTables(rows, {table.name: table for table in made}, sizes)
