"""Scores of one quarter on the scale of the one before, through the anchor tasks that both have.

With S the mean result over a quarter's tasks, A that over the anchor tasks, 1 the earlier quarter and 2 the later one:

    linked = S2 + shift,  shift = (S1 - A1) - (S2' - A2')

S1 and A1 are means over the earlier quarter's systems, S2' and A2' over the later one's, S2 is the system's own. S - A
says how much easier a quarter's tasks are than the anchors, as its systems show it; the shift is the change of that.
Intervals are percentiles of a bootstrap over tasks: anchors are drawn once for both quarters, the others for each.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from repoassay.errors import BadInput

__all__ = ["LinkedScore", "ScoredAttempt", "link_scores"]

_DRAWS = 2000
_LEAST_ANCHORS = 2


@dataclass(frozen=True, slots=True)
class ScoredAttempt:
    """One attempt's result: which system, which task, and whether it passed; unknown results are left out before."""

    system: str
    task: str
    passed: bool


@dataclass(frozen=True, slots=True)
class LinkedScore:
    """A system's score in the later quarter, and on the earlier one's scale with its 95 % interval."""

    system: str
    score: float
    shift: float
    linked: float
    low: float
    high: float
    anchors: int
    tasks: int


Table = Mapping[str, Mapping[str, float]]
"""System -> task -> mean result."""


def link_scores(
    earlier: Iterable[ScoredAttempt], later: Iterable[ScoredAttempt], anchors: Collection[str], *, seed: int = 0
) -> list[LinkedScore]:
    """Link the scores of every system of the later quarter.

    Args:
        earlier: Attempts at the earlier quarter's tasks.
        later: Attempts at the later quarter's tasks.
        anchors: Tasks that are in both.
        seed: Of the bootstrap.

    Raises:
        BadInput: When fewer than two anchor tasks have results in both quarters.
    """
    first, second = _table(earlier), _table(later)
    shared = sorted(set(anchors) & _tasks(first) & _tasks(second))
    if len(shared) < _LEAST_ANCHORS:
        raise BadInput(
            f"{len(shared)} anchor tasks have results in both quarters; at least {_LEAST_ANCHORS} are needed.",
            "Run systems on the anchor tasks in both quarters.",
        )
    rest = [sorted(_tasks(table) - set(shared)) for table in (first, second)]
    chance = random.Random(seed)  # noqa: S311 - a bootstrap, no secret
    draws: dict[str, list[float]] = defaultdict(list)
    for _ in range(_DRAWS):
        drawn = chance.choices(shared, k=len(shared))
        others = [chance.choices(each, k=len(each)) if each else [] for each in rest]
        moved = _shift(first, second, drawn, others)
        for system, results in second.items():
            draws[system].append(_score(results, [*drawn, *others[1]]) + moved)
    shift = _shift(first, second, shared, rest)
    found = []
    for system, results in sorted(second.items()):
        score = _score(results, [*shared, *rest[1]])
        ordered = sorted(draws[system])
        low, high = ordered[int(0.025 * _DRAWS)], ordered[int(0.975 * _DRAWS) - 1]
        tasks = len(results)
        found.append(LinkedScore(system, score, shift, score + shift, low, high, len(shared), tasks))
    return found


def _table(attempts: Iterable[ScoredAttempt]) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for each in attempts:
        results[each.system][each.task].append(each.passed)
    return {system: {task: sum(passes) / len(passes) for task, passes in of.items()} for system, of in results.items()}


def _tasks(table: Table) -> set[str]:
    return {task for results in table.values() for task in results}


def _score(results: Mapping[str, float], tasks: Sequence[str]) -> float:
    values = [results[task] for task in tasks if task in results]
    return sum(values) / len(values) if values else 0.0


def _shift(first: Table, second: Table, anchors: Sequence[str], rest: Sequence[Sequence[str]]) -> float:
    easier = []
    for table, others in zip((first, second), rest, strict=True):
        # A system without a result on the anchors says nothing of how much easier the others are.
        tried = [results for results in table.values() if not results.keys().isdisjoint(anchors)]
        gaps = [_score(results, [*anchors, *others]) - _score(results, anchors) for results in tried]
        easier.append(sum(gaps) / len(gaps))
    return easier[0] - easier[1]
