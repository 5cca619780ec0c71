"""Rates by domain and subdomain (after GitTaskBench, Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.report.results import ResultRow
from repoassay.report.tables.frameworks import UNKNOWN_NOTE
from repoassay.report.tables.groups import by, named_runs, rates
from repoassay.report.tables.value import Column, Table, Unit

__all__ = ["domains"]


def domains(rows: Sequence[ResultRow], *, subdomains: bool = False) -> Table:
    """A row for each domain (or subdomain) and entry of a plan, domains by name."""
    several = named_runs(rows)
    groups = by(
        rows,
        lambda row: (row.domain, row.subdomain if subdomains else "", row.run.title if several else "", row.agent),
    )
    made = []
    for key in sorted(groups, key=lambda key: key[:2]):
        members = groups[key]
        process, result = rates(members)
        made.append(
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
            Column("domain", "Domain"),
            Column("subdomain", "Subdomain"),
            Column("run", "Run"),
            Column("agent", "Agent"),
            Column("tasks", "Tasks", Unit.COUNT),
            Column("n", "Attempts", Unit.COUNT),
            Column("ecr_all", "ECR, all", Unit.RATE),
            Column("ecr_judged", "ECR, judged", Unit.RATE),
            Column("tpr_all", "TPR, all", Unit.RATE),
            Column("tpr_judged", "TPR, judged", Unit.RATE),
        ),
        rows=tuple(made),
        notes=(UNKNOWN_NOTE,),
    ).without_empty("subdomain", "run")
