"""Every figure of one agent of one run as plain values, worked out from its attempts; what a submission states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from repoassay import economics
from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import rates
from repoassay.report.tables.worth import alpha_rows
from repoassay.stats import Proportion, Rate
from repoassay.types import Outcome

__all__ = ["FIGURES_SCHEMA", "differences", "figures_of"]

FIGURES_SCHEMA = 1
_DIGITS = 9


def figures_of(rows: Sequence[ResultRow], *, by_task: bool = True) -> dict[str, object]:
    """The figures of one agent's rows, ready for JSON.

    Shares are between 0 and 1, rounded to nine digits; dollars are text; `alpha` and `strict_alpha` are dollars an
    attempt, None where no attempt has every figure.
    """
    spent = [row for row in rows if row.finished]
    known = [row.dollars for row in spent]
    money = economics.group("", [one for group in alpha_rows(rows).values() for one in group])
    seconds = [row.seconds for row in spent if row.seconds is not None]
    both = rates(rows)
    process, result = both if by_task else (replace(one, by_task=()) for one in both)
    counts = Counter(row.outcome for row in spent)
    return {
        "schema": FIGURES_SCHEMA,
        "tasks": len({row.task for row in rows}),
        "planned": len(rows),
        "finished": len(spent),
        "outcomes": {outcome.value: counts[outcome] for outcome in Outcome if counts[outcome]},
        "process": _rate(process),
        "result": _rate(result),
        "calls": sum(row.calls or 0 for row in spent),
        "tokens_in": sum(row.tokens_in or 0 for row in spent),
        "tokens_out": sum(row.tokens_out or 0 for row in spent),
        "tokens_partly": sum(row.tokens_partly for row in spent),
        "dollars": None if None in known else _money(sum((one for one in known if one is not None), Decimal(0))),
        "dollars_known": _money(sum((row.dollars_known for row in spent), Decimal(0))),
        "seconds": round(sum(seconds), 3),
        "alpha": _dollars(money.alpha.mean),
        "alpha_counted": money.alpha.counted,
        "strict_alpha": _dollars(money.strict.mean),
        "strict_alpha_counted": money.strict.counted,
    }


def _rate(rate: Rate) -> dict[str, object]:
    return {
        "successes": rate.successes,
        "n": rate.n,
        "unknown": rate.unknown,
        "over_all": _share(rate.over_all),
        "over_judged": _share(rate.over_judged),
    }


def _share(share: Proportion) -> dict[str, float | None]:
    """The share and its 95% interval, Wilson's or by task."""
    interval = share.interval
    return {
        name: None if value is None else round(value, _DIGITS)
        for name, value in (("value", share.value), ("low", interval.low), ("high", interval.high))
    }


def _money(amount: Decimal) -> str:
    return format(amount.normalize() if amount else Decimal(0), "f")


def _dollars(mean: Decimal | None) -> float | None:
    return None if mean is None else round(float(mean), _DIGITS)


def differences(stated: object, worked_out: object, name: str = "") -> Iterator[tuple[str, object, object]]:
    """Where two documents of figures differ: the figure's name, what is stated, and what the attempts give."""
    if isinstance(stated, Mapping) and isinstance(worked_out, Mapping):
        for key in sorted({*stated, *worked_out}):
            yield from differences(stated.get(key), worked_out.get(key), f"{name}.{key}" if name else key)
    elif isinstance(stated, bool) or stated != worked_out:  # True is no 1, and no figure is a truth value
        yield name, stated, worked_out
