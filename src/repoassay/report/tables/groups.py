"""Rows by what they have in common, and the sums that several tables take of a group."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from typing import TypeVar

from repoassay.report.results import ResultRow
from repoassay.stats import Rate
from repoassay.types import LIMITS

__all__ = ["group_rows", "label_of", "limits_of", "mean", "median", "named_runs", "natural", "rates"]

_Key = TypeVar("_Key", bound=Hashable)


def group_rows(rows: Iterable[ResultRow], key: Callable[[ResultRow], _Key]) -> dict[_Key, list[ResultRow]]:
    """Groups in the order of first appearance."""
    groups: dict[_Key, list[ResultRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def rates(rows: Sequence[ResultRow]) -> tuple[Rate, Rate]:
    """ECR and TPR, by task; a place without a finished attempt is unknown."""
    return (
        Rate.of_tasks(((row.run.suite, row.task), row.process) for row in rows),
        Rate.of_tasks(((row.run.suite, row.task), row.result) for row in rows),
    )


def mean(values: Iterable[int | float | Decimal | None]) -> float | None:
    """Mean of the known values; None without any."""
    known = [float(value) for value in values if value is not None]
    return statistics.fmean(known) if known else None


def median(values: Iterable[int | float | None]) -> float | None:
    """Median of the known values; None without any."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def named_runs(rows: Iterable[ResultRow]) -> bool:
    """Whether rows of one agent and model come from several runs, so that tables must name the run."""
    runs: dict[str, str] = {}
    return any(runs.setdefault(row.agent, row.run.title) != row.run.title for row in rows)


def label_of(row: ResultRow) -> str:
    """The framework with its model, for a plot."""
    return f"{row.framework}, {row.model}" if row.model else row.framework


def natural(value: str) -> tuple[float, str]:
    """A key that sorts numbers by size and before words."""
    try:
        return (float(value), "")
    except ValueError:
        return (float("inf"), value)


def limits_of(row: ResultRow) -> str:
    """The limits its entry names in the plan, `timeout=60, max_iterations=30`; empty without any."""
    settings = row.entry.settings
    return ", ".join(f"{name}={settings[name]}" for name in LIMITS if name in settings)
