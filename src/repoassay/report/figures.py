"""Figures as text: each rate with its counts, its share and its interval."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from repoassay.stats import Proportion
from repoassay.types import Spending, Verdict

__all__ = [
    "cost",
    "dollars",
    "figure",
    "isolation_text",
    "moment",
    "percent",
    "seconds",
    "share",
    "size",
    "span",
    "tokens",
    "why_unknown",
]


def percent(value: float | None) -> str:
    """0.857 as `85.7%`; None as `undefined`."""
    return "undefined" if value is None else f"{100 * value:.1f}%"


def share(rate: Proportion) -> str:
    """`12/14 85.7%`."""
    return f"{rate.successes}/{rate.n} {percent(rate.value)}"


def span(rate: Proportion) -> str:
    """The 95% interval in percent, `[60.1, 96.0]`; empty where there are no observations."""
    interval = rate.interval
    return (
        ""
        if interval.low is None or interval.high is None
        else f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
    )


def figure(rate: Proportion) -> str:
    """`12/14 85.7% [60.1, 96.0]`."""
    return f"{share(rate)} {span(rate)}".strip()


def isolation_text(verdict: Verdict) -> str:
    """The isolation a verdict was given under, and its grade."""
    return "not recorded" if verdict.isolation is None else verdict.isolation.phrase


def seconds(value: float | None) -> str:
    """Seconds for reading: `0.42 s`, `12.3 s`, `2 min 05 s`, `3 h 07 min`; a dash where not measured."""
    if value is None:
        return "-"
    if value < 59.95:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    if value == float("inf"):
        return "∞"  # a sum of what a damaged record says
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(count: int | None) -> str:
    """Bytes for reading: `812 B`, `4.2 kB`, `1.3 MB`; a dash where not measured."""
    if count is None:
        return "-"
    if count < 1000:
        return f"{count} B"
    value, unit = count / 1000, "kB"
    for larger in ("MB", "GB", "TB"):
        if value < 999.95:
            break
        value, unit = value / 1000, larger
    return f"{value:.1f} {unit}"


def moment(when: datetime) -> str:
    """A UTC time to the second, `2026-01-31 12:00:05 UTC`."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def tokens(spent: Spending | None) -> str:
    """Tokens read and written, `12,345`; with a `+` where some calls told none; a dash where no model was asked."""
    if spent is None:
        return "-"
    return f"{spent.usage.total:,}{'+' if spent.unknown else ''}"


def dollars(spent: Spending | None) -> str:
    """What a model's calls cost, see `cost`; a dash without a model."""
    return "-" if spent is None else cost(spent.dollars, spent.dollars_known)


def cost(amount: Decimal | None, lower_bound: Decimal) -> str:
    """`$0.0123`; `unknown`, or `$0.0123 + unknown`, where a price or a usage is missing."""
    if amount is not None:
        return _money(amount)
    return f"{_money(lower_bound)} + unknown" if lower_bound else "unknown"


def why_unknown(spent: Spending | None) -> str:
    """Why dollars are unknown; empty where they are known."""
    return spent.dollars_note or "not told" if spent is not None and spent.dollars is None else ""


def _money(amount: Decimal) -> str:
    return f"${amount:,.2f}" if amount >= 10 or not amount else f"${amount:,.4f}"
