"""`repoassay example metr`: METR's comparison as a study of one's own, and every figure it published beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repoassay.options import PATH

if TYPE_CHECKING:
    from repoassay.review import StudyFigures

__all__ = ["PublishedBeside", "beside_published", "example"]

_DATABASE = "reviews.sqlite"
_NOT_REVIEWED = "METR did not publish runs one by one, so that nobody can compute it; the 15 reviewed changes are here"
_NOT_THERE = "of all 18 tasks; the study holds the 15 changes that were reviewed, which are not 15 tasks of METR's list"
_AXES = {
    "core functionality": "core", "testing coverage": "testing", "documentation": "documentation",
    "lint, format and typing": "lint", "other quality": "quality",
}  # fmt: skip
"""Names of axes as METR prints them, and those of our rubric."""


@dataclass(frozen=True, slots=True)
class PublishedBeside:
    """One published figure: as printed, ours (empty where there is none) from its counts, and why they differ."""

    fact: str
    published: str
    ours: str
    why: str = ""

    @property
    def same(self) -> bool:
        """Whether ours, rounded as theirs, is what they printed."""
        return self.published == self.ours.partition(" ")[0]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def example() -> None:
    """Make studies that were published, with every figure of theirs beside ours.

    \b
    Examples:
      repoassay example metr metr-study
      repoassay example metr metr-study --no-serve
    """


@example.command("metr")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--serve/--no-serve", default=True, show_default=True, help="Whether to open the study for its lead.")
@click.option("--open/--no-open", "browser", default=True, show_default=True, help="In the browser, or the link alone.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0, the default, takes a free one.")
@click.pass_context
def metr(context: click.Context, folder: Path, serve: bool, browser: bool, port: int) -> None:
    """Make METR's study of 12 August 2025 in DIR, print its figures beside ours, and open it.

    Three of the 15 reviewed changes are as METR printed them; the others are a reconstruction that agrees with every
    count, and are marked `synthetic`. What rests on unpublished runs is listed too, with the reason why it has no
    counterpart. Beside the database lies the study as a table, with codebook and scripts.

    Exit codes: 0 every figure is reproduced or its difference explained; 1 one is not; 2 bad input.

    \b
    Examples:
      repoassay example metr metr-study
      repoassay example metr metr-study --no-serve
    """
    from repoassay.text import printable

    lines = beside_published(_made(folder))
    width = max(len(each.fact) for each in lines)
    for each in lines:
        ours = each.ours or "none"
        click.echo(
            printable(f"{each.fact:<{width}}  METR {each.published:<9} ours {ours:<24} {each.why}".rstrip(), 400)
        )
    odd = [each for each in lines if not each.same and not each.why]
    click.echo(f"{sum(each.same for each in lines)} of {len(lines)} are the same; {len(odd)} differ without a reason.")
    place = folder / _DATABASE
    click.echo(f"All of ours, with intervals: repoassay review figures metr --database {place}")
    if odd:
        context.exit(1)
    if serve:
        _serve(context, place, port, browser)


def beside_published(figures: StudyFigures) -> list[PublishedBeside]:
    """Return every figure of the post with ours.

    Args:
        figures: Of the study as `metr_example` has it.
    """
    return [*_facts(figures), *_failures(figures)]


def _made(folder: Path) -> StudyFigures:
    from contextlib import closing
    from datetime import UTC, datetime

    from repoassay.errors import BadInput
    from repoassay.review import (
        TIDY_FORMATS,
        Rater,
        RaterRole,
        StudyRecords,
        arrow_installed,
        keep_records,
        metr_example,
        open_database,
        study_figures,
        study_records,
        write_tidy_folder,
    )

    if (folder / _DATABASE).exists():
        raise BadInput(f"{folder / _DATABASE} is there already.", "Name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    source = metr_example()
    raters = (Rater("metr", source.study.name, 0, "METR", RaterRole.RATER, active=False),)
    records = StudyRecords(source.study, source.rubric, source.items, raters, source.ratings)
    with closing(open_database(folder / _DATABASE)) as place:
        keep_records(place, records, at=datetime.now(UTC), actor="example")
        formats = [each for each in TIDY_FORMATS if each != "parquet" or arrow_installed()]
        write_tidy_folder(study_records(place, source.study.name), folder, formats)
        return study_figures(place, source.study.name)


def _facts(found: StudyFigures) -> Iterator[PublishedBeside]:
    from repoassay.benchmarks.metr.tables import POST, Fact

    gap, minutes, counts = found.gap, found.minutes, found.problems.counts
    tests = gap.tests_interval
    ends = "" if tests.low is None or tests.high is None else f" ({100 * tests.low:.0f} to {100 * tests.high:.0f})"
    least = {number: sum(n for problems, n in counts.items() if problems >= number) for number in (3, 4, 5)}
    ours: dict[str, tuple[str, str]] = {
        "success_reviewed": (
            f"{_share(gap.tests.successes, gap.tests.n)}{ends}",
            "the ends differ: METR's interval is symmetric and does not say how it was made; ours is Clopper and"
            " Pearson's, by task",
        ),
        "mergeable": (f"{gap.people.successes} of {gap.people.n}", ""),
        "minutes_to_fix": (_rounded(minutes["all"].mean), ""),
        "minutes_to_fix_passing": (_rounded(minutes["passing"].mean), ""),
        "minutes_to_fix_least": (_rounded(minutes["passing"].minimum), ""),
        "problems_3_or_more": (_share(least[3], found.problems.n), ""),
        "problems_4_or_more": (_share(least[4], found.problems.n), ""),
        "problems_5": (_share(least[5], found.problems.n), ""),
        "success_all": ("", _NOT_REVIEWED),
    }
    for row in POST.read("metr-results", Fact).row:
        half = "" if row.half_width is None else f" +-{row.half_width:g}"
        mine, why = ours.get(row.id, ("", _NOT_THERE))
        yield PublishedBeside(row.fact, f"{row.value:g}", mine, f"{'METR adds' + half + '; ' if half else ''}{why}")


def _failures(found: StudyFigures) -> Iterator[PublishedBeside]:
    from repoassay.benchmarks.metr.tables import POST, AxisFigures

    ours = {line.axis: line for line in found.failures}
    for row in POST.read("metr-axes", AxisFigures).row:
        line = ours[_AXES[row.axis]]
        for name, theirs, mine in (("failed", row.failing, line.failing), ("passed", row.passing, line.passing)):
            fact = f"percent with a problem of {row.axis}, tests {name}"
            yield PublishedBeside(fact, f"{theirs.percent:g}", _share(mine.successes, mine.n))


def _share(successes: int, n: int) -> str:
    """A percentage rounded as in print, with its counts."""
    return f"{_rounded(100 * successes / n)} ({successes}/{n})" if n else ""


def _rounded(value: float | None) -> str:
    return "" if value is None else str(Decimal(value).quantize(Decimal(1), ROUND_HALF_UP))


def _serve(context: click.Context, place: Path, port: int, browser: bool) -> None:
    """Start the review application as a user would: a benchmark knows no server."""
    root = context.find_root().command
    assert isinstance(root, click.Group)
    review = root.get_command(context.find_root(), "review")
    assert review is not None
    shown = "--browser" if browser else "--no-browser"
    review.main(["--database", str(place), "--port", str(port), shown], prog_name="review", standalone_mode=False)
