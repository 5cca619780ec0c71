"""A judge on each system that it judged: agreement with people by axis, and whether it drifts from system to system.

A judge that was calibrated on the changes of one model has not been on those of the next: what it cannot see may be
what the next one does wrong. Intervals draw tasks (`clustered_mean`), as several changes of a task are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from repoassay.judges.votes import Vote
from repoassay.review import AnswerRole, Item, ItemSummary, Rubric, system_of
from repoassay.stats import ClusteredMean, Significance, clustered_mean, holm, paired_permutation

__all__ = ["CALIBRATED_FROM", "CalibrationState", "JudgeDrift", "JudgedSystem", "calibration_state", "judged_systems"]

_UNNAMED = "not known"
"""What is shown for a system without a name, as pull requests have of whom nobody knows."""
CALIBRATED_FROM = 30
"""Items with a label of people and a verdict, on every axis, below which nothing is said of how far to believe a judge.

With so many the 95 % interval of a share of agreement of 0.8 is about 0.3 wide (Wilson); with fewer it says little.
"""


@dataclass(frozen=True, slots=True)
class CalibrationState:
    """Whether a judge was held against people often enough: `ratings` items were, on its least compared axis."""

    calibrated: bool
    ratings: int
    needed: int
    sentence: str


@dataclass(frozen=True, slots=True)
class JudgedSystem:
    """One axis on one system; `system` is empty for all together.

    `agreement` is the share of items on which the judge's verdict is people's label. `bias` is how much more often the
    judge sees a problem than people do, from -1 to 1. Both by task.
    """

    axis: str
    system: str
    agreement: ClusteredMean
    bias: ClusteredMean


@dataclass(frozen=True, slots=True)
class JudgeDrift:
    """How agreement on one system differs from that on all others, over `tasks` that both have; `p` is Holm's.

    `difference` is of the tasks' mean agreements, its test a permutation of signs by task.
    """

    axis: str
    system: str
    difference: ClusteredMean
    test: Significance
    p: float | None


def calibration_state(
    blind: Mapping[tuple[str, str], Vote], labels: Mapping[str, ItemSummary], rubric: Rubric
) -> CalibrationState:
    """Count what a judge can be held against.

    Args:
        blind: Its votes on items that figures may be of.
        labels: People's consensus by item, of the same items.
        rubric: Whose axes were asked about.
    """
    axes = sorted({axis for _, axis in blind})
    line = [sum(True for pair in blind if pair[1] == axis and _both(pair, blind, labels, rubric)) for axis in axes]
    ratings, needed = min(line, default=0), CALIBRATED_FROM
    if ratings >= needed:
        return CalibrationState(True, ratings, needed, f"Calibrated on {ratings} ratings by people.")
    return CalibrationState(
        False,
        ratings,
        needed,
        f"not calibrated: {ratings} rating{'s' if ratings != 1 else ''} by people, needs {needed}",
    )


def judged_systems(
    items: Iterable[Item], blind: Mapping[tuple[str, str], Vote], labels: Mapping[str, ItemSummary], rubric: Rubric,
    part: Sequence[str],
) -> tuple[tuple[JudgedSystem, ...], tuple[JudgeDrift, ...]]:  # fmt: skip
    """Return figures by axis and system, all together first, and how each system differs from the others.

    Args:
        items: With their hidden halves.
        blind: The judge's votes.
        labels: People's consensus by item.
        rubric: The study's.
        part: Items that figures are of.
    """
    hidden = {item.id: item.hidden for item in items}
    systems_of = {name: system_of(each) or _UNNAMED for name, each in hidden.items()}
    figures, drifts = list[JudgedSystem](), list[JudgeDrift]()
    for axis in rubric.axes:
        pairs = [(item, axis.key) for item in part if _both((item, axis.key), blind, labels, rubric)]
        cases = [
            (systems_of[item], hidden[item].task, *_compared(blind[item, key].state, labels[item], key, rubric))
            for item, key in pairs
        ]  # fmt: skip
        systems = sorted({case[0] for case in cases})
        for system in ("", *systems) if cases else ():
            mine = [case for case in cases if system in ("", case[0])]
            figures.append(JudgedSystem(axis.key, system, _by_task(mine, 2), _by_task(mine, 3)))
        drifts += _drifts(axis.key, cases, systems) if len(systems) > 1 else ()
    return tuple(figures), tuple(drifts)


_Case = tuple[str, str, float, float]


def _drifts(axis: str, cases: Sequence[_Case], systems: Sequence[str]) -> list[JudgeDrift]:
    found = []
    for system in systems:
        mine, others = (_means([case for case in cases if (case[0] == system) is own]) for own in (True, False))
        apart = [mine[task] - others[task] for task in sorted(mine.keys() & others.keys())]
        found.append((system, clustered_mean([[each] for each in apart]), paired_permutation(apart)))
    adjusted = holm([test.p_value for _, _, test in found])
    return [JudgeDrift(axis, *each, p) for each, p in zip(found, adjusted, strict=True)]


def _means(cases: Sequence[_Case]) -> dict[str, float]:
    return {task: fmean(case[2] for case in cases if case[1] == task) for task in {case[1] for case in cases}}


def _by_task(cases: Sequence[_Case], place: int) -> ClusteredMean:
    tasks: dict[str, list[float]] = {}
    for case in cases:
        tasks.setdefault(case[1], []).append(case[2] if place == 2 else case[3])
    return clustered_mean(list(tasks.values()))


def _both(
    pair: tuple[str, str], blind: Mapping[tuple[str, str], Vote], labels: Mapping[str, ItemSummary], rubric: Rubric
) -> bool:
    """Whether people settled on an answer other than unsure, and the judge has a verdict."""
    vote, label = blind.get(pair), labels[pair[0]].states.get(pair[1]) if pair[0] in labels else None
    return vote is not None and vote.state is not None and label is not None and (
        rubric.level(pair[1], label).role is not AnswerRole.UNSURE
    )  # fmt: skip


def _compared(verdict: str | None, people: ItemSummary, axis: str, rubric: Rubric) -> tuple[float, float]:
    """Agreement, and the judge's problem less people's."""
    label = people.states[axis]
    answers, seen = (
        float(state is not None and rubric.level(axis, state).role is AnswerRole.PROBLEM) for state in (verdict, label)
    )
    return float(verdict == label), answers - seen
