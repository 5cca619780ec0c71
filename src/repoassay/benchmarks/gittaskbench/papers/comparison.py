"""Published figures of GitTaskBench beside those of these runs, one table for each published table."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.benchmarks.gittaskbench.papers.rows import (
    AlphaFigures,
    ErrorShare,
    MeanFigure,
    RunFigures,
    SweepFigures,
)
from repoassay.benchmarks.gittaskbench.papers.tables import PAPER
from repoassay.report import (
    THESE_RUNS,
    Cell,
    ColumnUnit,
    OfferedTables,
    SizeFigure,
    Table,
    TableColumn,
    cells_by_key,
    share_of,
)

__all__ = ["GITTASKBENCH"]

_RATES = (
    TableColumn("ecr", "ECR", ColumnUnit.SHARE, 2, "higher"),
    TableColumn("tpr", "TPR", ColumnUnit.SHARE, 2, "higher"),
    TableColumn("tokens_in_process", "Tokens in, executed", ColumnUnit.NUMBER, 0, "lower"),
    TableColumn("tokens_out_process", "Tokens out, executed", ColumnUnit.NUMBER, 0, "lower"),
    TableColumn("dollars_process", "Cost, executed", ColumnUnit.DOLLARS, 4, "lower"),
)
_MARKED = "Best and 2nd are of a column over all rows; the paper marks them within a framework."
_EXECUTED = "Tokens and cost are means over executed attempts (Process true), in these runs as in the paper."
RELEASED_AS = {
    "InvisibleWatermark": "invisible-watermark",
    "NeuroKit": "neurokit2",
    "PyPDF2": "pypdf",
    "TransparentBackground": "transparent-background",
}
"""Repository in the paper -> the release that `--repositories released` takes for it, where more than case differs."""
_PAPER_NAMES = {release: name for name, release in RELEASED_AS.items()}


def _gittaskbench(tables: Mapping[str, Table]) -> list[Table]:
    """Published tables of GitTaskBench, each after the rows of the table of these runs that is like it."""
    return [
        _frameworks(tables["frameworks"]),
        _sweeps(tables["sweeps"]),
        _alpha(tables["alpha_by_repository"]),
        _errors(tables["errors"]),
        _repositories(tables["repository_tokens"]),
    ]


def _sizes() -> dict[str, dict[str, float]]:
    """Sizes of GitTaskBench's repositories, by measure."""
    sizes: dict[str, dict[str, float]] = {}
    for figure in PAPER.read("gittaskbench-table-05", SizeFigure).row:
        for name in filter(None, (figure.repository, RELEASED_AS.get(figure.repository))):
            sizes.setdefault(figure.measure, {}).setdefault(name, float(figure.value))
    return sizes


def _frameworks(own: Table) -> Table:
    keys = ("framework", "model", "ecr_all", "tpr_all", "tokens_in_process", "tokens_out_process", "dollars_process")
    rows: list[tuple[Cell, ...]] = [(THESE_RUNS, *cells_by_key(own, index, *keys)) for index in range(len(own.rows))]
    tables = [PAPER.read(name, RunFigures) for name in ("gittaskbench-table-03", "gittaskbench-leaderboard")]
    for table in tables:
        rows += [
            (
                table.table.cited, row.framework, row.model + row.marks, share_of(row.ecr), share_of(row.tpr),
                float(row.input_thousands * 1000), float(row.output), row.cost,
            )
            for row in table.row
        ]  # fmt: skip
    return Table(
        "published_frameworks",
        "Beside the published frameworks and models",
        "GitTaskBench Table 3",
        (
            TableColumn("source", "Source"),
            TableColumn("framework", "Framework"),
            TableColumn("model", "Model"),
            *_RATES,
        ),
        tuple(rows),
        (
            "Rates of these runs are over all planned attempts.",
            _EXECUTED,
            _MARKED,
            *(one.table.origin for one in tables),
        ),
    )


def _sweeps(own: Table) -> Table:
    spent = ("tokens_in_process", "tokens_out_process", "dollars_process")
    keys = ("framework", "model", "limit", "value", "ecr", "tpr", *spent)
    rows: list[tuple[Cell, ...]] = [(THESE_RUNS, *cells_by_key(own, index, *keys)) for index in range(len(own.rows))]
    table = PAPER.read("gittaskbench-table-07", SweepFigures)
    for row in table.row:
        iterations = f", max_iterations={row.iterations}" if row.iterations else ""
        thousands = row.input_thousands
        rows.append(
            (
                table.table.cited, "OpenHands", "GPT-4o", "timeout", f"{row.seconds}{iterations}", share_of(row.ecr),
                share_of(row.tpr), None if thousands is None else float(thousands * 1000),
                None if row.output is None else float(row.output), row.computed_cost,
            )
        )  # fmt: skip
    return Table(
        "published_sweeps", "Beside the published sweeps", "GitTaskBench Table 7",
        (TableColumn("source", "Source"), TableColumn("framework", "Framework"), TableColumn("model", "Model"),
         TableColumn("limit", "Limit"), TableColumn("value", "Value"), *_RATES),
        tuple(rows), (_EXECUTED, _MARKED, table.table.origin),
    )  # fmt: skip


def _alpha(own: Table) -> Table:
    """A row a repository, as in the paper, and a column for each agent of these runs and each model of the paper."""
    ours: dict[str, dict[str, Cell]] = {}
    for index in range(len(own.rows)):
        repository, run, agent, alpha = cells_by_key(own, index, "repository", "run", "agent", "alpha")
        name = ", ".join(str(part) for part in (run, agent) if part)
        ours.setdefault(_paper_name(str(repository)), {})[name] = alpha
    table = PAPER.read("gittaskbench-table-10", AlphaFigures)
    theirs = {row.repository: row for row in table.row}
    agents = list(dict.fromkeys(name for found in ours.values() for name in found))
    models = list(table.row[0].alpha)
    rows = [
        (
            name,
            theirs[name].n if name in theirs else None,
            *(ours.get(name, {}).get(agent) for agent in agents),
            *(theirs[name].alpha.get(model) if name in theirs else None for model in models),
        )
        for name in dict.fromkeys((*theirs, *ours))
    ]
    return Table(
        "published_alpha", "Beside the published alpha by repository", "GitTaskBench Table 10",
        (TableColumn("repository", "Repository"), TableColumn("n", "Tasks in the paper", ColumnUnit.COUNT),
         *(TableColumn(f"alpha_{number}", f"{THESE_RUNS}: {agent}", ColumnUnit.DOLLARS, 3)
           for number, agent in enumerate(agents, 1)),
         *(TableColumn(f"published_{number}", f"{table.table.cited}: OpenHands, {model}", ColumnUnit.DOLLARS, 3)
           for number, model in enumerate(models, 1))),
        tuple(rows),
        ("US dollars an attempt here and a task in the paper; strict alpha is in the table of these runs alone. A dash:"
         " not run, or not known. Releases that --repositories released takes have the paper's names.",
         table.table.origin),
    )  # fmt: skip


def _paper_name(repository: str) -> str:
    """The name that the paper has for a repository, whatever release of it was taken; any other name as it is."""
    known = {row.repository.lower(): row.repository for row in PAPER.read("gittaskbench-table-10", AlphaFigures).row}
    return _PAPER_NAMES.get(repository.lower()) or known.get(repository.lower(), repository)


def _errors(own: Table) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (THESE_RUNS, *cells_by_key(own, index, "agent", "class", "primary")) for index in range(len(own.rows))
    ]
    table = PAPER.read("gittaskbench-figure-07", ErrorShare)
    rows += [
        (table.table.cited, ", ".join(filter(None, (row.framework, row.model))), row.class_, share_of(row.percent))
        for row in table.row
    ]
    return Table(
        "published_errors", "Beside the published shares of error classes", "GitTaskBench Figure 7",
        (TableColumn("source", "Source"), TableColumn("agent", "Agent"), TableColumn("class", "Class"),
         TableColumn("share", "Share of failures", ColumnUnit.SHARE, 2)),
        tuple(rows), (table.table.origin,),
    )  # fmt: skip


def _repositories(own: Table) -> Table:
    """Sizes of the repositories of these runs, as far as they are known, and the paper's: cells, then means."""
    measures = [column.key for column in own.columns if column.key.startswith("size_")]
    ours: dict[tuple[str, str], Cell] = {}
    for index in range(len(own.rows)):
        (repository,) = cells_by_key(own, index, "repository")
        for key in measures:
            (value,) = cells_by_key(own, index, key)
            ours[_paper_name(str(repository)), key.removeprefix("size_").replace("_", " ")] = value
    rows: list[tuple[Cell, ...]] = [
        (THESE_RUNS, repository, measure, value, None, None) for (repository, measure), value in ours.items()
    ]
    cells, means = PAPER.read("gittaskbench-table-05", SizeFigure), PAPER.read("gittaskbench-table-02", MeanFigure)
    rows += [(cells.table.cited, row.repository, row.measure, float(row.value), None, None) for row in cells.row]
    rows += [
        (means.table.cited, "mean of 18", row.measure, float(row.mean),
         None if row.low is None else float(row.low), None if row.high is None else float(row.high))
        for row in means.row
    ]  # fmt: skip
    return Table(
        "published_sizes", "Beside the published sizes of repositories", "GitTaskBench Tables 2 and 5",
        (TableColumn("source", "Source"), TableColumn("repository", "Repository"), TableColumn("measure", "Measure"),
         TableColumn("value", "Value", ColumnUnit.NUMBER, 2), TableColumn("low", "from", ColumnUnit.NUMBER, 0),
         TableColumn("high", "to", ColumnUnit.NUMBER, 0)),
        tuple(rows),
        ("Sizes of these runs are as given with --sizes, else surveyed where the suite has the repository's files, else"
         " the paper's.", cells.table.origin, means.table.origin, f"Missing: {'; '.join(cells.table.missing)}."),
    )  # fmt: skip


GITTASKBENCH = OfferedTables("gittaskbench", _gittaskbench, _sizes)
