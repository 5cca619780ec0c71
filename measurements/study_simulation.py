"""Type I error and coverage of a study's intervals and tests, where the runs of a task are correlated.

Tasks draw their rates from a beta distribution, runs are draws at a task's rate. Before: what treated every run as
independent. After: what takes tasks. `python measurements/study_simulation.py [STUDIES]` prints a Markdown table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from random import Random

from repoassay.stats import (
    clustered_difference,
    clustered_proportion,
    clustered_test,
    mcnemar,
    pass_at_k,
    tango,
    wilson,
)

Values = list[list[float]]
STRONG, WEAK = 0.6, 5.0
"""Parameters of Beta(a, a): the worse case that was reported, with a correlation of 0.45, and one of 0.09."""


def gap_values(draw: Random, tasks: int, runs: int, shape: float) -> Values:
    """Tests minus people of each run: discordance belongs to tasks, its direction is a coin's."""
    found = []
    for _ in range(tasks):
        rate = draw.betavariate(shape, shape)
        towards = draw.choice([1.0, -1.0])
        found.append([towards * (draw.random() < rate) for _ in range(runs)])
    return found


def agent_values(draw: Random, tasks: int, runs: int, shape: float) -> Values:
    """The mean of one agent's runs minus another's of each task, both of the same rate on average."""
    found = []
    for _ in range(tasks):
        first, second = draw.betavariate(shape, shape), draw.betavariate(shape, shape)
        gained = sum(draw.random() < first for _ in range(runs)) - sum(draw.random() < second for _ in range(runs))
        found.append([gained / runs])
    return found


def share_values(draw: Random, tasks: int, runs: int, shape: float, mean: float = 0.5) -> Values:
    """Success of each run; tasks' rates are Beta with this mean and the correlation of Beta(shape, shape)."""
    size = 2 * shape
    found = []
    for _ in range(tasks):
        rate = draw.betavariate(size * mean, size * (1 - mean))
        found.append([float(draw.random() < rate) for _ in range(runs)])
    return found


def paired_rows(make: Callable[..., Values], pairs: bool) -> Callable[..., dict[str, float]]:
    """How often a study under the null finds a difference, and how often the interval holds zero."""

    def count(studies: int, tasks: int, runs: int, shape: float) -> dict[str, float]:
        draw, seen = Random(f"{tasks} {runs} {shape} {pairs}"), dict.fromkeys(("p0", "c0", "p1", "c1"), 0)
        for _ in range(studies):
            values = make(draw, tasks, runs, shape)
            flat = [value * (runs if pairs else 1) for task in values for value in task]
            b, c = round(sum(max(v, 0.0) for v in flat)), round(sum(max(-v, 0.0) for v in flat))
            n = tasks * runs
            old, new = tango(b, c, n), clustered_difference(values, pairs=n)
            seen["p0"] += (mcnemar(b, c, n).p_value or 0) < 0.05
            seen["c0"] += (old.low or 0) <= 0 <= (old.high or 0)
            seen["p1"] += (clustered_test(values, draws=1000).p_value or 0) < 0.05
            seen["c1"] += (new.low or 0) <= 0 <= (new.high or 0)
        return {key: value / studies for key, value in seen.items()}

    return count


def share_rows(studies: int, tasks: int, runs: int, shape: float, mean: float) -> dict[str, float]:
    """How often the interval of a rate holds the rate."""
    draw, seen = Random(f"{tasks} {runs} {shape} {mean}"), {"c0": 0, "c1": 0, "k1": 0}
    for _ in range(studies):
        values = share_values(draw, tasks, runs, shape, mean)
        hits = [int(sum(task)) for task in values]
        old, new = wilson(sum(hits), tasks * runs), clustered_proportion([[v > 0 for v in t] for t in values])
        seen["c0"] += (old.low or 0) <= mean <= (old.high or 0)
        seen["c1"] += (new.low or 0) <= mean <= (new.high or 0)
        passed = pass_at_k([(runs, h) for h in hits], 1).interval
        seen["k1"] += (passed.low or 0) <= mean <= (passed.high or 0)
    return {key: value / studies for key, value in seen.items()}


def lines(studies: int) -> Iterator[str]:
    """The table, a line at a time."""
    yield "| figure | tasks x runs | correlation | type I before | after | coverage before | after |"
    yield "|---|---|---|---|---|---|---|"
    for name, make, pairs in (("tests against people", gap_values, False), ("agent against agent", agent_values, True)):
        count = paired_rows(make, pairs)
        for tasks in (5, 8, 12, 18):
            for runs in (1, 3, 5):
                for shape in (STRONG, WEAK):
                    got = count(studies, tasks, runs, shape)
                    kind = "strong" if shape == STRONG else "weak"
                    cells = " | ".join(f"{got[key]:.1%}" for key in ("p0", "p1", "c0", "c1"))
                    yield f"| {name} | {tasks} x {runs} | {kind} | {cells} |"
    for mean in (0.05, 0.2, 0.5):
        for tasks in (5, 8, 12, 18):
            for runs in (1, 3, 5):
                for shape in (STRONG, WEAK):
                    got = share_rows(studies, tasks, runs, shape, mean)
                    kind = "strong" if shape == STRONG else "weak"
                    cells = f"{got['c0']:.1%} | {got['c1']:.1%} (pass@1 {got['k1']:.1%})"
                    yield f"| rate of {mean:.0%} | {tasks} x {runs} | {kind} | | | {cells} |"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(line, flush=True)
