"""Every figure of a study, out of its tidy table alone: `python analyse.py STUDY.csv [--phase revealed] [--by model]`.

It needs Python 3.11 and nothing else, shares no code with RepoAssay, and prints JSON of the same shape as `data`
of `repoassay review figures STUDY --json`. Change it as you like. Draws are those of Python's `random.Random(0)`.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections import Counter
from datetime import datetime
from itertools import chain, combinations
from math import cbrt, comb, exp, fsum, lgamma, log, log1p, prod, sqrt
from operator import itemgetter
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean, median, quantiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_Z = NormalDist().inv_cdf(0.975)
_Json = dict[str, Any]


def _beta(x: float, a: float, b: float, mirrored: bool = False) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2) and not mirrored:
        return 1 - _beta(1 - x, b, a, mirrored=True)
    d = value = 1 / (1 - (a + b) * x / (a + 1))
    c = 1.0
    for m in range(1, 5000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d, c = 1 / (1 + step * d), 1 + step / c
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) * value / a


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Where `holds`, which is true at `low`, ends on the way to `high`."""
    if holds(high):
        return high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _beta_quantile(share: float, a: float, b: float) -> float:
    return _bisect(lambda x: _beta(x, a, b) < share, 0.0, 1.0)


def _t(freedom: float) -> float:
    """Student's 97.5 % quantile."""
    return _bisect(lambda t: _beta(t * t / (freedom + t * t), 0.5, freedom / 2) < 0.95, 0.0, 1e6)


def _ends(low: float | None = None, high: float | None = None, n: int = 0) -> _Json:
    return {"low": low, "high": high, "n": n}


def _independent(tasks: list[list[float]], variance: float, pairs: int = 0, normal: bool = False) -> float:
    """How many independent observations the tasks' values are worth (Korn and Graubard).

    Three quarters are believed of what runs add to one observation a task. With `normal` it is for an interval that
    goes by the normal quantile, where Student's has to stand.
    """
    count, n, found = len(tasks), sum(map(len, tasks)), _mean_error(tasks)
    if found is None or variance <= 0:
        return float(count)
    most = max(n, pairs)
    number = 1 + variance / found[1] ** 2
    if number > count:
        number = count + 0.75 * (number - count)
    other = _Z if normal and most > count else _t(most - 1)
    return min(float(most), number * (other / _t(count - 1)) ** 2)


def _share_by_task(tasks: Iterable[list[bool]]) -> _Json:
    """Clopper and Pearson's interval of as many observations as tasks are worth."""
    given = [[float(value) for value in task] for task in tasks if task]
    n = sum(map(len, given))
    if not n:
        return _ends()
    share = fsum(map(fsum, given)) / n
    number = _independent(given, share * (1 - share))
    hits = share * number
    low = 0.0 if share == 0 else _beta_quantile(0.025, hits, number - hits + 1)
    high = 1.0 if share == 1 else 1 - _beta_quantile(0.025, number - hits, hits + 1)
    return _ends(low, high, len(given))


def _difference_by_task(tasks: list[list[float]], pairs: int = 0) -> _Json:
    """Tango's score interval of as many pairs as tasks are worth."""
    values = [value for task in tasks for value in task]
    n = len(values)
    if not n:
        return _ends()
    above, below = fsum(max(v, 0.0) for v in values) / n, fsum(max(-v, 0.0) for v in values) / n
    seen, number = above - below, _independent(tasks, above + below - (above - below) ** 2, pairs, True)

    def accepted(difference: float) -> bool:
        linear = (2 - seen) * difference - above - below
        alone = (sqrt(max(0.0, linear**2 + 8 * below * difference * (1 - difference))) - linear) / 4
        return number * (seen - difference) ** 2 <= _Z**2 * max(0.0, 2 * alone + difference * (1 - difference))

    return _ends(_bisect(accepted, seen, -1.0), _bisect(accepted, seen, 1.0), len(tasks))


def _sign_flips(sums: list[float], n: int) -> _Json:
    """The two-sided sign-flip test that a mean is zero: exact where 2^20 steps do, else of 10,000 draws."""
    if not sums:
        return {"p_value": None, "statistic": None, "n": 0}
    widest, counts, work = max(map(abs, sums)), {0: 1}, 0
    steps = [round(each / widest * 2**40) for each in sums if each]
    reached = abs(sum(steps)) - len(steps)  # each step is rounded by half a unit at most
    for step in steps:
        work += len(counts)
        if work > 2**20:
            break
        after: Counter[int] = Counter()
        for total, count in counts.items():
            after[total + step] += count
            after[total - step] += count
        counts = dict(after)
    p_value = sum(count for total, count in counts.items() if abs(total) >= reached) / sum(counts.values())
    if work > 2**20:
        random, whole, extreme = Random(0), sum(steps), 0  # noqa: S311 - a seeded sample
        for _ in range(10_000):
            bits = f"{random.getrandbits(len(steps)):0{len(steps)}b}"
            extreme += abs(2 * sum(s for s, bit in zip(steps, bits, strict=True) if bit == "1") - whole) >= reached
        p_value = (extreme + 1) / 10_001
    return {"p_value": p_value, "statistic": fsum(sums) / n, "n": len(sums)}


def _fisher(first: _Json, second: _Json) -> _Json:
    a, m, b, n = first["successes"], first["n"], second["successes"], second["n"]
    if not m or not n:
        return {"p_value": None, "statistic": None, "n": m + n}
    ways = [comb(m, x) * comb(n, a + b - x) if x <= a + b else 0 for x in range(m + 1)]
    return {"p_value": sum(w for w in ways if w <= ways[a]) / sum(ways), "statistic": a / m - b / n, "n": m + n}


def _holm(p_values: list[float | None]) -> list[float | None]:
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found, floor = [None] * len(p_values), 0.0  # type: list[float | None], float
    for rank, (p, place) in enumerate(known):
        found[place] = floor = max(floor, min(1.0, (len(known) - rank) * p))
    return found


def _mean_error(tasks: list[list[float]]) -> tuple[float, float] | None:
    """A mean over all values and its standard error by task; None where tasks do not tell it."""
    values, count = [value for task in tasks for value in task], len(tasks)
    if count < 2:
        return None
    mean = fsum(values) / len(values)
    apart = [fsum(value - mean for value in task) for task in tasks]
    if max(map(abs, apart)) <= 1e-12 * (max(values) - min(values)) * len(values):
        return None
    return mean, sqrt(fsum(part**2 for part in apart) * count / (count - 1)) / len(values)


def _student(tasks: list[list[float]]) -> _Json:
    """Student's interval of a mean by task."""
    found = _mean_error(tasks)
    if found is None:
        return _ends(n=len(tasks))
    half = _t(len(tasks) - 1) * found[1]
    return _ends(found[0] - half, found[0] + half, len(tasks))


def _skewed_mean(tasks: list[list[float]]) -> _Json:
    """Hall's interval of the mean of minutes by task, which are skewed and never below 0."""
    count, found = len(tasks), _mean_error(tasks)
    if found is None or count < 3:
        return _ends(n=count)
    mean, error = found
    apart = [fsum(value - mean for value in task) for task in tasks]
    second, third = (fsum(part**power for part in apart) / count for power in (2, 3))
    lean = third / (second * sqrt(second)) / (3 * sqrt(count))
    edge, ends = _t(max(count / 2, 1.0)), []
    for quantile in (edge, -edge):
        wanted = quantile - lean / 2
        ends.append(mean - error * (wanted if abs(lean) < 1e-9 else (cbrt(1 + 3 * lean * wanted) - 1) / lean))
    return _ends(max(0.0, ends[0]), ends[1], count)


def _median_by_task(tasks: list[list[float]]) -> _Json:
    """Woodruff's interval: the values of which the share below, and the share above, may be one half."""
    values = sorted({value for task in tasks for value in task})
    if not values:
        return _ends()
    above = [_share_by_task([[one > edge for one in task] for task in tasks])["low"] for edge in values]
    below = [_share_by_task([[one < edge for one in task] for task in tasks])["low"] for edge in values]
    low = next(place for place, share in enumerate(above) if share <= 0.5)
    high = max(place for place, share in enumerate(below) if share <= 0.5)
    return _ends(values[low], values[max(low, high)], len(tasks))


def _two_samples(first: list[float], second: list[float]) -> _Json:
    """The two-sided permutation test of two means: exact up to 50,000 splits, else of 10,000 draws."""
    every, size = [*first, *second], len(first)
    n = len(every)
    if not first or not second:
        return {"p_value": None, "statistic": None, "n": n}

    def apart(group: Sequence[float]) -> float:
        return (fsum(every) - fsum(group)) / (n - size) - fsum(group) / size

    edge = abs(apart(first)) - 1e-12 * max(1.0, *map(abs, every))
    splits, random = comb(n, size), Random(0)  # noqa: S311 - a seeded sample
    if splits <= 50_000:
        p_value = sum(abs(apart(group)) >= edge for group in combinations(every, size)) / splits
    else:
        p_value = (sum(abs(apart(random.sample(every, size))) >= edge for _ in range(10_000)) + 1) / 10_001
    return {"p_value": p_value, "statistic": apart(first), "n": n}


def _coefficients(units: list[list[Any]], order: list[Any], ordinal: bool) -> dict[str, _Json]:
    """Percent agreement, Krippendorff's alpha and Gwet's AC1 (AC2 with ordinal weights on a scale of values)."""
    counts = [Counter(label for label in unit if label is not None) for unit in units]
    counts = [unit for unit in counts if unit]
    paired, size = [unit for unit in counts if unit.total() > 1], len(order)
    names, n = ("percent", "alpha", "chance_free"), len(paired)
    found: dict[str, _Json] = {name: {"value": None, "n": n} for name in names}
    if not paired:
        return found
    alike = [sum(c * (c - 1) for c in unit.values()) / (unit.total() * (unit.total() - 1)) for unit in paired]
    found["percent"]["value"] = sum(alike) / n
    totals = sum(paired, Counter[Any]())
    reached = {label: sum(totals[each] for each in order[:i]) + totals[label] / 2 for i, label in enumerate(order)}

    def apart(unit: Counter[Any]) -> float:
        return sum(
            m * k * ((reached[x] - reached[y]) ** 2 if ordinal else 1.0)
            for x, m in unit.items() for y, k in unit.items() if x != y
        )  # fmt: skip

    if len(totals) > 1:
        observed = sum(apart(unit) / (unit.total() - 1) for unit in paired)
        found["alpha"]["value"] = 1 - observed / (apart(totals) / (totals.total() - 1))
    if size > 1:
        weight = {
            (x, y): 1 - comb(abs(i - j) + 1, 2) / comb(size, 2) if ordinal else float(i == j)
            for i, x in enumerate(order) for j, y in enumerate(order)
        }  # fmt: skip
        near = sum(
            sum(m * (sum(weight[x, y] * k for y, k in unit.items()) - 1) for x, m in unit.items())
            / (unit.total() * (unit.total() - 1))
            for unit in paired
        ) / n  # fmt: skip
        shares = [sum(unit[label] / unit.total() for unit in counts) / len(counts) for label in order]
        chance = sum(weight.values()) / (size * (size - 1)) * sum(share * (1 - share) for share in shares)
        found["chance_free"]["value"] = (near - chance) / (1 - chance)
    return found


def _agreement(key: str, units: list[list[Any]], tasks: list[str], order: list[Any], ordinal: bool = False) -> _Json:
    """Agreement with jackknife intervals over tasks, on the scale log(1 - coefficient)."""
    groups: dict[str, list[list[Any]]] = {}
    for task, unit in zip(tasks, units, strict=True):
        groups.setdefault(task, []).append(unit)
    whole, given, count = _coefficients(units, order, ordinal), list(groups.values()), len(groups)
    left = [
        _coefficients([unit for i, group in enumerate(given) if i != out for unit in group], order, ordinal)
        for out in range(count)
    ]
    found: _Json = {"key": key, "baseline": _baseline(units)}
    for name, figure in whole.items():
        values = [each[name]["value"] for each in (whole, *left)]
        known = [log(1 - value) for value in values if value is not None and value < 1]
        ends = _ends(n=count)
        if count >= 8 and len(known) > count:
            middle = fsum(known[1:]) / count
            error = sqrt(fsum((part - middle) ** 2 for part in known[1:]) * (count - 1) / count)
            if error:
                half = _t(count - 1) * error
                ends = _ends(max(-1.0, 1 - exp(known[0] + half)), 1 - exp(known[0] - half), count)
        found |= {name: figure, f"{name}_interval": ends}
    return found


def _baseline(units: list[list[Any]]) -> _Json:
    """Each rater against the unique most frequent answer of the others."""
    pairs: list[list[bool]] = [[] for _ in units[0]] if units else []
    tied = 0
    for unit in units:
        for rater, label in enumerate(unit):
            others = Counter(each for i, each in enumerate(unit) if i != rater and each is not None).most_common(2)
            if label is None or not others:
                continue
            if len(others) == 2 and others[0][1] == others[1][1]:
                tied += 1
            else:
                pairs[rater].append(others[0][0] == label)
    shares = [{"value": fmean(mine) if mine else None, "n": len(mine)} for mine in [*pairs, [*chain(*pairs)]]]
    return {"raters": shares[:-1], "overall": shares[-1], "tied": tied}


def _rows_of(path: Path) -> list[_Json]:
    """The table's rows, every cell as text or None."""
    if path.suffix == ".jsonl":
        lines = (json.loads(line) for line in path.read_text("utf-8").split("\n") if line)
        return [{key: None if cell is None else str(cell) for key, cell in line.items()} for line in lines]
    csv.field_size_limit(2**24)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        # An apostrophe guards what a spreadsheet would run as a formula.
        return [{key: cell.removeprefix("'") or None for key, cell in line.items()} for line in csv.DictReader(stream)]


def _ratings_of(rows: list[_Json], phase: str) -> list[_Json]:
    """People's last versions of their answers, by item and rater."""
    every: dict[str, _Json] = {}
    for row in rows:
        if row["record"] != "answer" or row["rater_role"] == "judge" or (phase == "blind" and row["phase"] != "blind"):
            continue
        rating = every.setdefault(row["rating"], {"row": row, "axes": {}, "form": {}})
        rating["axes" if row["asked"] == "axis" else "form"][row["axis"]] = row["answer"]
    last: dict[tuple[str, str], _Json] = {}
    for rating in every.values():
        row, form = rating["row"], rating["form"]
        yes = {"yes": True, "no": False}
        rating |= {"item": row["item"], "rater": row["rater"], "version": int(row["version"])}
        rating |= {"position": int(row["queue_position"]), "seconds": float(row["seconds"])}
        rating |= {key: yes.get(form.get(key)) for key in ("would_merge", "mergeable")}
        rating["minutes"] = float(form["minutes"]) if form.get("minutes") else None
        pair = (row["item"], row["rater"])
        if pair not in last or last[pair]["version"] < rating["version"]:
            last[pair] = rating
    return [last[pair] for pair in sorted(last)]


def _label(states: list[str], levels: dict[str, _Json], settled: str | None) -> str | None:
    """What raters' states of one axis of one item come to; None while that is open."""
    chosen = [state for state in states if levels[state]["role"] != "unsure"]
    counts = Counter(chosen).most_common()
    if settled is not None or not counts or 2 * len(chosen) <= len(states):
        return settled
    if 2 * counts[0][1] > len(chosen):
        return counts[0][0]
    if any(level["value"] is None for level in levels.values()):
        return None
    if counts[1][1] < counts[0][1]:
        return counts[0][0]
    return sorted(chosen, key=lambda state: levels[state]["value"] or 0.0)[(len(chosen) - 1) // 2]


def _derived(states: dict[str, str], rubric: _Json, levels: dict[str, dict[str, _Json]]) -> bool | None:
    if rubric["rule"] == "none":
        return None
    roles = [levels[axis][states[axis]]["role"] if axis in states else None for axis in levels]
    if "problem" in roles:
        return False
    applicable = [role for role in roles if role != "not_applicable"]
    return True if applicable and all(role == "clear" for role in applicable) else None


class _Chosen:
    """Reads what a rating says on an axis; unsure answers are missing."""

    def __init__(self, axis: str, known: set[str]) -> None:
        self.axis, self.known = axis, known

    def __call__(self, rating: _Json) -> str | None:
        state = rating["axes"].get(self.axis)
        return state if state in self.known else None


class _Study:
    """A study's items as its people see them, and the figures of these."""

    def __init__(self, rows: list[_Json], phase: str, by: str) -> None:
        self.head = next(row for row in rows if row["record"] == "study")
        self.settings = json.loads(self.head["answer"])
        self.rubric, self.phase, self.by = self.settings["rubric"], phase, by
        self.axes = {axis["key"]: axis for axis in self.rubric["axes"]}
        self.levels = {
            key: {level["key"]: level for level in axis["scale"] or self.rubric["scale"]}
            for key, axis in self.axes.items()
        }
        self.ratings = _ratings_of(rows, phase)
        settled = {(row["item"], row["axis"]): row["answer"] for row in rows if row["record"] == "adjudication"}
        by_item: dict[str, list[_Json]] = {}
        for rating in self.ratings:
            by_item.setdefault(rating["item"], []).append(rating)
        items = {row["item"]: row for row in rows if row["record"] == "item"}
        self.tasks = {item: row["task"] for item, row in items.items()}
        every = [self._item(row, by_item[item], settled) for item, row in items.items() if item in by_item]
        self.out = {item["item"]: item["out"] for item in every if item["out"]}
        self.items = [item for item in every if not item["out"]]
        used = {item["item"] for item in self.items}
        self.counted = [rating for rating in self.ratings if rating["item"] in used]

    def _item(self, row: _Json, ratings: list[_Json], settled: dict[tuple[str, str], str]) -> _Json:
        states: dict[str, str] = {}
        for axis, levels in self.levels.items():
            given = [rating["axes"][axis] for rating in ratings if axis in rating["axes"]]
            label = _label(given, levels, settled.get((row["item"], axis)))
            states |= {axis: label} if label is not None else {}
        asked = [each["would_merge"] for each in ratings if each["would_merge"] is not None]
        minutes = [each["minutes"] for each in ratings if each["minutes"] is not None]
        named = row["system"] or " ".join(filter(None, (row["agent"], row["model"])))
        return {
            "item": row["item"], "task": row["task"], "control": row["control"],
            "out": row["excluded"] or row["flagged"], "states": states,
            "tests": {"passed": True, "failed": False}.get(row["tests"]),
            "mergeable": _derived(states, self.rubric, self.levels),
            "would_merge": None if 2 * sum(asked) == len(asked) else 2 * sum(asked) > len(asked),
            "minutes": median(minutes) if minutes else None,
            "human": float(row["human_minutes"]) if row["human_minutes"] else None,
            "system": (named if self.by == "system" else row[self.by]) or "not known",
        }  # fmt: skip

    def figures(self) -> _Json:
        """Every figure, in the shape of `repoassay review figures --json`."""
        plan = self.settings["plan"]
        rows = [item for item in self.items if item["control"] is None]
        groups: dict[str, list[_Json]] = {}
        for row in rows:
            groups.setdefault(row["system"], []).append(row)
        tests = {"all": (True, False, None), "passing": (True,), "failing": (False,)}
        frozen = plan and plan["frozen"]
        return {
            "study": self.head["study"], "phase": self.phase, "by": self.by,
            "plan_hash": hashlib.sha256(plan["text"].encode()).hexdigest() if plan else "",
            "plan_frozen": datetime.fromisoformat(frozen).isoformat() if frozen else "",
            "amendments": [
                each | {"at": str(datetime.fromisoformat(each["at"]))} for each in (plan["amendments"] if plan else ())
            ],
            "items": len(self.items), "ratings": len(self.counted), "excluded": self.out,
            "gap": _gap(rows, "mergeable"), "asked": _gap(rows, "would_merge"),
            "systems": [
                {"name": name, "gap": _gap(group, "mergeable"), "asked": _gap(group, "would_merge"),
                 "minutes": _minutes(group)}
                for name, group in sorted(groups.items())
            ],
            "differences": _differences(groups), "failures": self._failures(rows), "problems": self._problems(rows),
            "minutes": {key: _minutes([row for row in rows if row["tests"] in kept]) for key, kept in tests.items()},
            "controls": _controls(self.items), "agreement": self._agreement() if self.counted else [],
            "severity": self._severity(), "order": self._order(), "drift": self._drift(),
        }  # fmt: skip

    def _role(self, axis: str, state: str | None) -> str | None:
        return None if state is None else str(self.levels[axis][state]["role"])

    def _failures(self, rows: list[_Json]) -> list[_Json]:
        found = []
        for axis in self.axes:
            if all(level["role"] != "problem" for level in self.levels[axis].values()):
                continue
            roles = [(row["tests"], self._role(axis, row["states"].get(axis))) for row in rows]
            failing, passing, pooled = (
                _problem_share([role for tests, role in roles if tests in kept])
                for kept in ((False,), (True,), (True, False, None))
            )
            found.append({
                "axis": axis, "failing": failing, "passing": passing, "pooled": pooled,
                "not_applicable": sum(role == "not_applicable" for _, role in roles),
                "open": sum(role in {None, "unsure"} for _, role in roles), "test": _fisher(failing, passing),
            })  # fmt: skip
        return found

    def _problems(self, rows: list[_Json]) -> _Json:
        numbers = [sum(self._role(axis, s) == "problem" for axis, s in row["states"].items()) for row in rows]
        counts = {str(number): count for number, count in sorted(Counter(numbers).items())}
        return {"counts": counts, "n": len(numbers), "total": sum(numbers)}

    def _agreement(self) -> list[_Json]:
        people = sorted({rating["rater"] for rating in self.counted})
        items = sorted({rating["item"] for rating in self.counted})
        given = {(rating["item"], rating["rater"]): rating for rating in self.counted}
        tasks = [self.tasks[item] for item in items]

        def units(answer: Callable[[_Json], Any]) -> list[list[Any]]:
            return [
                [answer(given[item, rater]) if (item, rater) in given else None for rater in people] for item in items
            ]

        found = []
        for axis, levels in self.levels.items():
            known = {key: level["value"] for key, level in levels.items() if level["role"] != "unsure"}
            ordinal = all(level["value"] is not None for level in levels.values())
            order = sorted(known, key=lambda key: known[key] or 0.0) if ordinal else list(known)
            states = units(_Chosen(axis, set(known)))
            found.append(_agreement(axis, states, tasks, order, ordinal))
        for key in ("mergeable", "would_merge"):
            asked = any(question["key"] == key for question in self.rubric["questions"])
            if asked or (key == "mergeable" and self.rubric["rule"] != "none"):
                answers = units(itemgetter(key))
                found.append(_agreement(key, answers, tasks, [True, False]))
        return found

    def _severity(self) -> list[_Json]:
        typical = median([rating["seconds"] for rating in self.counted]) if self.counted else 0.0
        found = []
        for rater in sorted({rating["rater"] for rating in self.counted}):
            mine = [rating for rating in self.counted if rating["rater"] == rater]
            differences, agreed = self._beside(mine, [each for each in self.counted if each["rater"] != rater])
            given = [rating["minutes"] for rating in mine if rating["minutes"] is not None]
            found.append({
                "rater": rater, "ratings": len(mine), **self._part(mine), "minutes": fmean(given) if given else None,
                "fast": sum(rating["seconds"] < 0.25 * typical for rating in mine),
                "beside_others": {"value": fmean(differences) if differences else None, "n": len(differences)},
                "with_majority": _count(agreed),
            })  # fmt: skip
        return sorted(found, key=lambda each: (-(each["beside_others"]["value"] or 0.0), each["rater"]))

    def _drift(self) -> list[_Json]:
        """Each rater's first ratings beside the last: problems beside the others', and answers to controls."""
        when = ("submitted_at", "rating")
        line = sorted(self.counted, key=lambda each: [each["row"][key] for key in when])
        found: list[_Json] = []
        for rater in sorted({rating["rater"] for rating in line}):
            severe: list[float] = []
            right: list[float] = []
            for rating in (each for each in line if each["rater"] == rater):
                same = [each for each in line if each["item"] == rating["item"] and each["rater"] != rater]
                shares = [share for each in same if (share := self._share_of(each)) is not None]
                if (own := self._share_of(rating)) is not None and shares:
                    severe.append(own - fmean(shares))
                merges = rating["mergeable"] if rating["would_merge"] is None else rating["would_merge"]
                if rating["row"]["control"] and merges is not None:
                    right.append(float(merges == (rating["row"]["control"] == "good")))
            for measure, values in (("severity", severe), ("controls", right)):
                half = len(values) // 2
                first, last = values[:half], values[len(values) - half :]
                means = {"before": fmean(first) if first else None, "after": fmean(last) if last else None}
                found.append({"rater": rater, "measure": measure, **means, "test": _two_samples(first, last)})
        adjusted = _holm([each["test"]["p_value"] for each in found])
        return [
            each | {"adjusted": p_value, "alarm": p_value is not None and p_value < 0.05}
            for each, p_value in zip(found, adjusted, strict=True)
        ]

    def _share_of(self, rating: _Json) -> float | None:
        share = _problem_share([self._role(axis, state) for axis, state in rating["axes"].items()])
        return share["successes"] / share["n"] if share["n"] else None

    def _beside(self, mine: list[_Json], others: list[_Json]) -> tuple[list[float], list[bool]]:
        differences, agreed, chosen = [], [], ("problem", "clear")
        for rating in mine:
            same = [each for each in others if each["item"] == rating["item"]]
            for axis, state in rating["axes"].items():
                states = [each["axes"][axis] for each in same]
                top, most = Counter(states).most_common(1)[0] if states else ("", 0)
                if 2 * most > len(states):
                    agreed.append(state == top)
                roles = [role for role in (self._role(axis, each) for each in states) if role in chosen]
                if roles and (own := self._role(axis, state)) in chosen:
                    differences.append((own == "problem") - fmean(role == "problem" for role in roles))
        return differences, agreed

    def _part(self, ratings: list[_Json]) -> _Json:
        roles = [self._role(axis, state) for rating in ratings for axis, state in rating["axes"].items()]
        return {
            "problems": _problem_share(roles),
            "accepted": _count([rating["would_merge"] for rating in ratings if rating["would_merge"] is not None]),
            "active_seconds": median([rating["seconds"] for rating in ratings]) if ratings else None,
        }

    def _order(self) -> _Json:
        halves: tuple[list[_Json], list[_Json]] = ([], [])
        differences = []
        for rater in sorted({rating["rater"] for rating in self.counted}):
            mine = sorted((each for each in self.counted if each["rater"] == rater), key=lambda each: each["position"])
            parts = mine[: len(mine) // 2], mine[len(mine) - len(mine) // 2 :]
            shares = [self._part(part)["problems"] for part in parts]
            halves[0].extend(parts[0])
            halves[1].extend(parts[1])
            if all(share["n"] for share in shares):
                before, after = (share["successes"] / share["n"] for share in shares)
                differences.append(after - before)
        first, second = (self._part(half) for half in halves)
        return {"first": first, "second": second, "test": _sign_flips(differences, len(differences))}


def _count(answers: list[bool]) -> _Json:
    return {"successes": sum(answers), "n": len(answers)}


def _problem_share(roles: list[str | None]) -> _Json:
    return _count([role == "problem" for role in roles if role in {"problem", "clear"}])


def _by_task(rows: list[_Json], key: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        if row[key] is not None:
            found.setdefault(row["task"], []).append(row[key])
    return found


def _gap(rows: list[_Json], people: str) -> _Json:
    """Tests against people on the same submissions; the task is what was sampled."""
    tasks: dict[str, list[tuple[bool, bool]]] = {}
    for row in rows:
        if row["tests"] is not None and row[people] is not None:
            tasks.setdefault(row["task"], []).append((row["tests"], row[people]))
    pairs = [pair for task in tasks.values() for pair in task]
    apart = [[float(tests) - float(merged) for tests, merged in task] for task in tasks.values()]
    n, b, c = len(pairs), pairs.count((True, False)), pairs.count((False, True))
    found: _Json = {
        "n": n, "left_out": len(rows) - n, "both": pairs.count((True, True)), "tests_only": b, "people_only": c,
        "neither": pairs.count((False, False)), "difference": (b - c) / n if n else None, "enough": 6,
        "interval": _difference_by_task(apart), "adjusted": _agresti_min(b, c, n), "tasks": len(tasks),
        "test": _sign_flips([fsum(task) for task in apart], n),
    }  # fmt: skip
    for place, key in enumerate(("tests", "people")):
        found[key] = _count([pair[place] for pair in pairs])
        found[f"{key}_interval"] = _share_by_task([[pair[place] for pair in task] for task in tasks.values()])
    return found


def _agresti_min(b: int, c: int, n: int) -> _Json:
    if not n:
        return _ends()
    x, y, size = b + 0.5, c + 0.5, n + 2
    half = _Z * sqrt(max(0.0, x + y - (x - y) ** 2 / size)) / size
    return _ends(max(-1.0, (x - y) / size - half), min(1.0, (x - y) / size + half), n)


def _differences(groups: dict[str, list[_Json]]) -> list[_Json]:
    found: list[_Json] = []
    for first, second in combinations(sorted(groups), 2):
        pair: _Json = {"first": first, "second": second}
        for key in ("mergeable", "would_merge", "tests", "minutes"):
            ours, theirs = _by_task(groups[first], key), _by_task(groups[second], key)
            common = sorted(ours.keys() & theirs.keys())
            apart = [fmean(ours[task]) - fmean(theirs[task]) for task in common]
            runs = sum(min(len(ours[task]), len(theirs[task])) for task in common)
            values = [[each] for each in apart]
            pair["minutes_to_fix" if key == "minutes" else key] = {
                "tasks": len(common), "difference": fmean(apart) if apart else None,
                "interval": _student(values) if key == "minutes" else _difference_by_task(values, runs),
                "test": _sign_flips(apart, len(apart)),
            }  # fmt: skip
        pair["mixed"] = None  # `--mixed` of the command; analyse.R fits one by lme4
        found.append(pair)
    adjusted = _holm([pair["mergeable"]["test"]["p_value"] for pair in found])
    would = _holm([pair["would_merge"]["test"]["p_value"] for pair in found])
    return [
        pair | {"adjusted": p_value, "would_merge_adjusted": other}
        for pair, p_value, other in zip(found, adjusted, would, strict=True)
    ]


def _minutes(rows: list[_Json]) -> _Json:
    known = [row for row in rows if row["minutes"] is not None]
    values = [row["minutes"] for row in known]
    both = [(row["minutes"], row["human"]) for row in known if row["human"]]
    n, possible = len(values), bool(values) and min(values) > 0
    tasks = list(_by_task(known, "minutes").values())
    quartiles = quantiles(values, n=4, method="inclusive") if n > 1 else values
    return {
        "n": n, "unknown": len(rows) - n, "mean": fmean(values) if n else None, "median": median(values) if n else None,
        "geometric_mean": {"value": exp(fsum(map(log, values)) / n) if possible else None, "n": n},
        "minimum": min(values, default=None), "maximum": max(values, default=None),
        "interval": _skewed_mean(tasks), "median_interval": _median_by_task(tasks),
        "lower": quartiles[0] if n else None, "upper": quartiles[-1] if n else None,
        "none": _count([value <= 0 for value in values]),
        "none_interval": _share_by_task([[value <= 0 for value in task] for task in tasks]),
        "share": {"value": fsum(x for x, _ in both) / fsum(y for _, y in both) if both else None, "n": len(both)},
    }  # fmt: skip


def _controls(items: list[_Json]) -> _Json:
    """What raters would merge of controls and of submissions, and the last over the first (Donner and Zou)."""
    good, bad, rest = (
        _by_task([item for item in items if item["control"] == kind], "would_merge") for kind in ("good", "bad", None)
    )
    shares = [_count([*chain(*each.values())]) for each in (good, bad, rest)]
    found: _Json = dict(zip(("good", "bad", "submissions"), shares, strict=True))
    (top, n), (bottom, m) = ((share["successes"], share["n"]) for share in (shares[2], shares[0]))
    if not n or not m or not bottom:
        return found | {"normalised": {"value": None, "n": n}, "interval": _ends(n=n)}
    own, other = _share_by_task(rest.values()), _share_by_task(good.values())
    ends = []
    for sign, x, y in ((-1, own["low"], other["high"]), (1, own["high"], other["low"])):
        both = (top / n) * (bottom / m)
        under = max(0.0, both**2 - prod((x, y, 2 * top / n - x, 2 * bottom / m - y)))
        ends.append((both + sign * sqrt(under)) / (y * (2 * bottom / m - y)))
    return found | {
        "normalised": {"value": (top / n) / (bottom / m), "n": n},
        "interval": _ends(max(0.0, ends[0]), ends[1], n),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("table", type=Path, help="STUDY.csv or STUDY.jsonl of `repoassay review export`")
    parser.add_argument("--phase", choices=("blind", "revealed"), default="blind")
    parser.add_argument("--by", choices=("system", "agent", "model"), default="system")
    given = parser.parse_args()
    print(json.dumps(_Study(_rows_of(given.table), given.phase, given.by).figures(), indent=1))  # noqa: T201 - its job


if __name__ == "__main__":
    main()
