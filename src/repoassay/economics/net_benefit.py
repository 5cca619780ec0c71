"""Alpha: what an agent's work was worth beyond its cost, per task (GitTaskBench, arXiv 2508.18993, Equation 1).

::

    alpha = 1/n * sum over tasks of (T * MV * Q - C)

T is 1 where the agent executed the task (the paper's T is execution success, so ECR: a delivered result earns by its
quality even where the task's own test fails it). The strict variant takes T from the task being passed. MV is market
value, Q quality, C cost; an attempt that failed is worth exactly -C.

A row whose figures are not all known is left out of the mean and named with the reason; `low` and `high` say what the
mean over all rows could be, as far as the known figures bound it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from repoassay.economics.quality import Quality, QualitySource
from repoassay.types import Economics

__all__ = [
    "Alpha",
    "AlphaRow",
    "ExcludedRow",
    "Group",
    "NetBenefit",
    "Success",
    "alpha",
    "group",
    "group_by",
    "mean_of_groups",
    "worth",
]

_ZERO = Decimal(0)
NO_KEY = "(none)"


class Success(StrEnum):
    """What counts as T: the task executed (Equation 1), or the task passed (strict)."""

    EXECUTED = "executed"
    PASSED = "passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaRow:
    """One attempt at one task; None is unknown.

    `executed` is the verdict's Process and `passed` its Result; `cost` is US dollars; `keys` are names to group by,
    such as repository, domain, suite, agent.

    Raises:
        ValueError: When a task is passed that was not executed, or the cost is negative or not finite.
    """

    task: str
    executed: bool | None
    passed: bool | None
    value: Economics | None
    quality: Quality | None
    cost: Decimal | None
    keys: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.passed and self.executed is False:
            raise ValueError(f"the attempt at {self.task} is said to be passed and not executed")
        if self.cost is not None and not (self.cost.is_finite() and self.cost >= 0):
            raise ValueError(f"the attempt at {self.task} has a cost of {self.cost} dollars")

    def success(self, of: Success) -> bool | None:
        """T: whether the task was executed, or passed.

        What is passed was executed, and what was not executed is not passed, so one can tell the other.
        """
        if of is Success.EXECUTED:
            return True if self.passed else self.executed
        return False if self.executed is False else self.passed

    def key(self, name: str) -> str:
        """The name it has under a key; `task` is one, and a key it does not have gives "(none)"."""
        return self.task if name == "task" else self.keys.get(name, NO_KEY)


@dataclass(frozen=True, slots=True)
class NetBenefit:
    """What one attempt was worth in US dollars: `benefit` is T x MV x Q, `net` is benefit minus cost.

    Where something is unknown, `net` is None, `missing` says what, and `low` and `high` bound it where they can.
    """

    benefit: Decimal | None
    net: Decimal | None
    low: Decimal | None
    high: Decimal | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExcludedRow:
    """An attempt that is not in a mean, and why."""

    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class Alpha:
    """Alpha over `n` attempts, `counted` of which have every figure; US dollars.

    `mean` and `total` are over the counted ones (None and 0 without any). `low` and `high` bound the mean over all n,
    None where nothing bounds it on that side. `by_result` of those counted have a quality that nobody reviewed.
    """

    n: int
    counted: int
    mean: Decimal | None
    total: Decimal
    low: Decimal | None
    high: Decimal | None
    by_result: int
    left_out: tuple[ExcludedRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Alpha as published and strict, side by side; `cost` is the known cost, `cost_unknown` attempts have none."""

    name: str
    alpha: Alpha
    strict: Alpha
    cost: Decimal
    cost_unknown: int


def worth(row: AlphaRow, success: Success = Success.EXECUTED) -> NetBenefit:
    """What one attempt was worth: T x MV x Q - C.

    Where T or Q is 0 the other factors need not be known, since the product is 0 whatever they are.
    """
    low, high, missing = _benefit(row, success)
    if row.cost is None:
        known = low if not missing else None
        return NetBenefit(known, None, None, high, (*missing, "cost unknown"))
    net_low = low - row.cost
    net_high = None if high is None else high - row.cost
    if missing:
        return NetBenefit(None, None, net_low, net_high, missing)
    return NetBenefit(low, net_low, net_low, net_low)


def _benefit(row: AlphaRow, success: Success) -> tuple[Decimal, Decimal | None, tuple[str, ...]]:
    """Least and greatest T x MV x Q, and what is missing to tell."""
    done = row.success(success)
    level = None if row.quality is None else row.quality.level
    if done is False or level == 0:
        return _ZERO, _ZERO, ()
    missing = tuple(
        reason
        for absent, reason in (
            (done is None, f"not known whether {success}"),
            (level is None, "no quality"),
            (row.value is None, "no market value"),
        )
        if absent
    )
    if row.value is None:
        return _ZERO, None, missing
    most = row.value.value * (Decimal(1) if level is None else level)
    return (_ZERO if missing else most), most, missing


def alpha(rows: Iterable[AlphaRow], success: Success = Success.EXECUTED) -> Alpha:
    """Alpha over attempts: the mean of T x MV x Q - C in US dollars, those left out named.

    Each row weighs the same. Where tasks have different numbers of attempts and each task should weigh the same, take
    `mean_of_groups(by(rows, "task").values())`.
    """
    attempts = list(rows)
    worths = [worth(row, success) for row in attempts]
    known = [(row, found.net) for row, found in zip(attempts, worths, strict=True) if found.net is not None]
    total = sum((net for _, net in known), _ZERO)
    return Alpha(
        n=len(attempts),
        counted=len(known),
        mean=total / len(known) if known else None,
        total=total,
        low=_mean([found.low for found in worths]),
        high=_mean([found.high for found in worths]),
        by_result=sum(_is_by_result(row) for row, _ in known),
        left_out=tuple(
            ExcludedRow(row.task, ", ".join(found.missing))
            for row, found in zip(attempts, worths, strict=True)
            if found.missing
        ),
    )


def _is_by_result(row: AlphaRow) -> bool:
    return row.quality is not None and row.quality.source is QualitySource.BY_RESULT


def _mean(figures: Sequence[Decimal | None]) -> Decimal | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known, _ZERO) / len(known) if known and len(known) == len(figures) else None


def group(name: str, rows: Iterable[AlphaRow]) -> Group:
    """Alpha, strict alpha and cost of some attempts under a name."""
    attempts = list(rows)
    costs = [row.cost for row in attempts if row.cost is not None]
    return Group(
        name=name,
        alpha=alpha(attempts),
        strict=alpha(attempts, Success.PASSED),
        cost=sum(costs, _ZERO),
        cost_unknown=len(attempts) - len(costs),
    )


def group_by(rows: Iterable[AlphaRow], key: str | Callable[[AlphaRow], str]) -> dict[str, Group]:
    """Groups of attempts in the order of first appearance.

    Args:
        rows: Attempts.
        key: Name of a key (`task`, or one of the rows' keys), or a function from a row to the group's name.
    """
    parted: dict[str, list[AlphaRow]] = {}
    for row in rows:
        parted.setdefault(row.key(key) if isinstance(key, str) else key(row), []).append(row)
    return {name: group(name, members) for name, members in parted.items()}


def mean_of_groups(groups: Iterable[Group], success: Success = Success.EXECUTED) -> Decimal | None:
    """Mean of the groups' means in US dollars, each group weighing the same; None where no group has one.

    Groups without a counted attempt are not in it.
    """
    means = [one.alpha.mean if success is Success.EXECUTED else one.strict.mean for one in groups]
    known = [mean for mean in means if mean is not None]
    return sum(known, _ZERO) / len(known) if known else None
