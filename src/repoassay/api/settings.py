"""Settings of Python programs, looked at before anything happens; errors name the nearest that is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from repoassay.engine import named_file, number
from repoassay.errors import BadInput
from repoassay.sandbox import ISOLATIONS, is_isolation, usable_cores
from repoassay.tasks import SuiteFolder, find_suite
from repoassay.text import quote, suggest
from repoassay.types import LIMITS, Limits, Metering, NetworkPolicy, Reading

__all__ = [
    "Amount",
    "Names",
    "Paths",
    "SuiteLike",
    "attempt_limits",
    "checked_isolation",
    "checked_reading",
    "checked_suite",
    "checked_sweep",
    "checked_workers",
    "metering_of",
    "money",
    "one_of",
    "several_paths",
    "strings",
    "whole",
]  # fmt: skip

Amount = int | float | Decimal | str
"""A number above 0; text is read as a number, so that dollars need not be floats."""
Names = str | Sequence[str]
Paths = str | Path | Sequence[str | Path]
SuiteLike = str | Path | SuiteFolder
"""A bundled suite's name, a folder of tasks, one task's folder, or a suite that was read before."""
_MOST_WORKERS = 256


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """A value out of a closed set.

    Raises:
        BadInput: It is none of them.
    """
    if value not in known:
        raise BadInput(f"There is no {name} {quote(value)}.", suggest(str(value), known))
    return value


def whole(name: str, value: object, least: int, most: int) -> int:
    """A whole number within bounds.

    Raises:
        BadInput: It is none.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadInput(f"{name} is {value!r}.", f"Give a whole number from {least} to {most:,}.")
    return value


def checked_workers(workers: int | None) -> int:
    """How many workspaces at a time; None is one a core."""
    return min(usable_cores(), _MOST_WORKERS) if workers is None else whole("workers", workers, 1, _MOST_WORKERS)


def checked_isolation(isolation: str) -> str:
    """The name of a kind of isolation."""
    return isolation if is_isolation(isolation) else one_of("isolation", isolation, ISOLATIONS)


def checked_reading(criteria: str | Reading) -> Reading:
    """Which criteria decide."""
    return Reading(one_of("criteria", str(criteria), [each.value for each in Reading]))


def strings(values: Names) -> list[str]:
    """One name, or several, each once."""
    return [values] if isinstance(values, str) else list(dict.fromkeys(values))


def several_paths(values: Paths) -> tuple[Path, ...]:
    """One path, or several."""
    return (Path(values),) if isinstance(values, str | Path) else tuple(map(Path, values))


def money(name: str, value: Amount | None) -> Decimal | None:
    """An amount of dollars above 0, or None for no limit."""
    return None if value is None else Decimal(number(name, str(value)))


def attempt_limits(limits: Limits | Amount | None, others: Mapping[str, Amount | None]) -> dict[str, str]:
    """The limits of every attempt as a plan has them.

    Raises:
        BadInput: One is no number above 0, or cannot be set for a run.
    """
    found: dict[str, str] = {}
    if isinstance(limits, Limits):
        if fixed := sorted(limits.model_fields_set - {"seconds"}):
            raise BadInput(f"limits.{fixed[0]} is set by each task, not by a run.", "Give Limits(seconds=...) alone.")
        if "seconds" in limits.model_fields_set:
            found["timeout"] = number("timeout", str(limits.seconds))
    elif limits is not None:
        found["timeout"] = number("timeout", str(limits))
    return found | {name: number(name, str(value)) for name, value in others.items() if value is not None}


def checked_sweep(sweep: Mapping[str, Sequence[Amount]] | None) -> dict[str, tuple[str, ...]]:
    """Values of what is swept as plans have them.

    Raises:
        BadInput: A setting cannot be swept, or a value is no number above 0.
    """
    found = {}
    for name, values in (sweep or {}).items():
        setting = one_of("setting to sweep called", name, LIMITS)
        found[setting] = tuple(dict.fromkeys(number(setting, str(value)) for value in values))
        if not found[setting]:
            raise BadInput(f"The sweep over {setting} has no values.", "Give a list of numbers.")
    return found


def checked_suite(suite: SuiteLike, tasks: Names) -> SuiteFolder:
    """A suite with its tasks read and its data there.

    Raises:
        BadInput: There is no such suite or task, a task has problems, or data was never fetched.
    """
    from repoassay.grading import names

    if isinstance(suite, SuiteFolder):
        return find_suite(suite.path, only=strings(tasks)) if tasks else suite
    found = find_suite(suite, metrics=names(), only=strings(tasks))
    found.need_data()
    return found


def metering_of(
    *, upstreams: Paths, dialogue: str | Path | None, prices: Paths, network: str | NetworkPolicy | None,
    concurrency: Mapping[str, int] | None, retries: int, budget_usd: Amount | None,
) -> Metering:  # fmt: skip
    """The part of a plan that says how models are reached and paid.

    Raises:
        BadInput: A file cannot be read, or a value is not what it should be.
    """
    policies = [each.value for each in NetworkPolicy]
    return Metering(
        upstreams=tuple(map(named_file, several_paths(upstreams))),
        dialogue=named_file(Path(dialogue)) if dialogue is not None else None,
        prices=tuple(map(named_file, several_paths(prices))),
        budget_usd=money("budget_usd", budget_usd),
        concurrency={
            provider: whole(f"concurrency of {provider}", most, 1, _MOST_WORKERS)
            for provider, most in (concurrency or {}).items()
        },
        retries=whole("retries", retries, 0, 10),
        network=NetworkPolicy(one_of("network policy", str(network), policies)) if network is not None else None,
    )
