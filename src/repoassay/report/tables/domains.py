"""Rates by domain and subdomain (after GitTaskBench, Figure 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from repoassay.report.outcomes import OUTCOMES
from repoassay.report.results import ResultRow
from repoassay.report.tables.frameworks import UNKNOWN_NOTE
from repoassay.report.tables.groups import group_rows, named_runs, rates
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn
from repoassay.types import Outcome

__all__ = ["domains", "outcomes"]


def domains(rows: Sequence[ResultRow], *, subdomains: bool = False) -> Table:
    """A row for each domain (or subdomain) and entry of a plan, domains by name."""
    several = named_runs(rows)
    groups = group_rows(
        rows,
        lambda row: (row.domain, row.subdomain if subdomains else "", row.run.title if several else "", row.agent),
    )
    table_rows = []
    for key in sorted(groups, key=lambda key: key[:2]):
        members = groups[key]
        process, result = rates(members)
        table_rows.append(
            (
                *key,
                len({row.task for row in members}),
                len(members),
                process.over_all,
                process.over_judged,
                result.over_all,
                result.over_judged,
            )
        )
    return Table(
        name="subdomains" if subdomains else "domains",
        title="Subdomains" if subdomains else "Domains",
        after="" if subdomains else "GitTaskBench Figure 4",
        columns=(
            TableColumn("domain", "Domain"),
            TableColumn("subdomain", "Subdomain"),
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("tasks", "Tasks", ColumnUnit.COUNT),
            TableColumn("n", "Attempts", ColumnUnit.COUNT),
            TableColumn("ecr_all", "ECR, all", ColumnUnit.RATE),
            TableColumn("ecr_judged", "ECR, judged", ColumnUnit.RATE),
            TableColumn("tpr_all", "TPR, all", ColumnUnit.RATE),
            TableColumn("tpr_judged", "TPR, judged", ColumnUnit.RATE),
        ),
        rows=tuple(table_rows),
        notes=(UNKNOWN_NOTE,),
    ).without_empty("subdomain", "run")


def outcomes(rows: Sequence[ResultRow]) -> Table:
    """A row for each entry of a plan, a column for each outcome that occurs and for what is unfinished."""
    several = named_runs(rows)
    present = {row.outcome for row in rows}
    kinds = [outcome for outcome in Outcome if outcome in present]
    table_rows: list[tuple[Cell, ...]] = []
    for (run, agent), members in group_rows(rows, lambda row: (row.run.title if several else "", row.agent)).items():
        counts = Counter(row.outcome for row in members)
        table_rows.append((run, agent, len(members), *(counts[kind] for kind in kinds), counts[None]))
    return Table(
        name="outcomes",
        title="Outcomes",
        after="",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("n", "Planned", ColumnUnit.COUNT),
            *(TableColumn(kind.value, OUTCOMES[kind].word, ColumnUnit.COUNT) for kind in kinds),
            TableColumn("unfinished", "unfinished", ColumnUnit.COUNT),
        ),
        rows=tuple(table_rows),
        notes=tuple(f"{OUTCOMES[kind].word}: {OUTCOMES[kind].meaning} ({kind.whose.value})." for kind in kinds),
    ).without_empty("run")
