"""How attempts ended: every outcome of every entry, and by whose doing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from repoassay.report.outcomes import OUTCOMES
from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import group_rows, named_runs
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn
from repoassay.types import Outcome

__all__ = ["outcomes"]


def outcomes(rows: Sequence[ResultRow]) -> Table:
    """A row for each entry of a plan, a column for each outcome that occurs and for what is unfinished."""
    several = named_runs(rows)
    present = {row.outcome for row in rows}
    kinds = [outcome for outcome in Outcome if outcome in present]
    made: list[tuple[Cell, ...]] = []
    for (run, agent), members in group_rows(rows, lambda row: (row.run.title if several else "", row.agent)).items():
        counts = Counter(row.outcome for row in members)
        made.append((run, agent, len(members), *(counts[kind] for kind in kinds), counts[None]))
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
        rows=tuple(made),
        notes=tuple(f"{OUTCOMES[kind].word}: {OUTCOMES[kind].meaning} ({kind.whose.value})." for kind in kinds),
    ).without_empty("run")
