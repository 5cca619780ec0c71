"""Tokens against the size of the repository (after GitTaskBench, Figures 8 and 9)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.report.results import ResultRow
from repoassay.report.tables.correlations import COEFFICIENTS, correlation_table
from repoassay.report.tables.groups import group_rows, label_of, mean
from repoassay.report.tables.registry import offered_tables
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn
from repoassay.survey import survey_repository

__all__ = ["TOKEN_MEANS", "Sizes", "repository_tokens", "size_correlations", "sizes_of"]

Sizes = Mapping[str, Mapping[str, float]]
"""Measure -> repository (as named in the plan) -> its size."""

_MEASURES = ("files", "code_lines", "functions", "tokens")
_FEWEST = 3
TOKEN_MEANS = {
    "mean_tokens": "in and out, finished",
    "tokens_in_process": "in, executed",
    "tokens_in_result": "in, passed",
}
"""Columns of `repository_tokens` that are means of tokens, and what they are of."""
_PUBLISHED_COLUMNS = (
    TableColumn("n_process", "Executed", ColumnUnit.COUNT),
    TableColumn("tokens_in_process", "Tokens in, executed", ColumnUnit.NUMBER, 0),
    TableColumn("n_result", "Passed", ColumnUnit.COUNT),
    TableColumn("tokens_in_result", "Tokens in, passed", ColumnUnit.NUMBER, 0),
)
_PUBLISHED_NOTE = (
    "Tokens in, executed or passed, are input alone where Process (the paper's Figure 8) or Result (Figure 9) is true."
)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def sizes_of(rows: Sequence[ResultRow], published_sizes: Sizes | None = None) -> dict[str, dict[str, float]]:
    """Sizes of the repositories in the rows.

    In this order: what is given; a survey of repositories that lie in the suite's own folder on this machine; what
    the rows' benchmark offers (`tables.registry`). Repositories are matched without regard to case.
    """
    wanted = {row.repository.lower(): row.repository for row in rows if row.repository}
    found: dict[str, dict[str, float]] = {}
    for measure, figures in (published_sizes or {}).items():
        for name, value in figures.items():
            if name.lower() in wanted:
                found.setdefault(measure, {})[wanted[name.lower()]] = value
    for name, folder in sorted({(row.repository, row.run.suite_folder) for row in rows if row.repository}):
        for measure, value in _surveyed(folder, name).items():
            found.setdefault(measure, {}).setdefault(name, value)
    suites = {row.run.suite for row in rows}
    for offer in (offer for suite, offer in offered_tables().items() if suite in suites):
        for measure, figures in offer.sizes().items():
            for name, value in figures.items():
                if name.lower() in wanted:
                    found.setdefault(measure, {}).setdefault(wanted[name.lower()], value)
    return {measure: dict(sorted(found[measure].items())) for measure in sorted(found)}


def _surveyed(suite_folder: str, name: str) -> dict[str, float]:
    """Measures of a repository that came with the suite; nothing where it is not there."""
    folder = Path(suite_folder) / "repositories" / name
    if not _PLAIN.fullmatch(name) or folder.is_symlink() or not folder.is_dir():
        return {}
    try:
        measures = asdict(survey_repository(folder).measures)
    except BadInput:
        return {}
    return {measure: float(measures[measure]) for measure in _MEASURES if measures[measure] is not None}


def repository_tokens(rows: Sequence[ResultRow], sizes: Sizes, *, with_published: bool = False) -> Table:
    """A row for each repository and framework with its model: sizes, and mean tokens of an attempt.

    Where published figures stand beside, also tokens over their denominators.
    """
    groups = group_rows(
        (row for row in rows if row.finished), lambda row: (row.repository or "(not kept)", label_of(row))
    )
    table_rows: list[tuple[Cell, ...]] = []
    for (repository, label), members in sorted(groups.items()):
        known = [row for row in members if row.tokens is not None]
        table_rows.append(
            (
                repository,
                label,
                len({row.task for row in members}),
                len(known),
                mean(row.tokens for row in known),
                *(sizes[measure].get(repository) for measure in sizes),
                *(_published_means(members) if with_published else ()),
            )
        )
    return Table(
        name="repository_tokens",
        title="Tokens and the size of the repository",
        after="GitTaskBench Figures 8 and 9",
        columns=(
            TableColumn("repository", "Repository"),
            TableColumn("agent", "Agent"),
            TableColumn("tasks", "Tasks", ColumnUnit.COUNT),
            TableColumn("n", "Attempts with a model", ColumnUnit.COUNT),
            TableColumn("mean_tokens", "Mean tokens", ColumnUnit.NUMBER, 0),
            *(TableColumn(f"size_{measure}", measure.replace("_", " "), ColumnUnit.NUMBER, 0) for measure in sizes),
            *(_PUBLISHED_COLUMNS if with_published else ()),
        ),
        rows=tuple(table_rows),
        notes=(
            "Mean over finished attempts whose tokens are known, input and output together. Sizes are as given, else"
            " surveyed where the suite has the repository's files, else of the paper's Table 5; a dash: not known.",
            *([_PUBLISHED_NOTE] if with_published else []),
        ),
    )


def _published_means(rows: Sequence[ResultRow]) -> tuple[Cell, ...]:
    """Cells of `_PUBLISHED_COLUMNS`."""
    known = [row for row in rows if row.tokens_in is not None]
    executed = [row.tokens_in for row in known if row.process is True]
    passed = [row.tokens_in for row in known if row.result is True]
    return len(executed), mean(executed), len(passed), mean(passed)


def size_correlations(rows: Sequence[ResultRow], sizes: Sizes, *, with_published: bool = False) -> Table:
    """Correlation of mean tokens with each measure of size, for each framework with its model, over repositories."""
    table = repository_tokens(rows, sizes, with_published=with_published)
    means = TOKEN_MEANS if with_published else {"mean_tokens": ""}
    agents = list(dict.fromkeys(map(str, table.column("agent"))))
    table_rows: list[tuple[Cell, ...]] = []
    for measure, (key, title), agent in itertools.product(sizes, means.items(), agents):
        pairs = [
            (size, tokens)
            for name, tokens, size in zip(
                table.column("agent"), table.column(key), table.column(f"size_{measure}"), strict=True
            )
            if name == agent and isinstance(size, float) and isinstance(tokens, float)
        ]
        if len(pairs) >= _FEWEST:
            table_rows.append(
                (measure.replace("_", " "), *([title] * with_published), agent, *correlation_table(pairs))
            )
    least = f"It takes {_FEWEST} repositories whose size is known; these runs have {_largest_count(sizes)}."
    return Table(
        name="size_correlation",
        title="Correlation of tokens with the size of the repository",
        after="GitTaskBench Figures 8 and 9",
        columns=(
            TableColumn("measure", "Measure"),
            *([TableColumn("tokens", "Tokens")] * with_published),
            TableColumn("agent", "Agent"),
            *COEFFICIENTS,
        ),
        rows=tuple(table_rows),
        notes=(
            "Over repositories, each weighing alike, between its size and the mean tokens of an attempt at it.",
            "p-values are two-sided and not corrected for their number.",
            *([_PUBLISHED_NOTE] if with_published else []),
            *([] if table_rows else [least]),
        ),
    ).without_empty("undefined")


def _largest_count(sizes: Sizes) -> int:
    return max(map(len, sizes.values()), default=0)
