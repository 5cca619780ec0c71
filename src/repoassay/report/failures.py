"""What did not pass, and why: by system, with the verdict's first remark and what diagnosis says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.report.diagnosis_lines import meaning
from repoassay.report.diagnosis_runs import AttemptRef, DiagnosedAttempt, Diagnoser
from repoassay.report.outcomes import OutcomeLabel, outcome_label
from repoassay.report.results import ResultRow
from repoassay.report.standings import Standings
from repoassay.types import Attribution, Outcome

__all__ = ["MOST_CAUSES", "MOST_SHOWN", "FailureGroup", "FailureLine", "causes_of", "failures"]

MOST_SHOWN = 60
"""Failed attempts of one system that are on the page; the list of attempts has all of them."""
MOST_CAUSES = 300
"""Failed attempts that are diagnosed for a page; their steps are read for it."""


@dataclass(frozen=True, slots=True)
class FailureLine:
    """One attempt that did not pass; `cause` is empty where nothing tells why."""

    row: ResultRow
    kind: OutcomeLabel
    link: str
    cause: str


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """What one system did not pass: counts by outcome and by whose doing, and the lines that are shown."""

    system: str
    failed: int
    planned: int
    outcomes: tuple[tuple[OutcomeLabel, int], ...]
    not_the_agents: int
    lines: tuple[FailureLine, ...]

    @property
    def left_out(self) -> int:
        """Attempts without a line."""
        return self.failed - len(self.lines)


def failures(board: Standings, link: Callable[[ResultRow], str], causes: Mapping[str, str]) -> tuple[FailureGroup, ...]:
    """Every system that has finished attempts which did not pass."""
    groups = []
    for one in board.systems:
        bad = [row for row in one.rows if row.outcome not in (Outcome.PASSED, None)]
        if bad:
            counts = Counter(row.outcome for row in bad if row.outcome is not None)
            lines = [_line(row, link, causes) for row in sorted(bad, key=_order)[:MOST_SHOWN]]
            ended = tuple((outcome_label(outcome), counts[outcome]) for outcome in Outcome if counts[outcome])
            others = sum(count for outcome, count in counts.items() if outcome.whose is not Attribution.AGENT)
            groups.append(FailureGroup(one.short, len(bad), one.planned, ended, others, tuple(lines)))
    return tuple(groups)


def _order(row: ResultRow) -> tuple[int, str, int]:
    return (list(Outcome).index(row.outcome or Outcome.INFRA_FAULT), row.task, row.number)


def _line(row: ResultRow, link: Callable[[ResultRow], str], causes: Mapping[str, str]) -> FailureLine:
    return FailureLine(row, outcome_label(row.outcome or Outcome.INFRA_FAULT), link(row), causes.get(row.attempt, ""))


def causes_of(rows: Sequence[ResultRow], most: int = MOST_CAUSES) -> dict[str, str]:
    """Attempt id -> the class of error that diagnosis or a person gives, in words; nothing for what is unclear."""
    causes: dict[str, str] = {}
    by_run: dict[Path, Diagnoser | None] = {}
    failed = [row for row in rows if row.outcome not in (Outcome.PASSED, None)]
    for row in failed[:most]:
        if row.run.path not in by_run:
            by_run[row.run.path] = _diagnoser(row.run.path)
        looks = by_run[row.run.path]
        assert row.folder is not None and row.outcome is not None
        if looks is not None:
            subject = AttemptRef(row.attempt, row.task, row.agent, row.number, row.outcome, row.folder, row.planned)
            causes[row.attempt] = next(_cause(looks.look(subject)), "")
    return causes


def _diagnoser(run: Path) -> Diagnoser | None:
    try:
        return Diagnoser(RunFolder(run))
    except BadInput:  # rows of a run that is not there any more; its verdicts still say something
        return None


def _cause(looked: DiagnosedAttempt) -> Iterator[str]:
    if looked.holds.source == "person":
        yield f"{looked.holds.value} {meaning(looked.holds.value)}, by a person"
    elif looked.diagnosis.classes:
        first = looked.diagnosis.classes[0]
        part = f", {first.subclass.value}" if first.subclass else ""
        yield f"{first.code.value} {first.code.meaning}{part}"
