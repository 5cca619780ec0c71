"""Who stands where on one suite: systems with their figures, sorted, with ranks that significance decides.

A system is one entry of one plan. Only systems that were planned on every task of the suite have a rank; one that ran
on a part comes after all of them, for its rate is of other tasks. A rank is one more than the number of systems that
are better by a significant difference, so that systems nobody can tell apart share theirs, and never better than the
rank of a system with a higher rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import accumulate, combinations

from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import group_rows, limits_of, median, rates
from repoassay.stats import Proportion, Rate, Significance, holm, mcnemar, paired_permutation
from repoassay.types import Outcome

__all__ = ["LEVEL", "MOST_TESTED", "PairTest", "Standings", "SystemResult", "standings", "standings_by_suite"]

LEVEL = 0.05
MOST_TESTED = 24
"""More ranked systems than this are told apart by their intervals: tests of all pairs would correct each other away."""


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system's figures on one suite.

    `name` tells it from the others, and so does `short`, without what all of them have in common. `covered` of the
    suite's tasks were planned, in the version most systems have. `dollars` and `tokens` are means of finished attempts,
    None where one is unknown; `asked` whether any asked a model.
    `rank` is None where it ran on a part of the suite.
    """

    name: str
    short: str
    rows: tuple[ResultRow, ...] = field(repr=False)
    covered: int
    process: Rate
    result: Rate
    outcomes: Mapping[Outcome | None, int]
    asked: bool
    dollars: Decimal | None
    tokens: float | None
    seconds: float | None
    number: int = 0
    """Its place in the plans, by which it looks the same in each plot."""
    rank: int | None = None
    shares_rank: bool = False

    @property
    def planned(self) -> int:
        """Places of the plan."""
        return len(self.rows)

    @property
    def finished(self) -> int:
        """Places that an attempt fills."""
        return len(self.rows) - self.outcomes.get(None, 0)

    @property
    def passed(self) -> Proportion:
        """The pass rate over every planned attempt, by which systems are sorted."""
        return self.result.over_all

    @property
    def agent(self) -> str:
        """Its name in the plan."""
        return self.rows[0].agent

    @property
    def apart(self) -> str:
        """What tells it from others of that name; empty where nothing has to."""
        return self.name.removeprefix(self.agent).strip(" ()")


@dataclass(frozen=True, slots=True)
class PairTest:
    """The test of two systems on the tasks both were planned on; `adjusted` is the p-value after Holm's correction."""

    test: Significance
    adjusted: float | None
    difference: float | None

    @property
    def significant(self) -> bool:
        """Whether the difference is one at the level of `LEVEL`."""
        return self.adjusted is not None and self.adjusted < LEVEL


@dataclass(frozen=True, slots=True)
class Standings:
    """The systems of one suite, best first, and the tests between those that were tested, by their two names.

    `tasks` has every task of the suite that is known here, id to digest (empty where only its name is known).
    """

    suite: str
    version: str
    tasks: Mapping[str, str]
    systems: tuple[SystemResult, ...]
    tests: Mapping[frozenset[str], PairTest]
    common: str = ""
    """What all systems have in common and their short names leave out; empty where these leave out nothing."""

    @property
    def ranked(self) -> tuple[SystemResult, ...]:
        """Systems that ran on the whole suite."""
        return tuple(one for one in self.systems if one.rank is not None)

    def between(self, one: SystemResult, other: SystemResult) -> PairTest | None:
        """The test of two systems; None where they were not tested."""
        return self.tests.get(frozenset((one.name, other.name)))


def standings_by_suite(rows: Sequence[ResultRow]) -> list[Standings]:
    """The standings of each suite and version among the rows, in order of appearance."""
    groups = group_rows(rows, lambda row: (row.run.suite, row.run.suite_version))
    return [standings(members) for members in groups.values()]


def standings(rows: Sequence[ResultRow], tasks: Mapping[str, str] | None = None) -> Standings:
    """Sort and rank the systems of one suite.

    Args:
        rows: Attempts of one suite and version, at least one.
        tasks: Every task of the suite, id to digest; those of the rows when None.
    """
    known = dict(tasks) if tasks is not None else _tasks(rows)
    entries = group_rows(rows, lambda row: (row.run.id, row.agent))
    firsts = [members[0] for members in entries.values()]
    names, (shorts, common) = _names(firsts), _shorts(firsts)
    systems = [
        replace(_system(name, short, members, known), number=number)
        for number, (name, short, members) in enumerate(zip(names, shorts or names, entries.values(), strict=True))
    ]
    systems.sort(key=lambda one: (-one.covered, -(one.passed.value or 0.0), _price(one), one.name))
    whole = [one for one in systems if one.covered == len(known)]
    tests = _tests(whole[:MOST_TESTED]) if len(whole) <= MOST_TESTED else {}
    first = rows[0].run
    return Standings(first.suite, first.suite_version, known, tuple(_ranked(systems, whole, tests)), tests, common)


def _tasks(rows: Sequence[ResultRow]) -> dict[str, str]:
    """Every task, with the digest that most rows have where there are several."""
    digests: dict[str, Counter[str]] = {}
    for row in rows:
        digests.setdefault(row.task, Counter())[row.planned.digest] += 1
    return {task: min(found, key=lambda digest: (-found[digest], digest)) for task, found in digests.items()}


def _names(firsts: Sequence[ResultRow]) -> list[str]:
    """The agent where that is enough, else the agent and its run, of runs of one name with a number."""
    agents = Counter(row.agent for row in firsts)
    names = [row.agent if agents[row.agent] == 1 else f"{row.agent} ({row.run.title})" for row in firsts]
    return [
        name if names.count(name) == 1 else f"{name} {names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]


def _shorts(firsts: Sequence[ResultRow]) -> tuple[list[str], str]:
    """Framework, model and limits of each as far as they differ, and what they share; no names where too little is."""
    parts = [[row.framework, row.model, *filter(None, limits_of(row).split(", "))] for row in firsts]
    shared = [part for part in parts[0] if part and all(part in other for other in parts)]
    names = [_joined([part for part in one if part not in shared]) for one in parts]
    if not shared or len(firsts) == 1 or not all(names) or len(set(names)) < len(names):
        return [], ""
    return names, _joined(shared)


def _joined(parts: Sequence[str]) -> str:
    """`aider @ openai/gpt-4.1, timeout=60`, of what is there."""
    heads = [part for part in parts if part and "=" not in part]
    return ", ".join(filter(None, [" @ ".join(heads), *(part for part in parts if "=" in part)]))


def _system(name: str, short: str, rows: Sequence[ResultRow], known: Mapping[str, str]) -> SystemResult:
    finished = [row for row in rows if row.finished]
    dollars = [row.dollars for row in finished]
    priced = [one for one in dollars if one is not None]
    counts_tokens = bool(finished) and not any(row.tokens_partly for row in finished)
    process, result = rates(rows)
    return SystemResult(
        name=name,
        short=short,
        rows=tuple(rows),
        covered=sum(
            known.get(task) == digest for task, digest in {row.task: row.planned.digest for row in rows}.items()
        ),
        process=process,
        result=result,
        outcomes=Counter(row.outcome for row in rows),
        asked=any(row.calls is not None for row in finished),
        dollars=sum(priced, Decimal(0)) / len(priced) if priced and len(priced) == len(dollars) else None,
        tokens=sum(row.tokens or 0 for row in finished) / len(finished) if counts_tokens else None,
        seconds=median(row.seconds for row in finished),
    )


def _price(one: SystemResult) -> Decimal:
    return Decimal("Infinity") if one.dollars is None else one.dollars


def _ranked(
    systems: Sequence[SystemResult], whole: Sequence[SystemResult], tests: Mapping[frozenset[str], PairTest]
) -> Iterator[SystemResult]:
    """Rank the whole ones and leave the others behind them.

    Tests of pairs need not be transitive: the best may be significantly better than the second and, since they differ
    on fewer tasks or more evenly, not than the third. A rank never gets better down the list for that.
    """
    better = {one.name: sum(_better(other, one, tests) for other in whole) for one in whole}
    ordered = sorted(whole, key=lambda one: (-(one.passed.value or 0.0), better[one.name], _price(one), one.name))
    ranks = dict(
        zip((one.name for one in ordered), accumulate((1 + better[o.name] for o in ordered), max), strict=True)
    )
    often = Counter(ranks.values())
    for one in ordered:
        yield replace(one, rank=ranks[one.name], shares_rank=often[ranks[one.name]] > 1)
    yield from (one for one in systems if one.name not in ranks)


def _better(one: SystemResult, other: SystemResult, tests: Mapping[frozenset[str], PairTest]) -> bool:
    """Whether one system is better by more than chance: by the test, or without tests by intervals that are apart."""
    if one is other or (one.passed.value or 0.0) <= (other.passed.value or 0.0):
        return False
    if tests:
        found = tests.get(frozenset((one.name, other.name)))
        return found is not None and found.significant
    low, high = one.passed.interval.low, other.passed.interval.high
    return low is not None and high is not None and low > high


def _tests(systems: Sequence[SystemResult]) -> dict[frozenset[str], PairTest]:
    """Every pair: McNemar's exact test of one attempt a task, a permutation of signs by task of several."""
    by_task = {one.name: _by_task(one) for one in systems}
    couples = list(combinations(systems, 2))
    comparisons = [_test(by_task[one.name], by_task[other.name]) for one, other in couples]
    adjusted = holm([test.p_value for test, _ in comparisons])
    return {
        frozenset((one.name, other.name)): PairTest(test, p_value, difference)
        for (one, other), (test, difference), p_value in zip(couples, comparisons, adjusted, strict=True)
    }


def _by_task(one: SystemResult) -> dict[tuple[str, str], Rate]:
    """Rates of tasks by id and digest, but for those with an attempt at another version than planned."""
    groups = group_rows(one.rows, lambda row: (row.task, row.planned.digest))
    return {key: Rate.of(row.result for row in rows) for key, rows in groups.items() if not any(r.moved for r in rows)}


def _test(
    first: Mapping[tuple[str, str], Rate], second: Mapping[tuple[str, str], Rate]
) -> tuple[Significance, float | None]:
    common = [(first[key], second[key]) for key in first if key in second]
    shares = [(one.over_judged.value, other.over_judged.value) for one, other in common]
    differences = [one - other for one, other in shares if one is not None and other is not None]
    mean = sum(differences) / len(differences) if differences else None
    if all(one.n == other.n == 1 for one, other in common):
        return mcnemar(differences.count(1.0), differences.count(-1.0), len(differences)), mean
    return paired_permutation(differences), mean
