"""Why attempts failed: shares of the classes E1 to E5 (after GitTaskBench, Figure 7)."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repoassay.diagnosis import ErrorClass
from repoassay.records import RunFolder
from repoassay.report.diagnosis_runs import AttemptRef, DiagnosedAttempt, Diagnoser, shares_of
from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import group_rows, named_runs
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn
from repoassay.types import Attribution, Outcome

__all__ = ["MOST_DIAGNOSED", "DiagnosisCounts", "diagnosis_table", "errors", "sample_table"]

MOST_DIAGNOSED = 1_000
"""Failed attempts that are diagnosed unless more are asked for; of more, a sample by id is."""
_MEANING = {
    **{one.value: one.meaning for one in ErrorClass},
    "unclear": "nothing tells why",
    "none": "people say it shows none",
}


@dataclass(frozen=True, slots=True)
class DiagnosisCounts:
    """What was found of failed attempts, by attempt id; `failed` is how many there are in all."""

    looked: Mapping[str, DiagnosedAttempt]
    failed: int


def diagnosis_table(rows: Sequence[ResultRow], most: int = MOST_DIAGNOSED) -> DiagnosisCounts:
    """Diagnose attempts that did not pass by the agent's doing: rules over their steps, and people's labels above.

    Args:
        rows: Rows of runs.
        most: At most so many are diagnosed; of more, those whose hashed id is least.

    Raises:
        BadInput: When labels of a run cannot be read.
    """
    failed = [
        row for row in rows if row.outcome not in (None, Outcome.PASSED) and row.outcome.whose is Attribution.AGENT
    ]
    examiners: dict[str, Diagnoser] = {}
    looked: dict[str, DiagnosedAttempt] = {}
    for row in sample_table(failed, most):
        if row.run.id not in examiners:
            examiners[row.run.id] = Diagnoser(RunFolder(row.run.path))
        folder = row.folder
        if folder is not None and row.outcome is not None:
            subject = AttemptRef(row.attempt, row.task, row.agent, row.number, row.outcome, folder, row.planned)
            looked[row.attempt] = examiners[row.run.id].look(subject)
    return DiagnosisCounts(looked, len(failed))


def errors(rows: Sequence[ResultRow], found: DiagnosisCounts) -> Table:
    """Shares of each class among the diagnosed failures of each entry, and of all together."""
    several = named_runs(rows)
    groups: dict[tuple[str, str], list[ResultRow]] = group_rows(
        [row for row in rows if row.attempt in found.looked and found.looked[row.attempt].counted],
        lambda row: (row.run.title if several else "", row.agent),
    )
    if len(groups) > 1:
        groups = {("", "all"): [row for members in groups.values() for row in members], **groups}
    table_rows: list[tuple[Cell, ...]] = []
    for (run, agent), members in groups.items():
        shares = shares_of([found.looked[row.attempt] for row in members])
        table_rows += [
            (run, agent, code, _MEANING[code], shares.primary[code], shares.every[code]) for code in shares.primary
        ]
    return Table(
        name="errors",
        title="Why attempts failed",
        after="GitTaskBench Figure 7",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("class", "Class"),
            TableColumn("meaning", "Meaning"),
            TableColumn("primary", "Primary", ColumnUnit.RATE),
            TableColumn("any", "Seen at all", ColumnUnit.RATE),
        ),
        rows=tuple(table_rows),
        notes=tuple(_notes(found)),
    ).without_empty("run")


def _notes(found: DiagnosisCounts) -> list[str]:
    shares = shares_of(list(found.looked.values()))
    notes = [
        "Shares of diagnosed attempts that did not pass by the agent's doing, with 95% Wilson score intervals. An"
        " attempt has one primary class and may show several; classes are given by rules over the agent's steps.",
        f"Of {found.failed} failed attempts {len(found.looked)} were looked at; {shares.counted} left steps that could"
        f" be read or are labelled by a person.",
    ]
    if len(found.looked) < found.failed:
        notes.append("Those looked at are a sample: the attempts whose hashed id is least.")
    if shares.labelled:
        notes.append(f"{shares.labelled} are as people labelled them.")
    return notes


def sample_table(rows: Sequence[ResultRow], most: int) -> list[ResultRow]:
    """At most so many rows, in their order. Which they are depends on their ids alone."""
    if len(rows) <= most:
        return list(rows)

    def digest(index: int) -> bytes:
        return hashlib.sha256(rows[index].attempt.encode()).digest()

    kept = heapq.nsmallest(most, range(len(rows)), key=digest)
    return [rows[index] for index in sorted(kept)]
