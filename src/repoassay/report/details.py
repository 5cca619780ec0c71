"""What the page of one run has beside a set's: its summary, and the evidence of each attempt within a budget.

What did not pass comes first, and what is left out is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from repoassay.report.agent_log import log_tail
from repoassay.report.outcomes import OUTCOMES, UNFINISHED, OutcomeLabel
from repoassay.report.summary import Summary, SummaryRow, Unfinished
from repoassay.types import Outcome

if TYPE_CHECKING:
    from jinja2 import Environment

    from repoassay.types import Plan

__all__ = [
    "DETAILS_BYTES",
    "LOGS_BYTES",
    "MOST_ROWS",
    "Detail",
    "RunDetails",
    "details",
    "run_details",
]

MOST_ROWS = 5_000
"""More attempts than this are not all listed; those that passed are left out first."""
_MOST_UNFINISHED = 500
_MANY = 1000

DETAILS_BYTES = 3_000_000
"""Bytes of page that criteria, tests, comments and files of all attempts may take."""
LOGS_BYTES = 2_000_000
"""Bytes of page that logs of all attempts may take."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What is shown below one attempt; empty where the budget had run out. `log_left_out` when only its log was."""

    body: Markup
    log: Markup
    log_left_out: bool


@dataclass(frozen=True, slots=True)
class RunDetails:
    """One run as its page shows it: attempts with their evidence, places of the plan without one, and what is left out.

    `outcomes` are those that occur. `comment_length` is how many characters of a comment stand beside its attempt.
    """

    summary: Summary
    attempts: Sequence[tuple[SummaryRow, Detail]]
    unfinished: Sequence[Unfinished]
    outcomes: Sequence[OutcomeLabel]

    @property
    def plan(self) -> Plan:
        """The run's plan."""
        return self.summary.plan

    @property
    def moved(self) -> int:
        """How many attempts are at another version of their task than planned."""
        return sum(row.moved for row in self.summary.rows)

    @property
    def unlisted(self) -> int:
        """How many attempts are not listed."""
        return len(self.summary.rows) - len(self.attempts)

    @property
    def details_left_out(self) -> int:
        """How many listed attempts have no evidence."""
        return sum(not detail.body for _, detail in self.attempts)

    @property
    def logs_left_out(self) -> int:
        """How many attempts have evidence, but no log."""
        return sum(detail.log_left_out and bool(detail.body) for _, detail in self.attempts)

    @property
    def comment_length(self) -> int:
        """Characters of a comment in the list."""
        return 160 if len(self.attempts) <= _MANY else 80


def run_details(summary: Summary, environment: Environment) -> RunDetails:
    """Everything the page of a run shows beside tables and plots, bounded."""
    rows = _bounded(summary.rows)
    used = {row.verdict.outcome for row in summary.rows}
    outcomes = [kind for outcome, kind in OUTCOMES.items() if outcome in used]
    return RunDetails(
        summary,
        list(zip(rows, details(rows, environment), strict=True)),
        summary.unfinished[:_MOST_UNFINISHED],
        [*outcomes, UNFINISHED] if summary.unfinished else outcomes,
    )


def _bounded(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """At most `MOST_ROWS`, those that passed left out first, in their order."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    by_need = sorted(range(len(rows)), key=lambda index: rows[index].verdict.outcome is Outcome.PASSED)
    return [rows[index] for index in sorted(by_need[:MOST_ROWS])]


def details(rows: Sequence[SummaryRow], environment: Environment) -> list[Detail]:
    """Render the evidence of each row, in the order of `rows`."""
    bodies = _spend(rows, DETAILS_BYTES, lambda row: environment.get_template("attempt.html").render(row=row))
    logs = _spend(rows, LOGS_BYTES, lambda row: _log(row, environment))
    return [
        Detail(Markup(body or ""), Markup(log or ""), log is None)  # noqa: S704 - rendered with autoescape just above
        for body, log in zip(bodies, logs, strict=True)
    ]


def _log(row: SummaryRow, environment: Environment) -> str:
    tail = log_tail(row.finished.folder)
    return environment.get_template("log.html").render(tail=tail) if tail and tail.text.strip() else ""


def _spend(rows: Sequence[SummaryRow], budget: int, render: Callable[[SummaryRow], str]) -> list[str | None]:
    """Render rows, those that matter most first, until the budget is spent; None for those left out."""
    found: list[str | None] = [None] * len(rows)
    for index in sorted(range(len(rows)), key=lambda index: _rank(rows[index])):
        text = render(rows[index])
        budget -= len(text.encode())
        if budget < 0:
            break
        found[index] = text
    return found


def _rank(row: SummaryRow) -> int:
    """A reader looks for why something did not pass, then at what no longer counts, then at what passed."""
    if not row.counts:
        return 1
    return 2 if row.verdict.outcome is Outcome.PASSED else 0
