"""The leaderboard as a static site: one page that needs nothing from anywhere, and evidence beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from repoassay.errors import BadInput, RepoAssayError
from repoassay.records import RunFolder
from repoassay.report.answer import answer_of, price_of
from repoassay.report.charts import palette
from repoassay.report.figures import figure
from repoassay.report.leaderboard.entry import RUN, SUBMISSION
from repoassay.report.leaderboard.figures import figures_of
from repoassay.report.leaderboard.plans import isolation_note, suite_tasks
from repoassay.report.leaderboard.strengths import KnownStrengths, strength_document
from repoassay.report.leaderboard.validate import validate
from repoassay.report.matrix import outcome_parts
from repoassay.report.page_files import write_html
from repoassay.report.results import ResultRow, read_rows
from repoassay.report.standings import Standings, SystemResult, standings
from repoassay.report.summary import summarise
from repoassay.report.tables.cut_offs import cut_off_of, cut_off_sides
from repoassay.report.tables.groups import rates
from repoassay.report.templating import environment, policy_hash, source
from repoassay.tasks import locate
from repoassay.text import one_line
from repoassay.types import Plan, Reading, SuiteStrength

if TYPE_CHECKING:
    from repoassay.report.reviewed_attempts import ReviewedAttempts

__all__ = ["DATA", "RankedBoard", "RankedEntry", "boards", "build_site", "rows_of"]

DATA = "leaderboard.json"
_MOST_REASONS = 5


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """One row: an agent of a run, its figures, and where its evidence lies, relative to the page.

    `checked` is whether it was handed in and validated, or is a run of one's own. `attempted` are its attempts.
    """

    system: str
    framework: str
    model: str
    suite: str
    suite_version: str
    made: datetime
    versions: Mapping[str, str]
    isolation: str
    attempts: int
    checked: bool
    organisation: str
    notes: tuple[str, ...]
    figures: Mapping[str, Any]
    run: Path
    evidence: str
    attempted: tuple[ResultRow, ...] = field(repr=False)
    reading: str = ""
    """How criteria were read and repositories laid out, where not as usual: rows of two readings are not compared."""
    strengths: SuiteStrength | None = None
    """What is known of the tests behind its rates."""

    @property
    def cost(self) -> float | None:
        """Dollars an attempt; None where some are unknown, or none finished."""
        dollars, finished = self.figures["dollars"], self.figures["finished"]
        return None if dollars is None or not finished else float(Decimal(dollars) / finished)

    @property
    def tokens(self) -> float | None:
        """Tokens an attempt, read and written; None where some are unknown or none finished."""
        figures = self.figures
        if not figures["finished"] or figures["tokens_partly"]:
            return None
        return float(figures["tokens_in"] + figures["tokens_out"]) / float(figures["finished"])


def rows_of(paths: Sequence[Path], cut_offs: Mapping[str, date] | None = None) -> list[RankedEntry]:
    """Rows of run folders and submission folders, by their rate within a suite; `boards` ranks them.

    Rows of a model with a cut-off date say its rates on both sides of it.

    Raises:
        BadInput: When a folder is neither, a submission is not sound, or one run is named twice.
    """
    rows: list[RankedEntry] = []
    for number, path in enumerate(paths, 1):
        rows += _placed(path, f"{number:03d}", cut_offs or {})
    seen: dict[tuple[str, str], Path] = {}
    for row in rows:
        key = (RunFolder(row.run).plan.id, row.system)
        if key in seen:
            raise BadInput(f"{seen[key]} and {row.run} are the same run of {one_line(row.system, 80)}.")
        seen[key] = row.run
    known = KnownStrengths(row.run for row in rows if not row.checked)
    return sorted((replace(row, strengths=known.of(row.run)) for row in rows), key=_rank)


def _rank(row: RankedEntry) -> tuple[object, ...]:
    share = row.figures["result"]["over_all"]["value"]
    return (row.suite, row.suite_version, -(share if share is not None else -1.0), row.system, row.evidence)


def _placed(path: Path, number: str, known: Mapping[str, date]) -> list[RankedEntry]:
    notes: tuple[str, ...] = ()
    organisation, checked, run = "", False, path
    if (path / SUBMISSION).exists():
        found = validate(path)
        if found.submitted is None or not found.sound:
            reasons = " ".join(map(str, found.refusals[:_MOST_REASONS]))
            raise BadInput(f"The submission {path} is refused: {reasons}")
        notes, organisation, checked, run = found.notes, found.submitted.organisation, True, path / RUN
    plan = RunFolder(run).plan
    by_agent: dict[str, list[ResultRow]] = {}
    for row in read_rows([run]):
        by_agent.setdefault(row.agent, []).append(row)
    if not checked and (note := isolation_note(plan.isolation)):
        notes = (note,)
    return [
        RankedEntry(
            agent, rows[0].framework, rows[0].model, plan.suite, plan.suite_version, plan.created, plan.versions,
            plan.isolation, plan.attempts, checked, organisation, (*notes, *_sides(rows, known)), figures_of(rows), run,
            f"evidence/{number}-{_slug(path)}/report.html", tuple(rows), _reading(plan),
        )
        for agent, rows in by_agent.items()
    ]  # fmt: skip


def _reading(plan: Plan) -> str:
    criteria = [f"criteria {plan.reading.value}"] if plan.reading is not Reading.FAIR else []
    return ", ".join([*criteria, *(["released repositories"] if plan.released else [])])


def _sides(rows: Sequence[ResultRow], known: Mapping[str, date]) -> tuple[str, ...]:
    """TPR with its interval before and after the model's cut-off; nothing where it has none."""
    day = cut_off_of(rows[0].model, known)
    if day is None:
        return ()
    parts = [(side, rates(part)[1].over_all) for side, part in cut_off_sides(rows, day).items() if part]
    return (f"Cut-off {day.isoformat()}: " + "; ".join(f"{side} {figure(rate)}" for side, rate in parts) + ".",)


def _slug(path: Path) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", path.resolve().name).strip(".-")[:80] or "run"


@dataclass(frozen=True, slots=True)
class RankedBoard:
    """One suite in one version: what can be compared, the ranked first; entries beside their places."""

    standings: Standings
    reading: str
    places: tuple[tuple[SystemResult, RankedEntry], ...]

    @property
    def strength_known(self) -> bool:
        """Whether anything is known of the tests behind any of its rates."""
        return any(row.strengths is not None and row.strengths.median is not None for _, row in self.places)


def boards(rows: Sequence[RankedEntry]) -> list[RankedBoard]:
    """Rank rows of one suite, version and reading among themselves."""
    board_list = []
    for (_, _, reading), entries in _comparable(rows).items():
        by_run = {(entry.attempted[0].run.id, entry.system): entry for entry in entries}
        attempts = [row for entry in entries for row in entry.attempted]
        found = standings(attempts, _every_task(entries, attempts))
        places = tuple((one, by_run[one.rows[0].run.id, one.rows[0].agent]) for one in found.systems)
        board_list.append(RankedBoard(found, reading, places))
    return board_list


def _comparable(rows: Sequence[RankedEntry]) -> dict[tuple[str, str, str], list[RankedEntry]]:
    groups: dict[tuple[str, str, str], list[RankedEntry]] = {}
    for row in rows:
        groups.setdefault((row.suite, row.suite_version, row.reading), []).append(row)
    return groups


def _every_task(entries: Sequence[RankedEntry], attempts: Sequence[ResultRow]) -> dict[str, str] | None:
    """The tasks of the suite as far as it is here: one that comes with RepoAssay, or a folder of one's own runs."""
    plan = RunFolder(entries[0].run).plan
    if (known := suite_tasks(plan)) is not None:
        return known
    names: set[str] = set()
    for entry in entries:
        names |= _names_in(RunFolder(entry.run).plan) if not entry.checked else set()
    if not names - {row.task for row in attempts}:
        return None
    return dict.fromkeys(sorted(names), "") | dict(standings(attempts).tasks)


def _names_in(plan: Plan) -> set[str]:
    """Task names of the folder that a run was made of, where it is there and still of that version."""
    try:
        found = locate(plan.suite_folder)
    except (RepoAssayError, OSError):
        return set()
    return {path.name for path in found.folders} if found.suite.version == plan.suite_version else set()


def build_site(
    rows: Sequence[RankedEntry], out: Path, at: datetime | None = None, reviews: ReviewedAttempts | None = None
) -> Path:
    """Write the site; an earlier one is replaced, any other folder with something in it is not touched.

    Returns:
        Where the page is.

    Raises:
        BadInput: When `out` is something else, or cannot be written.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / DATA).is_file())):
        raise BadInput(f"{out} exists and is no leaderboard.", "Choose another --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for row in {row.evidence: row for row in rows}.values():
            page = out / row.evidence
            page.parent.mkdir(parents=True, exist_ok=True)
            write_html(summarise(RunFolder(row.run)), page, reviews)
        ranked = boards(rows)
        (out / DATA).write_text(json.dumps([_document(row, ranked, reviews) for row in rows], indent=1) + "\n")
        text = render(ranked, at or datetime.now(UTC), reviews)
        (out / "index.html").write_text(text, "utf-8", "backslashreplace")
    except OSError as error:
        raise BadInput(
            f"The leaderboard cannot be written to {out}: {error.strerror}.", "Choose another --out."
        ) from error
    return out / "index.html"


def _document(row: RankedEntry, ranked: Sequence[RankedBoard], reviews: ReviewedAttempts | None) -> dict[str, Any]:
    board, place = next((board, one) for board in ranked for one, entry in board.places if entry is row)
    return {
        "name": place.name,
        "rank": place.rank,
        "rank_shared": place.shares_rank,
        "tasks_covered": place.covered,
        "tasks_of_suite": len(board.standings.tasks),
        "system": row.system,
        "framework": row.framework,
        "model": row.model,
        "organisation": row.organisation,
        "suite": row.suite,
        "suite_version": row.suite_version,
        "made": row.made.isoformat(),
        "versions": dict(row.versions),
        "isolation": row.isolation,
        "attempts": row.attempts,
        "validated": row.checked,
        "notes": row.notes,
        "evidence": row.evidence,
        "figures": dict(row.figures),
        "strength": strength_document(row.strengths),
        "reviews": None if reviews is None else _people(reviews, row),
    }


def _people(reviews: ReviewedAttempts, row: RankedEntry) -> dict[str, Any]:
    # Without --reviews the extra `review` is not needed.
    from repoassay.report.reviewed_attempts import reviews_document

    return reviews_document(reviews, row.attempted)


def render(ranked: Sequence[RankedBoard], at: datetime, reviews: ReviewedAttempts | None = None) -> str:
    """The page as text."""
    pages = environment()
    pages.filters.update(price=price_of, money=_dollars, count=_count, day=_day)
    style = source(pages, "style.css") + source(pages, "leaderboard.css") + palette.style()
    script = source(pages, "page.js")
    return pages.get_template("leaderboard.html").render(
        boards=ranked,
        answers=[answer_of(board.standings) for board in ranked],
        segments=outcome_parts,
        made=at,
        reviewed=reviews,
        style=Markup(style),  # noqa: S704 - files of ours, nothing filled in
        script=Markup(script),  # noqa: S704 - the same
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def _dollars(value: float | None, digits: int = 2) -> str:
    if value is None:
        return "unknown"
    return f"{'-' if value < 0 else ''}${abs(value):,.{digits}f}"


def _count(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"


def _day(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d")
