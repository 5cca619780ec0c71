"""What a limit does: rates, tokens and cost by its value (after GitTaskBench, Table 7 and Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.report.results import ResultRow
from repoassay.report.tables.frameworks import EXECUTED, UNKNOWN_NOTE, spent_executed
from repoassay.report.tables.groups import group_rows, limits_of, mean, natural, rates
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn
from repoassay.stats import Proportion
from repoassay.types import LIMITS, Outcome

__all__ = ["sweeps", "swept"]


def swept(rows: Sequence[ResultRow]) -> list[str]:
    """Names of limits that have several values within one framework and model, in the order of `LIMITS`."""
    entries = {(row.framework, row.model, row.agent, row.run.id): row.entry.settings for row in rows}
    values: dict[tuple[str, str, str], set[str]] = {}
    for (framework, model, _, _), settings in entries.items():
        for name in LIMITS:
            values.setdefault((framework, model, name), set()).add(settings.get(name, ""))
    return [name for name in LIMITS if any(len(found) > 1 for key, found in values.items() if key[2] == name)]


def sweeps(rows: Sequence[ResultRow], *, with_published: bool = False) -> Table:
    """A row for each framework, model, limit and value; entries that differ in another limit stand apart."""
    found: list[tuple[Cell, ...]] = []
    for name in swept(rows):
        groups = group_rows(rows, lambda row, name=name: (row.framework, row.model, _others(row, name)))  # type: ignore[misc] # bound per turn
        for (framework, model, others), members in groups.items():
            values = group_rows(members, lambda row, name=name: row.entry.settings.get(name, ""))  # type: ignore[misc] # the same
            if len(values) > 1:
                found += [
                    (
                        *_row(framework, model, name, value, others, values[value]),
                        *(spent_executed(values[value]) if with_published else ()),
                    )
                    for value in sorted(values, key=natural)
                ]
    return Table(
        name="sweeps",
        title="Sweeps of limits",
        after="GitTaskBench Table 7 and Figure 5",
        columns=(
            TableColumn("framework", "Framework"),
            TableColumn("model", "Model"),
            TableColumn("limit", "Limit"),
            TableColumn("value", "Value"),
            TableColumn("others", "Other limits"),
            TableColumn("n", "Attempts", ColumnUnit.COUNT),
            TableColumn("ecr", "ECR, all", ColumnUnit.RATE),
            TableColumn("tpr", "TPR, all", ColumnUnit.RATE),
            TableColumn("timed_out", "Stopped by a limit", ColumnUnit.RATE),
            TableColumn("tokens_in", "Tokens in", ColumnUnit.NUMBER, 0),
            TableColumn("tokens_out", "Tokens out", ColumnUnit.NUMBER, 0),
            TableColumn("dollars", "Cost", ColumnUnit.DOLLARS, 4),
            *(EXECUTED if with_published else ()),
        ),
        rows=tuple(found),
        notes=(
            UNKNOWN_NOTE,
            "“Stopped by a limit” counts the outcomes timed out and budget. Tokens and cost (US dollars) are means over"
            " finished attempts where they are known.",
            *(["“Executed”, as in the paper, is over those whose Process is true."] if with_published else []),
            *([] if found else ["No limit has several values for the same framework and model in these runs."]),
        ),
    ).without_empty("model", "others", "tokens_in", "tokens_out", "tokens_in_process", "tokens_out_process")


def _others(row: ResultRow, name: str) -> str:
    return ", ".join(part for part in limits_of(row).split(", ") if part and not part.startswith(f"{name}="))


def _row(framework: str, model: str, name: str, value: str, others: str, rows: Sequence[ResultRow]) -> tuple[Cell, ...]:
    process, result = rates(rows)
    done = [row for row in rows if row.finished]
    stopped = sum(row.outcome in (Outcome.TIMED_OUT, Outcome.BUDGET) for row in done)
    return (
        framework,
        model,
        name,
        value or "none",
        others,
        len(rows),
        process.over_all,
        result.over_all,
        Proportion(stopped, len(done)),
        mean(row.tokens_in for row in done),
        mean(row.tokens_out for row in done),
        mean(row.dollars for row in done),
    )
