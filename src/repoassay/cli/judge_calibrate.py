"""`repoassay judge calibrate`: a judge held against the people of its study."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repoassay.cli.judge_output import cost_sentence, judge_cost, judge_journal, open_study
from repoassay.json_output import print_document
from repoassay.options import PATH, FiniteRange, json_option
from repoassay.text import printable

if TYPE_CHECKING:
    from repoassay.judges import Calibration, CalibrationState, JudgeAxisFigures, MeasuredAxis, MergeableRate
    from repoassay.stats import ClusteredMean, Figure, Interval, Proportion

__all__ = ["calibrate"]

_MOST = 20


@click.command()
@click.argument("database", metavar="STUDY_DB")
@click.option("--study", required=True, metavar="NAME", help="The study.")
@click.option(
    "--judge", "named", default="", metavar="NAME", help="Which judge, by model or version; the only one else."
)
@click.option(
    "--floor",
    type=FiniteRange(0, 1),
    metavar="X",
    help="Lowest end of kappa's 95 % interval, on every axis, for a judge to stand in for people.  [default: 0.6]",
)
@click.option(
    "--split",
    type=click.Choice(["all", "dev", "test"]),
    help="Which items figures are of: all; those a prompt is tuned on; those that test it.  "
    "[default: all, or test where the prompt is your own]",
)
@click.option(
    "--dev-share",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    metavar="X",
    help="Share of tasks a prompt is tuned on.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of the split and of intervals."
)
@click.option("--check", is_flag=True, help="Leave with exit code 1 where the judge is refused as a substitute.")
@click.option("--journal", type=PATH, metavar="FILE", help="Where its calls are accounted for; beside the database.")
@json_option
def calibrate(
    database: str, *, study: str, named: str, floor: float | None, split: str | None, dev_share: float, seed: int,
    check: bool, journal: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Say what a judge finds and misses beside people's majority, and what its answers are worth.

    Only blind ratings of people count. Controls and flagged items are left out.
    """
    from datetime import UTC, datetime

    from repoassay.judges import (
        FLOOR,
        DevTestSplit,
        calibrate as figures,
        find_judge,
        judgements_of,
        note_look,
        spent_before,
    )
    from repoassay.review import adjudications_of, items_of, latest, ratings_of, read_rubric_of
    from repoassay.types import RatingPhase

    with open_study(database) as at:
        found = find_judge(at, study, named)
        part = DevTestSplit(split) if split else DevTestSplit.TEST if found.definition.own_prompt else DevTestSplit.ALL
        looks = note_look(at, found, datetime.now(UTC)) if part is DevTestSplit.TEST else 0
        calibration = figures(
            items_of(at, study), latest(ratings_of(at, study, RatingPhase.BLIND)), judgements_of(at, found),
            read_rubric_of(at, study), found.definition, adjudications_of(at, study), split=part, seed=seed,
            dev_share=dev_share, floor=FLOOR if floor is None else floor,
        )  # fmt: skip
        changes = len({each.item for each in judgements_of(at, found)})
        cost = judge_cost(spent_before(journal or judge_journal(database, found)), changes)
    if as_json:
        print_document(_plain(calibration) | {"test_looks": looks, "cost": cost})
    else:
        _print(calibration, looks)
        click.echo(cost_sentence(cost))
        click.echo(calibration.substitute.sentence)
    if check and not calibration.substitute.accepted:
        sys.exit(1)


def _plain(calibration: Calibration) -> dict[str, Any]:
    """As JSON has it: every proportion with its value and interval."""
    return {key: _value(value, getattr(calibration, key)) for key, value in asdict(calibration).items()}


def _value(plain: Any, value: Any) -> Any:
    from dataclasses import fields, is_dataclass

    from repoassay.stats import Proportion

    if isinstance(value, Proportion):
        return {**plain, "value": value.value, "interval": asdict(value.interval)}
    if is_dataclass(value):
        return {field.name: _value(plain[field.name], getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_value(one, other) for one, other in zip(plain, value, strict=True)]
    return plain


def _print(result: Calibration, looks: int) -> None:
    from repoassay.stats import p_text

    say = click.echo
    say(f"Judge {result.judge}, {result.samples} samples, {result.void} of them void.")
    say(
        f"{result.items} items ({result.split.value}), {result.left_out} controls and flagged ones left out; "
        f"{result.people} people."
    )
    # Nothing below is shown without how far it may be believed.
    say(f"This judge: {result.state.sentence.rstrip('.')}.")
    if looks:
        times = "once" if looks == 1 else f"{looks} times"
        say(f"The test part of this study has been looked at {times}.")
    for axis in result.axes:
        _print_axis(axis)
    for system in result.systems:
        name, agreed = printable(system.system) or "all systems", _clustered(system.agreement)
        say(f"{system.axis}, {name}: agreement {agreed}; problems beyond people's {_clustered(system.bias)}")
    for drift in result.drift:
        p = "p not defined" if drift.p is None else p_text(drift.p)
        name, apart = printable(drift.system), _clustered(drift.difference)
        say(f"Drift, {drift.axis}, {name} less the others: {apart}, {p} (Holm)")
    if result.rate is not None:
        _print_rate(result.rate, result.state)
    for order in result.orders:
        say(
            f"Order, {order.axis}: a problem in {_share(order.first)} with the reference first, {_share(order.last)} "
            f"with it last; changed on {order.changed} of {order.items} items."
        )
    for each in result.second_pass:
        say(
            f"Signals, {each.axis}: {each.changed} of {each.n} verdicts changed; agreement {_share(each.blind)} "
            f"without, {_share(each.revealed)} with."
        )
    kin = result.kin
    say(
        f"Kin ({kin.family or 'vendor not known'}): agreement {_share(kin.own)} on its own vendor's submissions, "
        f"{_share(kin.other)} on others', {_share(kin.unknown)} where the vendor is not known; problems it denies: "
        f"{_share(kin.milder_own)} on its own, {_share(kin.milder_other)} on others'."
    )
    if result.flagged:
        say(f"Text that speaks to reviewers, to be looked at: {', '.join(result.flagged[:_MOST])}.")
    for item, why in result.triage[:_MOST]:
        say(f"People first: {item}, {why}.")
    if len(result.triage) > _MOST:
        say(f"... and {len(result.triage) - _MOST} more.")


def _print_axis(axis: JudgeAxisFigures) -> None:
    say = click.echo
    say(
        f"\n{axis.title} [{axis.key}]: n = {axis.n}; people left {axis.unsettled} open, the judge had no verdict on "
        f"{axis.abstained}"
    )
    if axis.positive:
        say(
            f"  {axis.positive}: {axis.found} found, {axis.missed} missed, {axis.false_alarm} false alarms, "
            f"{axis.rejected} rightly not"
        )
        say(f"  precision            {_share(axis.precision)}")
        say(f"  recall (sensitivity) {_share(axis.sensitivity)}")
        say(f"  specificity          {_share(axis.specificity)}")
    say(f"  agreement            {_measured(axis.percent)}")
    say(f"  Cohen's kappa        {_measured(axis.kappa)}")
    say(f"  Krippendorff's alpha {_measured(axis.alpha)}; of people among themselves {_measured(axis.human_alpha)}")
    coefficient = "AC1" if "AC1" in axis.chance_free.figure.method else "AC2"
    say(f"  Gwet's {coefficient}           {_measured(axis.chance_free)}")
    say(f"  beside the majority of the others: judge {_figure(axis.judge_beside)}; people {_figure(axis.human)}")
    if axis.brier.defined:
        say(f"  vote share: Brier {_figure(axis.brier)}, calibration error {_figure(axis.calibration_error)}")


def _clustered(mean: ClusteredMean) -> str:
    if mean.value is None:
        return "- (no items)"
    return f"{mean.value:.3f} ({mean.n} items of {mean.tasks} tasks{_range(mean.interval)})"


def _print_rate(rate: MergeableRate, state: CalibrationState) -> None:
    say = click.echo
    estimate = rate.estimate
    say(f"\nMergeable among all judged ({estimate.labelled} rated by people, {estimate.unlabelled} not):")
    say(f"  people alone         {_share(rate.people)}")
    value = f"{estimate.value:.3f}" if estimate.value is not None else f"- ({estimate.undefined})"
    say(f"  prediction-powered   {value}{_range(estimate.interval) if estimate.value is not None else ''}")
    if rate.gained.value is not None:
        say(f"  worth                {rate.gained.value:+.1f} ratings by people beside {estimate.labelled}")
    say(f"  Rogan-Gladen         {_figure(rate.corrected)}{_range(rate.corrected_interval)}")
    own = f"{_share(rate.naive)}, which is biased: do not use it" if state.calibrated else state.sentence
    say(f"  the judge's own      {own}")
    say("")


def _share(share: Proportion) -> str:
    if share.value is None:
        return "- (no cases)"
    return f"{share.value:.3f} ({share.successes}/{share.n}{_range(share.interval)})"


def _measured(measured: MeasuredAxis) -> str:
    return _figure(measured.figure) + (_range(measured.interval) if measured.figure.defined else "")


def _figure(figure: Figure) -> str:
    return f"{figure.value:.3f}" if figure.value is not None else f"- ({figure.undefined})"


def _range(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f", no interval: {interval.undefined}"
    return f", 95 % {interval.low:.3f} to {interval.high:.3f}"
