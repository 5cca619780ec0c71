"""Rates by whether a model may have seen a task: tasks known before its cut-off date, after it, and undated ones."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence

from repoassay.errors import BadInput
from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import group_rows, named_runs, rates
from repoassay.report.tables.value import ColumnUnit, Table, TableColumn
from repoassay.text import quote

__all__ = ["SIDES", "cut_off_of", "cut_off_sides", "cut_offs", "read_cut_offs"]

SIDES = ("before", "after", "undated")


def read_cut_offs(texts: Iterable[str]) -> dict[str, datetime.date]:
    """Read `MODEL=DATE`; a model is `provider/name`, or the name alone.

    Raises:
        BadInput: When one is none, or a model has two.
    """
    found: dict[str, datetime.date] = {}
    for text in texts:
        model, _, day = text.rpartition("=")
        try:
            date = datetime.date.fromisoformat(day.strip())
        except ValueError as error:
            raise BadInput(f"The cut-off {quote(text)} has no date.", "Write MODEL=YYYY-MM-DD.") from error
        if not model.strip() or found.setdefault(model.strip(), date) != date:
            raise BadInput(f"The cut-off {quote(text)} names no model, or one twice.", "Write MODEL=YYYY-MM-DD.")
    return found


def cut_off_of(model: str, days: Mapping[str, datetime.date]) -> datetime.date | None:
    """A model's cut-off date, by its whole name or the part after the provider; None where nobody gave one."""
    return days.get(model) or days.get(model.partition("/")[2]) if model else None


def cut_off_sides(rows: Sequence[ResultRow], day: datetime.date) -> dict[str, list[ResultRow]]:
    """Rows by side: of tasks known on or before the day, of later ones, and of tasks that state no day."""
    found: dict[str, list[ResultRow]] = {side: [] for side in SIDES}
    for row in rows:
        since = row.planned.known_since
        found["undated" if since is None else "before" if since <= day.isoformat() else "after"].append(row)
    return found


def cut_offs(rows: Sequence[ResultRow], days: Mapping[str, datetime.date]) -> Table:
    """Two or three rows for each agent whose model has a cut-off date: TPR with its interval on each side of it."""
    several = named_runs(rows)
    table_rows = []
    for (run, agent), members in group_rows(rows, lambda row: (row.run.title if several else "", row.agent)).items():
        day = cut_off_of(members[0].model, days)
        if day is None:
            continue
        for side, part in cut_off_sides(members, day).items():
            if not part and side == "undated":
                continue
            process, result = rates(part)
            tasks = len({row.task for row in part})
            table_rows.append((
                run, agent, day.isoformat(), side, tasks, len(part), process.over_all, result.over_all,
                result.over_judged,
            ))  # fmt: skip
    return Table(
        name="cut_offs",
        title="Before and after a model's cut-off",
        after="",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("cut_off", "Cut-off"),
            TableColumn("side", "Tasks known"),
            TableColumn("tasks", "Tasks", ColumnUnit.COUNT),
            TableColumn("n", "Attempts", ColumnUnit.COUNT),
            TableColumn("ecr_all", "ECR, all", ColumnUnit.RATE),
            TableColumn("tpr_all", "TPR, all", ColumnUnit.RATE),
            TableColumn("tpr_judged", "TPR, judged", ColumnUnit.RATE),
        ),
        rows=tuple(table_rows),
        notes=(
            "A task is known from the day of the commit that solves it (a change), else from its first publication or"
            " its drafting; undated tasks state none of these.",
        ),
    ).without_empty("run")
