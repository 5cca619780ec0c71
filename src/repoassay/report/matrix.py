"""Which system passed which task, at one glance: a row a task, a cell a system, coloured by outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repoassay.report.outcomes import OUTCOMES, UNFINISHED, OutcomeLabel
from repoassay.report.results import ResultRow
from repoassay.report.standings import Standings, SystemResult
from repoassay.report.tables.groups import group_rows
from repoassay.text import one_line
from repoassay.types import Outcome

__all__ = ["MOST_CELLS", "MatrixCell", "MatrixRow", "TaskMatrix", "outcome_parts", "task_matrix"]

MOST_CELLS = 1_200
"""Cells on a page; of more, tasks on which systems differ come first."""
_KINDS: dict[Outcome | None, OutcomeLabel] = {outcome: kind for outcome, kind in OUTCOMES.items()}  # noqa: C416 - of None as well
_KINDS[None] = UNFINISHED


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One system on one task: its outcome, and where the evidence is (or empty).

    Of several attempts it is passed where at least half passed, else the commonest other outcome.
    `text` is `3/5` of several attempts and empty of one. `parts` are the outcomes' places from 0 to 100.
    """

    kind: OutcomeLabel
    text: str
    says: str
    link: str
    parts: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One task; a cell is None where the system was not planned on it."""

    task: str
    title: str
    domain: str
    cells: tuple[MatrixCell | None, ...]


@dataclass(frozen=True, slots=True)
class TaskMatrix:
    """The rows shown, those most systems pass first, and how many are left out."""

    rows: tuple[MatrixRow, ...]
    left_out: int


def task_matrix(board: Standings, link: Callable[[ResultRow], str]) -> TaskMatrix:
    """Lay the matrix out; `link` leads to an attempt, or is empty."""
    by_system = [group_rows(one.rows, lambda row: row.task) for one in board.systems]
    tasks = list(dict.fromkeys(task for groups in by_system for task in groups))
    most = max(1, MOST_CELLS // max(1, len(board.systems)))
    shares = {task: [_share(groups.get(task, ())) for groups in by_system] for task in tasks}
    if len(tasks) > most:
        tasks.sort(key=lambda task: (len(set(shares[task])) < 2, min(shares[task]), task))
    kept = sorted(tasks[:most], key=lambda task: (-sum(shares[task]), task))
    return TaskMatrix(
        tuple(_row(task, [groups.get(task, ()) for groups in by_system], board.systems, link) for task in kept),
        len(tasks) - len(kept),
    )


def _share(rows: Sequence[ResultRow]) -> float:
    return sum(row.outcome is Outcome.PASSED for row in rows) / len(rows) if rows else 0.0


def _row(
    task: str, groups: Sequence[Sequence[ResultRow]], systems: Sequence[SystemResult], link: Callable[[ResultRow], str]
) -> MatrixRow:
    planned = next(rows[0].planned for rows in groups if rows)
    cells = [_cell(rows, one.short, link) if rows else None for rows, one in zip(groups, systems, strict=True)]
    return MatrixRow(task, planned.title, planned.domain, tuple(cells))


def _cell(rows: Sequence[ResultRow], system: str, link: Callable[[ResultRow], str]) -> MatrixCell:
    counts = Counter(row.outcome for row in rows)
    passed = counts[Outcome.PASSED]
    # What a reader wants of a cell that is not green is what went wrong.
    telling = next((row for row in rows if row.outcome not in (Outcome.PASSED, None)), rows[0])
    where = f"{one_line(rows[0].task, 80)}, {one_line(system, 80)}"
    if len(rows) == 1:
        kind = _KINDS[rows[0].outcome]
        return MatrixCell(kind, "", f"{where}: {kind.word}", link(rows[0]))
    # Green is for at least half: a plurality of passes among many ways to fail is no pass.
    others = [outcome for outcome, _ in counts.most_common() if outcome is not Outcome.PASSED]
    kind = _KINDS[Outcome.PASSED if 2 * passed >= len(rows) else others[0]]
    ended = ", ".join(f"{count} {_KINDS[outcome].word}" for outcome, count in counts.most_common())
    return MatrixCell(kind, f"{passed}/{len(rows)}", f"{where}: {ended}", link(telling), outcome_parts(counts))


def outcome_parts(counts: Mapping[Outcome | None, int]) -> tuple[tuple[str, float, float], ...]:
    """The outcomes as parts of a bar: name, place and width in percent, in the order they are always shown."""
    whole = sum(counts.values())
    parts, start = [], 0.0
    for outcome, kind in _KINDS.items():
        if count := counts.get(outcome, 0):
            width = 100 * count / whole
            parts.append((kind.name, start, width))
            start += width
    return tuple(parts)
