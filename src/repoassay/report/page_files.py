"""Writing a page of results and what lies beside it: a page for each attempt, and the list of attempts in parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.errors import BadInput
from repoassay.records import ALL, AttemptStatus, IndexedAttempt, RunFolder, Slot, SlotStatus, read_attempt
from repoassay.report.attempt_page import Neighbour, attempt_page
from repoassay.report.browse import MOST_INSIDE, parts as browse_parts
from repoassay.report.charts.build import charts
from repoassay.report.diagnosis_runs import Diagnoser
from repoassay.report.failures import causes_of
from repoassay.report.outcome_tables import figure_outcomes
from repoassay.report.outcomes import outcome_label
from repoassay.report.page import PageParts, files_folder, page
from repoassay.report.report_tables import reviewed_tables
from repoassay.report.results import ResultRow, read_rows
from repoassay.report.summary import Summary, SummaryRow, summarise
from repoassay.report.tables.groups import group_rows
from repoassay.report.templating import write_whole
from repoassay.types import Outcome

if TYPE_CHECKING:
    from repoassay.report.reviewed_attempts import ReviewedAttempts

__all__ = [
    "MOST_PAGES",
    "attempt_html",
    "neighbours_of",
    "page_parts",
    "render",
    "results_html",
    "write_html",
    "write_results",
]

MOST_PAGES = 2_000
"""Attempts that get a page of their own in a file, those that did not pass first; `repoassay view` shows any."""
_MOST_NEIGHBOURS = 24
_MOST_WHOLE = 5_000
"""Attempts of a run up to which a server reads all of each; of more, what rows need."""
_OURS = re.compile(r"attempts-[0-9]{4}\.js|[0-9A-Z]{26}\.html")


def render(summary: Summary) -> str:
    """The page of one run as text, as if the pages of its attempts were beside it."""
    return page(summary.results, page_parts(summary))


def results_html(
    runs: Sequence[Path], folder: str, live: str = "", home: str = ""
) -> tuple[str, list[tuple[str, str]]]:
    """The page of runs as text for a server, and the parts of its list of attempts by name.

    Args:
        runs: Run folders; one alone says more of itself.
        folder: Where attempts have their pages, relative to it. All have one.
        live: Where its state is asked for; empty for none.
        home: Where the list of all runs is.

    Raises:
        BadInput: When an attempt cannot be read back.
    """
    rows = read_rows(runs)
    if len(runs) == 1 and len(rows) <= _MOST_WHOLE:
        parts = page_parts(summarise(RunFolder(runs[0])))
    else:
        figured = figure_outcomes(rows)
        parts = PageParts(tables=list(figured.tables.values()), plots=charts(figured), causes=causes_of(rows))
    linked = parts.linked or frozenset(row.attempt for row in rows if row.finished)
    text = page(rows, replace(parts, folder=folder, live=live, home=home, linked=linked))
    return text, list(browse_parts(rows, linked)) if len(rows) > MOST_INSIDE else []


def attempt_html(run: RunFolder, attempt: str, back: str) -> str:
    """The page of one finished attempt as text.

    Raises:
        BadInput: When it cannot be read back.
    """
    rows = read_rows([run.path]) if run.plan.size <= _MOST_WHOLE else []
    found = _read(run, attempt)
    slot = found.place.slot
    fills = next((row for row in rows if (row.task, row.agent, row.number) == slot[:3]), None)
    if rows and (fills is None or fills.attempt != attempt):
        aside = AttemptStatus.OUTSIDE_PLAN if fills is None else AttemptStatus.SUPERSEDED
        found = replace(found, place=SlotStatus(slot, aside, fills.attempt if fills is not None else None))
    others = [row for row in rows if row.task == found.found.task]
    linked = frozenset(row.attempt for row in others)
    return attempt_page(found, back, neighbours_of(attempt, others, linked), Diagnoser(run))


def page_parts(summary: Summary, reviews: ReviewedAttempts | None = None) -> PageParts:
    """What the page of one run has beside its rows; tables of one row say nothing that stands not above them."""
    figured = figure_outcomes(summary.results)
    review_tables = reviewed_tables(summary.results, reviews)
    return PageParts(
        tables=[*review_tables, *(table for table in figured.tables.values() if len(table.rows) > 1)],
        plots=charts(figured),
        causes=causes_of(summary.results),
        linked=frozenset(row.found.id for row in summary.rows),
        summary=summary,
        reviewed=reviews,
    )


def write_html(summary: Summary, path: Path | None = None, reviews: ReviewedAttempts | None = None) -> Path:
    """Write the page of one run and those of its attempts, each whole or not at all, replacing earlier ones.

    Args:
        summary: What to show.
        path: Where to; `report.html` in the run folder when None. Its folder (`report_files`) is made beside it.
        reviews: What people said of merging its attempts.

    Returns:
        Where it was written.

    Raises:
        BadInput: When it cannot be written there.
    """
    target = path or summary.path / "report.html"
    write_results(summary.results, target, page_parts(summary, reviews), "--html")
    return target


def write_results(
    rows: Sequence[ResultRow], target: Path, parts: PageParts, option: str,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Path]:  # fmt: skip
    """Write a page and everything beside it; returns all files, the page first.

    Raises:
        BadInput: When it cannot be written there; the remedy names `option`.
    """
    name = files_folder(target)
    chosen = _chosen(rows, parts.summary)
    linked = frozenset(item for names in chosen.values() for item in names)
    text = page(rows, replace(parts, folder=name, linked=linked))
    write_whole(target, text.encode("utf-8", "backslashreplace"), option)
    files = [target]
    folder = target.parent / name
    if chosen or len(rows) > MOST_INSIDE:
        _make(folder, option)
    known = {row.found.id: row for row in parts.summary.rows} if parts.summary is not None else {}
    for number, (file, content) in enumerate(_beside(rows, chosen, linked, known, target.name)):
        write_whole(folder / file, content.encode("utf-8", "backslashreplace"), option)
        files.append(folder / file)
        if progress is not None:
            progress("writing attempts", number, len(linked))
    return files


def _make(folder: Path, option: str) -> None:
    """Make the folder, or take out of it what an earlier page left; nothing else in it is touched."""
    try:
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            if _OURS.fullmatch(old.name):
                old.unlink()
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror}.", f"Name another place with {option}."
        ) from error


def _chosen(rows: Sequence[ResultRow], summary: Summary | None) -> dict[Path, list[str]]:
    """Attempts that get a page, by run; those that did not pass first where they are too many."""
    finished = sorted((row for row in rows if row.finished), key=lambda row: row.outcome is Outcome.PASSED)
    found: dict[Path, list[str]] = {}
    for row in finished[:MOST_PAGES]:
        if (row.run.path / "run.json").is_file():
            found.setdefault(row.run.path, []).append(row.attempt)
    if summary is not None:
        aside = [row.found.id for row in summary.rows if not row.counts]
        found.setdefault(summary.path, []).extend(aside[:MOST_PAGES])
    return {path: names for path, names in found.items() if names}


def _beside(
    rows: Sequence[ResultRow], chosen: Mapping[Path, Sequence[str]], linked: frozenset[str],
    known: Mapping[str, SummaryRow], page_name: str,
) -> Iterator[tuple[str, str]]:  # fmt: skip
    by_task = group_rows(rows, lambda row: (row.run.suite, row.task))
    places_of = {row.attempt: row for row in rows if row.finished}
    for path, names in chosen.items():
        run = RunFolder(path)
        looks = Diagnoser(run)
        for name in names:
            row = known[name] if name in known else _read(run, name)
            place = places_of.get(row.found.id)
            others = by_task[place.run.suite, place.task] if place is not None else ()
            neighbours = neighbours_of(row.found.id, others, linked)
            yield f"{row.found.id}.html", attempt_page(row, f"../{page_name}", neighbours, looks)
    if len(rows) > MOST_INSIDE:
        yield from browse_parts(rows, linked)


def _read(run: RunFolder, name: str) -> SummaryRow:
    """An attempt, whole, as one that counts."""
    attempt = IndexedAttempt.of(*read_attempt(run.path, name, ALL))
    planned = next((task for task in run.plan.tasks if task.id == attempt.task), None)
    slot = Slot(attempt.task, attempt.agent, attempt.number)
    return SummaryRow(attempt, SlotStatus(slot, AttemptStatus.COUNTS), planned, run.path)


def neighbours_of(attempt: str, others: Sequence[ResultRow], linked: frozenset[str]) -> list[Neighbour]:
    """Other attempts at the same task, the first ones where they are many."""
    beside = (
        Neighbour(
            row.agent, row.number, outcome_label(row.outcome), f"{row.attempt}.html" if row.attempt in linked else ""
        )
        for row in others
        if row.outcome is not None and row.attempt != attempt
    )
    return list(islice(beside, _MOST_NEIGHBOURS))
