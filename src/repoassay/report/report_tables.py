"""Every table of a set of runs, in the order they are shown, and those that benchmarks and plug-ins add.

The latter come through the entry points `repoassay.tables`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from repoassay import plugins
from repoassay.economics import Quality
from repoassay.report.outcome_tables import ReportTables, outcome_tables
from repoassay.report.results import ResultRow
from repoassay.report.tables.cut_offs import cut_offs
from repoassay.report.tables.errors import MOST_DIAGNOSED, diagnosis_table, errors
from repoassay.report.tables.external import Scores, benchmark_correlations, external
from repoassay.report.tables.registry import OfferedTables, are_published
from repoassay.report.tables.sizes import Sizes, repository_tokens, size_correlations, sizes_of
from repoassay.report.tables.tokens import tokens
from repoassay.report.tables.value import Table
from repoassay.report.tables.worth import (
    agent_alpha,
    alpha_rows,
    cumulated,
    curves,
    quality_notes,
    repositories,
    repository_alpha,
)

if TYPE_CHECKING:
    from repoassay.report.reviewed_attempts import ReviewedAttempts

__all__ = ["TableSelection", "figure_out", "plugin_tables", "reviewed_tables"]


@dataclass(frozen=True, slots=True)
class TableSelection:
    """What goes in beside the runs.

    `scores` are of other benchmarks, `sizes` of repositories. `published` are suites whose published figures stand
    beside; None takes those of the runs. `quality` is reviewed quality by attempt id. At most `diagnosis_table` failed
    attempts are diagnosed. `cut_offs` are the days up to which models were trained. `reviewed` is what people said of
    merging attempts.
    """

    scores: Scores = field(default_factory=dict)
    sizes: Sizes = field(default_factory=dict)
    published: tuple[str, ...] | None = None
    quality: Mapping[str, Quality] = field(default_factory=dict)
    diagnosed: int = MOST_DIAGNOSED
    cut_offs: Mapping[str, datetime.date] = field(default_factory=dict)
    reviewed: ReviewedAttempts | None = None


def figure_out(rows: Sequence[ResultRow], wanted: TableSelection | None = None) -> ReportTables:
    """Work out every table."""
    selection = wanted or TableSelection()
    attempts = alpha_rows(rows, selection.quality)
    parts = repositories(attempts)
    notes = quality_notes(attempts)
    sizes = sizes_of(rows, selection.sizes)
    beside = are_published(rows, selection.published)
    result_tables = [
        *outcome_tables(rows, selection.published),
        *reviewed_tables(rows, selection.reviewed),
        *([cut_offs(rows, selection.cut_offs)] if selection.cut_offs else []),
        agent_alpha(attempts, notes),
        repository_alpha(parts, notes),
        cumulated(curves(parts)),
        errors(rows, diagnosis_table(rows, selection.diagnosed)),
        tokens(rows),
        repository_tokens(rows, sizes, with_published=beside),
        size_correlations(rows, sizes, with_published=beside),
        external(rows, selection.scores),
        benchmark_correlations(rows, selection.scores),
    ]
    result_tables += plugin_tables(rows, result_tables, selection.published)
    return ReportTables(rows, {table.name: table for table in result_tables}, sizes, selection.reviewed)


def reviewed_tables(rows: Sequence[ResultRow], reviews: ReviewedAttempts | None) -> list[Table]:
    """Mergeable beside tests; nothing where no study was named."""
    if reviews is None:
        return []
    from repoassay.report.tables.mergeability import mergeability

    return mergeability(rows, reviews)


def plugin_tables(
    rows: Sequence[ResultRow], tables: Sequence[Table], suites: Collection[str] | None = None
) -> list[Table]:
    """Ask every entry for its tables.

    An entry is an `OfferedTables`, asked where its suite is wanted, or a function `(rows, tables)` that returns any
    number of `Table`. A plug-in that raises, that returns something else, or whose table has the name of another is
    passed over with a warning; a bundled one's error is ours and is raised.

    Args:
        rows: The attempts of the report.
        tables: Tables of the report so far.
        suites: Suites whose published tables are wanted, in lower case; None for those of the rows.
    """
    wanted = {row.run.suite.lower() for row in rows} if suites is None else suites
    found: list[Table] = []
    for plugin, entry in plugins.load_all("repoassay.tables"):
        ask = _question(entry, rows, tables, wanted)
        found += ask() if plugin.is_bundled else _checked(plugin, ask, [*tables, *found])
    return found


def _question(
    entry: Any, rows: Sequence[ResultRow], tables: Sequence[Table], wanted: Collection[str]
) -> Callable[[], Iterable[Any]]:
    if not isinstance(entry, OfferedTables):
        return lambda: entry(rows, tables)
    return lambda: entry.tables({table.name: table for table in tables}) if entry.suite in wanted else []


def _checked(plugin: plugins.Plugin, ask: Callable[[], Iterable[Any]], known: Sequence[Table]) -> list[Table]:
    try:
        found: list[Any] = list(ask())
    except Exception as error:  # noqa: BLE001 - a plug-in's bug must not cost the report
        plugins.warn(f"The {plugin.title} failed: {plugins.reason_of(error)}.")
        return []
    names = {table.name for table in known}
    for table in found:
        if not isinstance(table, Table) or table.name in names:
            plugins.warn(f"The {plugin.title} is passed over: it gives no table, or one whose name is taken.")
            return []
        names.add(table.name)
    return found
