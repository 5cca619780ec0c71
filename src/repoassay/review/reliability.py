"""How far raters agree, axis by axis, and how far tests agree with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from repoassay.review.item_summary import ItemSummary
from repoassay.review.rubric import AnswerRole, Rubric
from repoassay.stats import (
    Figure,
    Interval,
    LeaveOneOut,
    Ratings,
    agreement_by_task,
    agreement_interval,
    cohen_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from repoassay.stats.agreement import leave_one_out
from repoassay.types import Rating

__all__ = ["Agreement", "BesideTests", "agreement", "beside_tests"]

_DRAWS = 500


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on one axis, or on `mergeable` or `would_merge`.

    Unsure answers are missing; "not applicable" is an answer like any other, so that it agrees with neither a problem
    nor its absence. `chance_free` is Gwet's AC1 (AC2 with ordinal weights on a scale of values): where nearly everybody
    finds a problem, alpha collapses though raters agree, and AC1 does not. Intervals take tasks or submissions as the
    sample, as their method says. `baseline` holds each rater against the majority of the others.
    """

    key: str
    title: str
    percent: Figure
    percent_interval: Interval
    alpha: Figure
    alpha_interval: Interval
    chance_free: Figure
    chance_free_interval: Interval
    baseline: LeaveOneOut


@dataclass(frozen=True, slots=True)
class BesideTests:
    """Tests as if they were a rater, beside people: the four counts, and agreement beyond chance.

    `true_pass`: tests passed and people found nothing wrong; `false_pass`: passed, but people did.
    """

    true_pass: int
    false_pass: int
    false_fail: int
    true_fail: int
    kappa: Figure
    ac1: Figure
    alpha: Figure


def agreement(
    ratings: Iterable[Rating],
    rubric: Rubric,
    draws: int = _DRAWS,
    seed: int = 0,
    tasks: Mapping[str, str] | None = None,
) -> tuple[Agreement, ...]:
    """Return agreement on every axis, and on `mergeable` and `would_merge` where the rubric has them.

    Args:
        ratings: One a rater and item (see `latest`), of people only, of one phase.
        rubric: Theirs.
        draws: Of each bootstrap, at least 100. They are nearly all of the time this takes: some seconds for 500 draws
            over 2,000 ratings.
        seed: Of each bootstrap.
        tasks: The task of each item. With it intervals take tasks as the sample, by a jackknife; without it they draw
            items, which is right only where no two items are of one task.
    """
    line = list(ratings)
    of_item = [tasks.get(item, item) for item in sorted({each.submission for each in line})] if tasks else None
    table = []
    for axis in rubric.axes:
        levels = [level for level in rubric.levels(axis.key) if level.role is not AnswerRole.UNSURE]
        known = {level.key for level in levels}
        units = _units(line, partial(_state, axis=axis.key, known=known))
        if rubric.ordered(axis.key):
            order = [level.key for level in sorted(levels, key=lambda level: level.value or 0.0)]
            table.append(_agreement(axis.key, axis.title, units, order, draws, seed, of_item, ordinal=True))
        else:
            table.append(_agreement(axis.key, axis.title, units, [each.key for each in levels], draws, seed, of_item))
    if rubric.rule != "none":
        derived = _units(line, lambda rating: rating.mergeable)
        table.append(_agreement("mergeable", "Mergeable, from the axes", derived, [True, False], draws, seed, of_item))
    if any(question.key == "would_merge" for question in rubric.questions):
        would_merge = _units(line, lambda rating: rating.would_merge)
        table.append(
            _agreement("would_merge", "Would merge, as asked", would_merge, [True, False], draws, seed, of_item)
        )
    return tuple(table)


def beside_tests(rows: Iterable[ItemSummary], rubric: Rubric, axis: str | None = None) -> BesideTests:
    """Hold tests against one axis (its problem is a failure), or against being mergeable where none is named.

    Rows where either is unknown or does not apply are left out, and so are controls.

    Raises:
        KeyError: When the rubric has no such axis.
    """
    pairs: list[tuple[bool, bool]] = []
    for row in rows:
        if row.golden is None and row.tests is not None:
            fine = row.mergeable if axis is None else _fine(row, axis, rubric)
            if fine is not None:
                pairs.append((row.tests, fine))
    both = [True, False]
    return BesideTests(
        true_pass=pairs.count((True, True)),
        false_pass=pairs.count((True, False)),
        false_fail=pairs.count((False, True)),
        true_fail=pairs.count((False, False)),
        kappa=cohen_kappa([tests for tests, _ in pairs], [people for _, people in pairs], categories=both),
        ac1=gwet_ac1(pairs, both),
        alpha=krippendorff_alpha(pairs),
    )


def _agreement(
    key: str,
    title: str,
    units: list[list[str | bool | None]],
    categories: Sequence[str | bool],
    draws: int,
    seed: int,
    tasks: Sequence[str] | None,
    *,
    ordinal: bool = False,
) -> Agreement:
    def alpha(ratings: Ratings) -> Figure:
        return krippendorff_alpha(ratings, "ordinal" if ordinal else "nominal", categories)

    def chance_free(ratings: Ratings) -> Figure:
        return gwet_ac2(ratings, "ordinal", categories) if ordinal else gwet_ac1(ratings, categories)

    def interval(coefficient: Callable[[Ratings], Figure]) -> Interval:
        if tasks is None:
            return agreement_interval(units, coefficient, draws=draws, seed=seed)
        groups: dict[str, list[list[str | bool | None]]] = {}
        for task, unit in zip(tasks, units, strict=True):
            groups.setdefault(task, []).append(unit)
        return agreement_by_task(list(groups.values()), coefficient)

    return Agreement(
        key=key,
        title=title,
        percent=percent_agreement(units),
        percent_interval=interval(percent_agreement),
        alpha=alpha(units),
        alpha_interval=interval(alpha),
        chance_free=chance_free(units),
        chance_free_interval=interval(chance_free),
        baseline=leave_one_out(units),
    )


def _units(ratings: Sequence[Rating], answer: Callable[[Rating], str | bool | None]) -> list[list[str | bool | None]]:
    """Return one row an item with one place a rater, None where there is no answer."""
    raters = {rater: place for place, rater in enumerate(sorted({rating.rater for rating in ratings}))}
    units: dict[str, list[str | bool | None]] = {}
    for rating in ratings:
        row = units.setdefault(rating.submission, [None] * len(raters))
        row[raters[rating.rater]] = answer(rating)
    return [units[item] for item in sorted(units)]


def _state(rating: Rating, axis: str, known: set[str]) -> str | None:
    answer = rating.axes.get(axis)
    return answer.state if answer is not None and answer.state in known else None


def _fine(row: ItemSummary, axis: str, rubric: Rubric) -> bool | None:
    rubric.levels(axis)
    state = row.states.get(axis)
    role = None if state is None else rubric.level(axis, state).role
    return {AnswerRole.PROBLEM: False, AnswerRole.CLEAR: True}.get(role) if role is not None else None
