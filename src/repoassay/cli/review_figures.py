"""`repoassay review figures`: every figure of a study, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from repoassay.json_output import JsonFlag, print_document
from repoassay.text import printable

if TYPE_CHECKING:
    from repoassay.review import StudyFigures, TaskDifference
    from repoassay.stats import Interval, MixedLogistic, Proportion, Significance

__all__ = ["review_figures"]


@click.command("figures")
@click.argument("study")
@click.option("--database", required=True, metavar="URL", envvar="REPOASSAY_REVIEW_DATABASE", show_envvar=True,
              help="Where ratings lie: a file of SQLite, or postgresql://...")  # fmt: skip
@click.option("--by", "grouping", type=click.Choice(["system", "agent", "model"]), default="system", show_default=True,
              help="What is compared: agent with model, or either alone.")  # fmt: skip
@click.option("--phase", type=click.Choice(["blind", "revealed"]), default="blind", show_default=True,
              help="First answers, or the last of each rater.")  # fmt: skip
@click.option("--json", "as_json", cls=JsonFlag, is_flag=True, is_eager=True, help="Print JSON.")
def review_figures(study: str, database: str, grouping: Any, phase: str, as_json: bool) -> None:
    """Print the figures of a STUDY: tests against people, systems against each other, agreement, minutes.

    Intervals and tests take the task as what was sampled: several runs of a task are not independent.

    \b
    Examples:
      repoassay review figures maintainers --database reviews.sqlite
      repoassay review figures maintainers --database reviews.sqlite --by model --json
    """
    from pathlib import Path

    from repoassay.errors import BadInput
    from repoassay.review import open_database, study_figures
    from repoassay.types import RatingPhase

    if "://" not in database and not Path(database).is_file():
        raise BadInput(f"{database} is not a file.", "Name the database of `repoassay review`.")
    opened = open_database(database)
    try:
        found = study_figures(opened, study, RatingPhase(phase), grouping, models=True)
    finally:
        opened.close()
    if as_json:
        print_document(found.to_dict())
        return
    for line in _lines(found):
        click.echo(printable(line, 2000))


def _lines(found: StudyFigures) -> Iterator[str]:
    yield f"Study {found.study}: {found.items} items, {found.ratings} ratings, {found.phase} answers"
    if found.plan_hash:
        yield f"Plan {found.plan_hash}{f', frozen {found.plan_frozen}' if found.plan_frozen else ', not frozen'}"
    for each in found.amendments:
        yield f"Amended {each.at:%Y-%m-%d} by {each.author}: {each.change} ({each.reason})"
    for name, gap in (("all", found.gap), *((each.name, each.gap) for each in found.systems)):
        yield f"{name}: {gap.n} submissions of {gap.tasks} tasks"
        yield f"  tests passed  {_share(gap.tests, gap.tests_interval)}"
        yield f"  mergeable     {_share(gap.people, gap.people_interval)}"
        if gap.difference is not None:
            yield f"  difference    {_points(gap.difference)}{_ends(gap.interval)}, {_p(gap.test)}"
    for pair in found.differences:
        yield f"{pair.first} minus {pair.second}"
        yield f"  mergeable     {_of_tasks(pair.mergeable)}"
        yield f"  tests passed  {_of_tasks(pair.tests)}"
        if pair.mixed is not None:
            yield f"  mixed model   {_mixed(pair.mixed)}"
        minutes = pair.minutes_to_fix
        if minutes.difference is not None:
            yield f"  minutes       {minutes.difference:+.1f}{_minutes(minutes.interval)}, {_p(minutes.test)}"
    for name, spent in (("all", found.minutes["all"]), *((each.name, each.minutes) for each in found.systems)):
        if spent.mean is not None and spent.median is not None:
            yield f"minutes to fix, {name}: {spent.n} submissions, {spent.none.successes} of them need none"
            yield f"  mean          {spent.mean:.1f}{_minutes(spent.interval)}"
            yield f"  median        {spent.median:.1f}{_minutes(spent.median_interval)}"
            yield f"  quartiles     {spent.lower:.1f} and {spent.upper:.1f}"
    order = found.order.test
    if order.statistic is not None:
        yield f"order: problems in the second half of an order minus the first {_points(order.statistic)}, {_p(order)}"
    for strict in found.severity:
        if strict.beside_others.value is not None:
            yield f"rater {strict.rater}: problems beside the others {_points(strict.beside_others.value)}"
    for moved in found.drift:
        if moved.before is not None and moved.after is not None:
            change = f"{moved.before:.3f}, then {moved.after:.3f}, {_p(moved.test)}"
            yield f"rater {moved.rater}: {moved.measure} {change}{', drifting' if moved.alarm else ''}"
    for item, reason in found.excluded.items():
        yield f"left out {item}: {reason}"


def _of_tasks(found: TaskDifference) -> str:
    if found.difference is None:
        return "no common tasks"
    return f"{_points(found.difference)}{_ends(found.interval)}, {_p(found.test)}, {found.tasks} common tasks"


def _mixed(found: MixedLogistic) -> str:
    ends = found.interval
    if found.odds_ratio is None or ends.low is None or ends.high is None:
        return ends.undefined
    return f"odds ratio {found.odds_ratio:.2f} ({ends.low:.2f} to {ends.high:.2f}; {ends.method}), {_p(found.test)}"


def _minutes(ends: Interval) -> str:
    if ends.low is None or ends.high is None:
        return f" ({ends.undefined})"
    return f" ({ends.low:.1f} to {ends.high:.1f}; {ends.method})"


def _share(share: Proportion, ends: Interval) -> str:
    return "not known" if share.value is None else f"{share.successes}/{share.n} = {share.value:.1%}{_ends(ends)}"


def _ends(ends: Interval) -> str:
    if ends.low is None or ends.high is None:
        return f" ({ends.undefined})"
    return f" ({100 * ends.low:.1f} to {100 * ends.high:.1f}; {ends.method})"


def _points(value: float) -> str:
    rounded = round(100 * value, 1)
    return f"{rounded:+.1f} points" if rounded else "0.0 points"


def _p(test: Significance) -> str:
    if test.p_value is None:
        return test.undefined
    from repoassay.stats import p_text

    return p_text(test.p_value)
