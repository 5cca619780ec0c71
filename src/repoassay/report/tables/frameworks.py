"""Frameworks and models: completion, pass, tokens and cost (after GitTaskBench, Table 3)."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import group_rows, limits_of, mean, median, named_runs, rates
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn

__all__ = ["EXECUTED", "UNKNOWN_NOTE", "frameworks", "spent_executed"]

UNKNOWN_NOTE = (
    "Brackets are 95% intervals: Wilson's, or by task where tasks have several attempts. “All” counts every planned"
    " attempt, unknown ones in the denominator; “judged” those whose answer is known. Unknown is never false."
)
EXECUTED = (
    TableColumn("tokens_in_process", "Tokens in, executed", ColumnUnit.NUMBER, 0, better="lower"),
    TableColumn("tokens_out_process", "Tokens out, executed", ColumnUnit.NUMBER, 0, better="lower"),
    TableColumn("dollars_process", "Cost, executed", ColumnUnit.DOLLARS, 4, better="lower"),
)
"""Means over attempts whose Process is true, which papers print."""
_PUBLISHED_NOTES = (
    "Tokens and cost “executed” are means over attempts whose Process is true, as in the published table."
    " Best and 2nd are of a column over all rows; the paper marks them within a framework.",
)


def frameworks(rows: Sequence[ResultRow], *, with_published: bool = False) -> Table:
    """A row for each entry of a plan: framework, model and limits; beside published figures, as those count, too."""
    several = named_runs(rows)
    entries = group_rows(rows, lambda row: (row.run.title if several else "", row.agent))
    return Table(
        name="frameworks",
        title="Frameworks and models",
        after="GitTaskBench Table 3",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("framework", "Framework"),
            TableColumn("model", "Model"),
            TableColumn("limits", "Limits"),
            TableColumn("n", "Attempts", ColumnUnit.COUNT),
            TableColumn("ecr_all", "ECR, all", ColumnUnit.RATE, better="higher"),
            TableColumn("ecr_judged", "ECR, judged", ColumnUnit.RATE),
            TableColumn("tpr_all", "TPR, all", ColumnUnit.RATE, better="higher"),
            TableColumn("tpr_judged", "TPR, judged", ColumnUnit.RATE),
            TableColumn("tokens_in", "Tokens in", ColumnUnit.NUMBER, 0, better="lower"),
            TableColumn("tokens_out", "Tokens out", ColumnUnit.NUMBER, 0, better="lower"),
            TableColumn("dollars", "Cost", ColumnUnit.DOLLARS, 4, better="lower"),
            TableColumn("seconds", "Median wall time", ColumnUnit.SECONDS),
            *(EXECUTED if with_published else ()),
        ),
        rows=tuple(
            (*_row(run, members), *(spent_executed(members) if with_published else ()))
            for (run, _), members in entries.items()
        ),
        notes=(
            UNKNOWN_NOTE,
            "Tokens and cost (US dollars) are means over finished attempts where they are known, as counted at the"
            " gateway; input includes what came from a cache. A dash: no model was asked, or it is not known.",
            *(_PUBLISHED_NOTES if with_published else ()),
            *_cost_notes(rows),
        ),
    ).without_empty("run", "model", "limits", "tokens_in", "tokens_out", "tokens_in_process", "tokens_out_process")


def spent_executed(rows: Sequence[ResultRow]) -> tuple[Cell, ...]:
    """Cells of `EXECUTED`."""
    done = [row for row in rows if row.finished and row.process is True]
    return mean(row.tokens_in for row in done), mean(row.tokens_out for row in done), mean(row.dollars for row in done)


def _row(run: str, rows: Sequence[ResultRow]) -> tuple[Cell, ...]:
    first = rows[0]
    process, result = rates(rows)
    done = [row for row in rows if row.finished]
    return (
        run,
        first.framework,
        first.model,
        limits_of(first),
        len(rows),
        process.over_all,
        process.over_judged,
        result.over_all,
        result.over_judged,
        mean(row.tokens_in for row in done),
        mean(row.tokens_out for row in done),
        mean(row.dollars for row in done),
        median(row.seconds for row in done),
    )


def _cost_notes(rows: Sequence[ResultRow]) -> list[str]:
    done = [row for row in rows if row.finished]
    unknown = sum(row.dollars is None for row in done)
    partly = sum(row.tokens_partly for row in done)
    notes = [f"The cost of {unknown} of {len(done)} finished attempts is unknown and left out of the mean."] * bool(
        unknown
    )
    return notes + [f"In {partly} attempts some calls told no tokens: their tokens are a lower bound."] * bool(partly)
