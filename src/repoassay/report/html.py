"""A run as one self-contained page: no request to anywhere, every text escaped, opened from a file or a web server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from repoassay.model import Outcome
from repoassay.report.details import details
from repoassay.report.outcomes import OUTCOMES, UNFINISHED
from repoassay.report.plots import plots
from repoassay.report.summary import Row, Summary
from repoassay.report.templating import environment, policy_hash, source, write_whole

__all__ = ["MOST_ROWS", "render", "write_html"]

MOST_ROWS = 5_000
"""More attempts than this are not all listed; those that passed are left out first."""
_MOST_UNFINISHED = 500


def write_html(summary: Summary, path: Path | None = None) -> Path:
    """Write the page, whole or not at all, replacing an earlier one.

    Args:
        summary: What to show.
        path: Where to; `report.html` in the run folder when None.

    Returns:
        Where it was written.

    Raises:
        BadInput: When it cannot be written there.
    """
    target = path or summary.path / "report.html"
    write_whole(target, render(summary).encode("utf-8", "backslashreplace"), "--html")
    return target


def render(summary: Summary) -> str:
    """The page as text."""
    made = environment()
    style, script = source(made, "style.css"), source(made, "table.js")
    rows = _bounded(summary.rows)
    found = details(rows, made)
    left_out = sum(not detail.body for detail in found)
    return made.get_template("report.html").render(
        summary=summary,
        plan=summary.plan,
        plots=plots(summary),
        attempts=list(zip(rows, found, strict=True)),
        unlisted=len(summary.rows) - len(rows),
        details_left_out=left_out,
        logs_left_out=sum(detail.log_left_out and bool(detail.body) for detail in found),
        unfinished=summary.unfinished[:_MOST_UNFINISHED],
        outcomes=_present(summary),
        comment_length=160 if len(rows) <= 1000 else 80,
        moved=sum(row.moved for row in summary.rows),
        style=Markup(style),  # noqa: S704 - a file of ours, nothing filled in
        script=Markup(script),  # noqa: S704 - the same
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def _bounded(rows: tuple[Row, ...]) -> list[Row]:
    """At most `MOST_ROWS`, those that passed left out first, in their order."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    by_need = sorted(range(len(rows)), key=lambda index: rows[index].verdict.outcome is Outcome.PASSED)
    return [rows[index] for index in sorted(by_need[:MOST_ROWS])]


def _present(summary: Summary) -> list[Any]:
    used = {row.verdict.outcome for row in summary.rows}
    return [kind for outcome, kind in OUTCOMES.items() if outcome in used] + (
        [UNFINISHED] if summary.unfinished else []
    )
