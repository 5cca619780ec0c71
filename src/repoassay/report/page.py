"""The page of results, of one run or many: a sentence that answers, the systems, tasks by system, failures, figures.

The page needs nothing but itself for all of that. Beside it, in a folder named after it, lie one small page for each
attempt (`attempt_page`) and, where attempts are too many to lie in it, the list of attempts as scripts that are loaded
when the reader comes to it. Opened from a file or a web server, it sends no request to anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from repoassay.report.answer import ResultAnswer, answer_of, plain_answer, price_of
from repoassay.report.browse import MOST_INSIDE, PART, escaped_json, names_of, packed
from repoassay.report.cells import shown_rows
from repoassay.report.charts import palette
from repoassay.report.charts.curves import price_curve
from repoassay.report.charts.drawing import Drawing, draw
from repoassay.report.charts.value import Chart
from repoassay.report.comparison.comparison_output import ComparedSection
from repoassay.report.failures import FailureGroup, failures
from repoassay.report.matrix import TaskMatrix, outcome_parts, task_matrix
from repoassay.report.outcomes import OUTCOMES, UNFINISHED
from repoassay.report.results import ResultRow, RunInfo
from repoassay.report.standings import Standings, standings_by_suite
from repoassay.report.strength_lines import strength_sentence, strengths_of_rows
from repoassay.report.tables.value import Cell, Estimate, Table
from repoassay.report.templating import environment, policy_hash, source
from repoassay.stats import Proportion
from repoassay.types import SuiteStrength

if TYPE_CHECKING:
    from repoassay.report.reviewed_attempts import ReviewedAttempts
    from repoassay.report.summary import Summary

__all__ = ["MOST_SHOWN", "PageParts", "files_folder", "page"]

MOST_SHOWN = 400
"""Rows of one table that are on the page; the files have all of them."""
_FEW_TASKS = 5
"""Fewer tasks than this have no plots: what there is to see stands in the tables."""
_SHORT = 5.0
"""Seconds below which nobody compares times."""
_MOST_TIMED, _FEWEST_IN_DOMAIN = 12, 3


@dataclass(frozen=True, slots=True)
class PageParts:
    """What a page is made of beside its rows.

    Args:
        tables: Tables of the appendix. `plots`: plots of both figures and appendix.
        files: Endings of the files written beside it for each table, to be linked.
        causes: Why attempts failed, by attempt id.
        linked: Attempts that have a page of their own.
        folder: Where these pages are, relative to this one.
        summary: Of one run, its account and the attempts that do not count.
        live: The address of the same page's state, on a page that is served while its run works; else empty.
        home: Where a served page leads back to.
        compared: What changed between systems, on a page that compares them.
        reviewed: What people said of merging attempts, to stand beside the rate of tests.
    """

    tables: Sequence[Table] = ()
    plots: Sequence[Chart] = ()
    files: Sequence[str] = ()
    causes: Mapping[str, str] = field(default_factory=dict)
    linked: Collection[str] = frozenset()
    folder: str = "report_files"
    summary: Summary | None = None
    live: str = ""
    home: str = ""
    compared: Sequence[ComparedSection] = ()
    reviewed: ReviewedAttempts | None = None


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table with its cells as text and as what they are sorted by."""

    table: Table
    rows: list[list[_Cell]]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Plot:
    chart: Chart
    drawing: Drawing


@dataclass(frozen=True, slots=True)
class _Suite:
    """Everything the page says of one suite."""

    found: Standings
    answer: ResultAnswer
    matrix: TaskMatrix
    failures: tuple[FailureGroup, ...]
    strengths: SuiteStrength | None

    @property
    def strength_sentence(self) -> str:
        """What its tests are worth; empty where nothing is known."""
        return strength_sentence(self.strengths, len(self.found.tasks))

    def strength(self, rows: Sequence[ResultRow]) -> float | None:
        """Median share of wrong solutions that the tests of these rows' tasks refuse; None where not known."""
        planned = {row.planned.digest for row in rows}
        strengths = self.strengths
        kept = tuple(task for task in strengths.known if task.task_digest in planned) if strengths is not None else ()
        return SuiteStrength(tasks=kept).median


def files_folder(target: Path) -> str:
    """The folder beside a page that holds what belongs to it, `report_files` for `report.html`."""
    return f"{target.stem}_files"


def page(rows: Sequence[ResultRow], parts: PageParts) -> str:
    """The page as text."""

    def link(row: ResultRow) -> str:
        return f"{parts.folder}/{row.attempt}.html" if row.attempt in parts.linked else ""

    found = standings_by_suite(rows)
    suites = [_suite(one, link, parts.causes) for one in found]
    few = max((len(one.tasks) for one in found), default=0) < _FEW_TASKS
    prices = [] if few else [price_curve(one.systems) for one in found]
    telling = [] if few else [chart for chart in parts.plots if _tells(chart, rows)]
    inside = len(rows) <= MOST_INSIDE
    pages = environment()
    pages.filters["price"] = price_of
    style, script = source(pages, "style.css") + palette.style(), source(pages, "page.js")
    used = {row.outcome for row in rows}
    return pages.get_template("page.html").render(
        suites=suites,
        title=plain_answer(found[0]) if len(found) == 1 else f"Results of {len(found)} suites",
        runs=_runs(rows, parts.summary),
        summary=parts.summary,
        parts=parts,
        figures=_drawn([*(chart for chart in prices[:1] if not chart.empty), *telling]),
        plots=_drawn([chart for chart in parts.plots if chart not in telling]),
        grids=[_grid(table) for table in parts.tables],
        outcomes=[*(kind for outcome, kind in OUTCOMES.items() if outcome in used), *[UNFINISHED] * (None in used)],
        count=len(rows),
        inside=inside,
        look=palette.look,
        segments=outcome_parts,
        data=Markup(escaped_json(_data(rows, parts, inside))),  # noqa: S704 - escaped for a data block
        style=Markup(style),  # noqa: S704 - a file of ours, nothing filled in
        script=Markup(script),  # noqa: S704 - the same
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def _suite(found: Standings, link: Callable[[ResultRow], str], causes: Mapping[str, str]) -> _Suite:
    strengths = strengths_of_rows(row for one in found.systems for row in one.rows)
    return _Suite(found, answer_of(found), task_matrix(found, link), failures(found, link, causes), strengths)


def _data(rows: Sequence[ResultRow], parts: PageParts, inside: bool) -> dict[str, object]:
    """What the page's script is given: rows, or where they are."""
    scripts = [f"{parts.folder}/attempts-{number:04d}.js" for number in range(-(-len(rows) // PART))]
    return {
        "names": names_of(rows).document(),
        "count": len(rows),
        "folder": parts.folder,
        "parts": [] if inside else scripts,
        "rows": list(packed(rows, parts.linked)) if inside else [],
        "live": parts.live,
    }


def _tells(chart: Chart, rows: Sequence[ResultRow]) -> bool:
    """Whether a plot says something at so few attempts that the tables above it do not."""
    if chart.name.startswith("sweep_"):
        return chart.name.endswith("_tpr")
    if chart.name == "seconds":
        long = max((row.seconds or 0.0 for row in rows), default=0.0) >= _SHORT
        return long and 1 < len(chart.categories) <= _MOST_TIMED
    entries = len({(row.run.id, row.agent) for row in rows})
    enough = len(rows) >= _FEWEST_IN_DOMAIN * entries * len(chart.categories)
    return chart.name == "domains" and len(chart.categories) > 1 and enough


def _runs(rows: Sequence[ResultRow], summary: Summary | None) -> list[RunInfo]:
    found = list({row.run.id: row.run for row in rows}.values())
    return found or ([RunInfo.of(summary.plan, summary.path)] if summary else [])


def _drawn(charts: Sequence[Chart]) -> list[_Plot]:
    return [_Plot(chart, draw(chart)) for chart in charts]


def _grid(table: Table) -> _Grid:
    shown = zip(shown_rows(table)[:MOST_SHOWN], table.rows, strict=False)
    rows = [[_Cell(text, _key(cell)) for text, cell in zip(texts, row, strict=True)] for texts, row in shown]
    return _Grid(table, rows, len(table.rows) - len(rows))


def _key(cell: Cell) -> str:
    """What a number sorts by; empty for text and for what is unknown."""
    value = cell.value if isinstance(cell, Proportion | Estimate) else cell
    return f"{float(value):.9g}" if isinstance(value, int | float | Decimal) else ""
