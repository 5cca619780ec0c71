"""How raters rate: how strict each is beside the others, how fast, and whether answers change along their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from repoassay.review.rubric import AnswerRole, Rubric
from repoassay.stats import Figure, Proportion, Significance, paired_permutation
from repoassay.types import Rating

__all__ = ["Order", "Part", "RaterSeverity", "anchoring", "order_effects", "severity"]

_FAST = 0.25


@dataclass(frozen=True, slots=True)
class RaterSeverity:
    """One rater. `problems` is over the axes where something was chosen that applies.

    `beside_others` is the rater's share of problems minus that of the other raters on the same axes of the same items:
    positive is stricter. `with_majority` counts answers equal to the majority of the *others*, so that nobody votes for
    himself. `fast` ratings took under a quarter of the study's median active time.
    """

    rater: str
    ratings: int
    problems: Proportion
    accepted: Proportion
    minutes: float | None
    active_seconds: float
    fast: int
    beside_others: Figure
    with_majority: Proportion


@dataclass(frozen=True, slots=True)
class Part:
    """Ratings in one part of their raters' orders: problems an axis, acceptance, median active seconds."""

    problems: Proportion
    accepted: Proportion
    active_seconds: float | None


@dataclass(frozen=True, slots=True)
class Order:
    """First halves of raters' orders beside second halves.

    `test` permutes, within raters, the difference of the share of problems (second minus first): ratings of one rater
    are not independent, so raters are what is counted.
    """

    first: Part
    second: Part
    test: Significance


def severity(ratings: Iterable[Rating], rubric: Rubric) -> tuple[RaterSeverity, ...]:
    """Return one line a rater, strictest first; give each rater's last version (see `latest`)."""
    line = list(ratings)
    people = sorted({rating.rater for rating in line})
    typical = median([rating.active_seconds for rating in line]) if line else 0.0
    found = []
    for rater in people:
        mine = [rating for rating in line if rating.rater == rater]
        seconds = [rating.active_seconds for rating in mine]
        minutes = [rating.minutes for rating in mine if rating.minutes is not None]
        differences, agreed = _beside(mine, [rating for rating in line if rating.rater != rater], rubric)
        method = "share of problems minus the others' on the same axes"
        mean = fmean(differences) if differences else None
        found.append(
            RaterSeverity(
                rater=rater,
                ratings=len(mine),
                problems=_problems(mine, rubric),
                accepted=_accepted(mine),
                minutes=fmean(minutes) if minutes else None,
                active_seconds=median(seconds),
                fast=sum(each < _FAST * typical for each in seconds),
                beside_others=Figure(
                    mean, method, len(differences), "" if differences else "nobody else rated the same"
                ),
                with_majority=Proportion(sum(agreed), len(agreed)),
            )
        )
    return tuple(sorted(found, key=lambda each: (-(each.beside_others.value or 0.0), each.rater)))


def order_effects(ratings: Iterable[Rating], rubric: Rubric) -> Order:
    """Compare the first half of each rater's order with the second; an odd one in the middle is left out."""
    halves: tuple[list[Rating], list[Rating]] = ([], [])
    differences = []
    line = list(ratings)
    for rater in sorted({rating.rater for rating in line}):
        mine = sorted((rating for rating in line if rating.rater == rater), key=lambda rating: rating.position)
        first, second = mine[: len(mine) // 2], mine[len(mine) - len(mine) // 2 :]
        halves[0].extend(first)
        halves[1].extend(second)
        before, after = _problems(first, rubric).value, _problems(second, rubric).value
        if before is not None and after is not None:
            differences.append(after - before)
    test = paired_permutation(differences)
    test = replace(test, method=test.method.replace("by task", "by rater"))
    return Order(_part(halves[0], rubric), _part(halves[1], rubric), test)


def anchoring(ratings: Iterable[Rating]) -> dict[str, Proportion]:
    """Return, for each axis and `would_merge`, how often the last revealed answer differs from the blind one.

    Args:
        ratings: All versions.
    """
    versions: dict[tuple[str, str], list[Rating]] = {}
    for rating in ratings:
        versions.setdefault((rating.submission, rating.rater), []).append(rating)
    changed: dict[str, list[bool]] = {}
    for line in versions.values():
        line.sort(key=lambda rating: rating.version)
        blind, last = line[0], line[-1]
        if blind is last:
            continue
        for axis, answer in blind.axes.items():
            changed.setdefault(axis, []).append(answer.state != last.axes[axis].state)
        if None not in (blind.would_merge, last.would_merge):
            changed.setdefault("would_merge", []).append(blind.would_merge != last.would_merge)
    return {key: Proportion(sum(flags), len(flags)) for key, flags in sorted(changed.items())}


def _beside(mine: Sequence[Rating], others: Sequence[Rating], rubric: Rubric) -> tuple[list[float], list[bool]]:
    """Return, for each axis of each item, the difference to the others, and whether their majority says the same."""
    differences, agreed = [], []
    by_item: dict[str, list[Rating]] = {}
    for each in others:
        by_item.setdefault(each.submission, []).append(each)
    for rating in mine:
        for axis, answer in rating.axes.items():
            states = [each.axes[axis].state for each in by_item.get(rating.submission, ())]
            top = max(set(states), key=states.count, default=None)
            if top is not None and 2 * states.count(top) > len(states):
                agreed.append(answer.state == top)
            roles = [rubric.level(axis, state).role for state in states]
            applicable = [
                role is AnswerRole.PROBLEM for role in roles if role in {AnswerRole.PROBLEM, AnswerRole.CLEAR}
            ]
            own = rubric.level(axis, answer.state).role
            if applicable and own in {AnswerRole.PROBLEM, AnswerRole.CLEAR}:
                differences.append(float(own is AnswerRole.PROBLEM) - fmean(applicable))
    return differences, agreed


def _problems(ratings: Iterable[Rating], rubric: Rubric) -> Proportion:
    roles = [rubric.level(axis, answer.state).role for rating in ratings for axis, answer in rating.axes.items()]
    return Proportion(roles.count(AnswerRole.PROBLEM), roles.count(AnswerRole.PROBLEM) + roles.count(AnswerRole.CLEAR))


def _accepted(ratings: Iterable[Rating]) -> Proportion:
    answers = [rating.would_merge for rating in ratings if rating.would_merge is not None]
    return Proportion(sum(answers), len(answers))


def _part(ratings: Sequence[Rating], rubric: Rubric) -> Part:
    seconds = [rating.active_seconds for rating in ratings]
    return Part(_problems(ratings, rubric), _accepted(ratings), median(seconds) if seconds else None)
