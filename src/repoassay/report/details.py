"""The evidence of each attempt, within a budget: what did not pass comes first, and what is left out is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from repoassay.model import Outcome
from repoassay.report.evidence import log_tail
from repoassay.report.summary import Row

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["DETAILS_BYTES", "LOGS_BYTES", "Detail", "details"]

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


def details(rows: Sequence[Row], environment: Environment) -> list[Detail]:
    """Render the evidence of each row, in the order of `rows`."""
    bodies = _spend(rows, DETAILS_BYTES, lambda row: environment.get_template("attempt.html").render(row=row))
    logs = _spend(rows, LOGS_BYTES, lambda row: _log(row, environment))
    return [
        Detail(Markup(body or ""), Markup(log or ""), log is None)  # noqa: S704 - rendered with autoescape just above
        for body, log in zip(bodies, logs, strict=True)
    ]


def _log(row: Row, environment: Environment) -> str:
    tail = log_tail(row.finished.folder)
    return environment.get_template("log.html").render(tail=tail) if tail and tail.text.strip() else ""


def _spend(rows: Sequence[Row], budget: int, render: Callable[[Row], str]) -> list[str | None]:
    """Render rows, those that matter most first, until the budget is spent; None for those left out."""
    found: list[str | None] = [None] * len(rows)
    for index in sorted(range(len(rows)), key=lambda index: _rank(rows[index])):
        text = render(rows[index])
        budget -= len(text.encode())
        if budget < 0:
            break
        found[index] = text
    return found


def _rank(row: Row) -> int:
    """A reader looks for why something did not pass, then at what no longer counts, then at what passed."""
    if not row.counts:
        return 1
    return 2 if row.verdict.outcome is Outcome.PASSED else 0
