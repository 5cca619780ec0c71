"""Type I error and coverage of the figures a study prints, where the runs of a task are correlated.

Tasks draw their rates from beta distributions, runs are draws at a task's rate. What is called are the very functions
of `repoassay review figures`, `report` and `compare`: `gap`, `task_difference`, `minutes_of`, `pass_at_k`. Before: what
takes every run as independent. `python measurements/study_simulation.py [STUDIES]` prints a Markdown table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from math import exp
from random import Random

from repoassay.review import ItemSummary, gap, task_difference
from repoassay.review.minutes import minutes_difference, minutes_of
from repoassay.stats import Interval, bootstrap_mean, mcnemar, pass_at_k, tango, wilson

STRONG, WEAK = 0.6, 5.0
"""Parameters of Beta(a, a): runs of a task correlate by 1 / (2 a + 1), 0.45 and 0.09."""
Pairs = list[list[tuple[bool, bool]]]
Seen = dict[str, float]


def row(number: int, task: int, tests: bool, people: bool, minutes: float | None = None) -> ItemSummary:
    """A reviewed submission."""
    return ItemSummary(
        f"s{number}", f"t{task}", "a", tests, None, "", {}, {}, people, people, minutes, None, 1
    )  # fmt: skip


def rate(draw: Random, mean: float, shape: float) -> float:
    """A task's rate, of that mean and with the correlation of Beta(shape, shape)."""
    return draw.betavariate(2 * shape * mean, 2 * shape * (1 - mean))


def pairs_of(draw: Random, tasks: int, runs: int, shape: float, means: tuple[float, float], shared: bool) -> Pairs:
    """Of each run of each task two answers; with `shared` a task is as hard for one as for the other."""
    found = []
    for _ in range(tasks):
        one = rate(draw, means[0], shape)
        other = min(1.0, one * means[1] / means[0]) if shared else rate(draw, means[1], shape)
        found.append([(draw.random() < one, draw.random() < other) for _ in range(runs)])
    return found


def holds(ends: Interval, value: float) -> bool:
    """Whether an interval is there and holds a value."""
    return ends.low is not None and ends.high is not None and ends.low - 1e-9 <= value <= ends.high + 1e-9


@cache
def _of_gap(counts: tuple[tuple[tuple[bool, bool], ...], ...]) -> tuple[Interval, Interval, Interval, float]:
    rows = [row(10 * t + n, t, *pair) for t, task in enumerate(counts) for n, pair in enumerate(task)]
    found = gap(rows)
    return found.tests_interval, found.people_interval, found.interval, found.test.p_value or 0.0


def gap_study(values: Pairs, means: tuple[float, float], seen: Seen) -> None:
    """Tests against people: both rates, and their difference."""
    # Neither the order of tasks nor of their runs matters to any of these figures; most small studies come again.
    tests, people, ends, p_value = _of_gap(tuple(sorted(tuple(sorted(task)) for task in values)))
    flat = [pair for task in values for pair in task]
    n, apart = len(flat), (flat.count((True, False)), flat.count((False, True)))
    seen["rate before"] += holds(wilson(sum(t for t, _ in flat), n), means[0])
    seen["rate"] += holds(tests, means[0])
    seen["second rate"] += holds(people, means[1])
    hits = [(len(task), sum(t for t, _ in task)) for task in values]
    seen["pass@1"] += holds(pass_at_k(hits, 1).interval, means[0])
    _differ(seen, apart, n, ends, p_value, means[0] - means[1])


def agents_study(values: Pairs, means: tuple[float, float], seen: Seen) -> None:
    """Agent against agent, paired by task."""
    first = [row(10 * t + n, t, True, a) for t, task in enumerate(values) for n, (a, _) in enumerate(task)]
    second = [row(10 * t + n, t, True, b) for t, task in enumerate(values) for n, (_, b) in enumerate(task)]
    found = task_difference(first, second, "mergeable")
    flat = [pair for task in values for pair in task]
    apart = flat.count((True, False)), flat.count((False, True))
    _differ(seen, apart, len(flat), found.interval, found.test.p_value or 0.0, means[0] - means[1])


def _differ(seen: Seen, apart: tuple[int, int], n: int, ends: Interval, p_value: float, truth: float) -> None:
    seen["covered before"] += holds(tango(*apart, n), truth)
    seen["covered"] += holds(ends, truth)
    seen["error before"] += (mcnemar(*apart, n).p_value or 0) < 0.05
    seen["error"] += p_value < 0.05


def minutes_study(draw: Random, tasks: int, runs: int, shape: float, seen: Seen) -> None:
    """Minutes: one in five is 0, the others lognormal, with half (or a tenth) of the variance between tasks."""
    between = 0.5 if shape == STRONG else 0.1
    spread, made = 0.8, ([], [])  # type: tuple[float, tuple[list[ItemSummary], list[ItemSummary]]]
    for side in made:
        for task in range(tasks):
            level = draw.gauss(0, between**0.5)
            for n in range(runs):
                # People state whole minutes, of which sums of all signs can be counted quickly.
                value = float(round(exp(3 + spread * (level + draw.gauss(0, (1 - between) ** 0.5)))))
                side.append(row(10 * task + n, task, True, True, 0.0 if draw.random() < 0.2 else value))
    found, other = minutes_of(made[0]), minutes_difference(made[0], made[1])
    truth = 0.8 * exp(3 + spread**2 / 2)
    values = [[float(each.minutes or 0) for each in made[0][t * runs : (t + 1) * runs]] for t in range(tasks)]
    seen["rate before"] += holds(bootstrap_mean(values, draws=200), truth)
    seen["rate"] += holds(found.interval, truth)
    # The median: 3/8 of those above 0 are below it.
    seen["second rate"] += holds(found.median_interval, round(exp(3 + spread * -0.318639363964375)))
    seen["covered"] += holds(other.interval, 0.0)
    seen["error"] += (other.test.p_value or 0) < 0.05


SCENES = {
    "tests, people, both 50%": ((0.5, 0.5), "gap", False),
    "tests, people, both 10%": ((0.1, 0.1), "gap", False),
    "tests 70%, people 40%": ((0.7, 0.4), "gap", False),
    "tests, people, both 95%": ((0.95, 0.95), "gap", False),
    "agents, both 50%, tasks alike": ((0.5, 0.5), "agents", True),
    "agents, both 50%, tasks apart": ((0.5, 0.5), "agents", False),
    "agents, both 10%, tasks alike": ((0.1, 0.1), "agents", True),
    "agents, both 5%, tasks apart": ((0.05, 0.05), "agents", False),
    "agents 70% and 40%, tasks alike": ((0.7, 0.4), "agents", True),
    "agents 95% and 80%, tasks apart": ((0.95, 0.8), "agents", False),
    "minutes to fix": ((0.5, 0.5), "minutes", False),
}
FEW = ("tests, people, both 50%", "tests, people, both 10%", "agents, both 50%, tasks alike", "minutes to fix")
"""Scenes of eight tasks, too."""
COLUMNS = ("error before", "error", "covered before", "covered", "rate before", "rate", "second rate", "pass@1")


def studied(scene: str, studies: int, tasks: int, runs: int, shape: float) -> Seen:
    """Shares over so many studies: tests below 5 %, and intervals that hold what they are of."""
    means, kind, shared = SCENES[scene]
    draw, seen = Random(f"{scene} {tasks} {runs} {shape}"), dict.fromkeys(COLUMNS, 0.0)
    for _ in range(studies):
        if kind == "minutes":
            minutes_study(draw, tasks, runs, shape, seen)
            continue
        values = pairs_of(draw, tasks, runs, shape, means, shared)
        (gap_study if kind == "gap" else agents_study)(values, means, seen)
    _of_gap.cache_clear()
    return {key: value / studies for key, value in seen.items()}


def lines(studies: int) -> Iterator[str]:
    """The table, a line at a time; of figures that a scene does not have the cell is empty."""
    yield "| scene | tasks x runs | correlation | " + " | ".join(COLUMNS) + " |"
    yield "|" + "---|" * (3 + len(COLUMNS))
    for tasks in (18, 8):
        for scene, (means, kind, _) in SCENES.items():
            if tasks < 18 and scene not in FEW:
                continue
            for runs in (1, 3, 5):
                for shape in (STRONG, WEAK):
                    got = studied(scene, studies, tasks, runs, shape)
                    absent = set() if means[0] == means[1] else {"error before", "error"}
                    absent |= {"rate before", "rate", "second rate", "pass@1"} if kind == "agents" else set()
                    absent |= {"error before", "covered before", "pass@1"} if kind == "minutes" else set()
                    cells = " | ".join("" if key in absent else f"{got[key]:.1%}" for key in COLUMNS)
                    yield f"| {scene} | {tasks} x {runs} | {'strong' if shape == STRONG else 'weak'} | {cells} |"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(line, flush=True)
