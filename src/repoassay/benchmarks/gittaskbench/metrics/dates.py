"""Dates and times as people and programs write them, compared as what they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone

__all__ = ["Moment", "moments", "same_moment"]

_MONTHS = {name: number for number, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)}  # fmt: skip
_CLOCK = r"""(?:[T\s,]*(?:at\s+)?(?P<hour>\d{1,2})[:时](?P<minute>\d{2})(?:[:分](?P<second>\d{2}))?(?:[.,]\d+)?秒?
    \s*(?P<half>[ap]\.?m\.?)?\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?(?:\s*\(?UTC\)?)?)?"""
_PATTERNS = tuple(re.compile(text, re.VERBOSE | re.IGNORECASE) for text in (
    # As PDF writes it: D:20061207105020Z00'00'
    r"""(?:D:)?(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})
    (?:T?(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?:\.\d+)?(?P<zone>Z|[+-]\d{2}['\u2019:]?\d{2})?'?(?:00'?00'?)?)?""",
    r"(?P<year>\d{4})\s*[-/.年]\s*(?P<month>\d{1,2})\s*[-/.月]\s*(?P<day>\d{1,2})\s*日?" + _CLOCK,
    r"(?P<first>\d{1,2})\s*[-/.]\s*(?P<second_part>\d{1,2})\s*[-/.]\s*(?P<year>\d{4})" + _CLOCK,
    r"(?:[a-z]+,?\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)?[\s-]+(?P<name>[a-z]{3,9})\.?,?[\s-]+(?P<year>\d{4})" + _CLOCK,
    r"(?:[a-z]+,?\s+)?(?P<name>[a-z]{3,9})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})" + _CLOCK,
    r"[a-z]{3}\s+(?P<name>[a-z]{3})\s+(?P<day>\d{1,2})\s+(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})\s+(?P<year>\d{4})",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, with its time of day and offset from UTC where they were written."""

    day: date
    clock: time | None = None
    offset: timedelta | None = None


def moments(text: str) -> list[Moment]:
    """Everything a text can mean as a date: one reading, two for such as 03/04/2025, none for what is no date."""
    text = text.strip()[:80]
    for pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None:
            return _read(found.groupdict())
    return []


def _read(parts: dict[str, str | None]) -> list[Moment]:
    year = int(parts["year"] or 0)
    if parts.get("first") is not None:
        one, two = int(parts["first"] or 0), int(parts["second_part"] or 0)
        days = [(one, two), (two, one)] if one != two else [(one, two)]
    elif parts.get("name") is not None:
        month = _MONTHS.get((parts["name"] or "")[:3].casefold(), 0)
        days = [(month, int(parts["day"] or 0))]
    else:
        days = [(int(parts["month"] or 0), int(parts["day"] or 0))]
    found = []
    for month, day in days:
        try:
            found.append(Moment(date(year, month, day), _clock(parts), _offset(parts.get("zone"))))
        except ValueError:
            continue
    return found


def _clock(parts: dict[str, str | None]) -> time | None:
    if parts.get("hour") is None:
        return None
    hour = int(parts["hour"] or 0)
    half = (parts.get("half") or "")[:1].casefold()
    if half:
        hour = hour % 12 + 12 * (half == "p")
    return time(hour, int(parts["minute"] or 0), int(parts.get("second") or 0))


def _offset(zone: str | None) -> timedelta | None:
    if zone is None:
        return None
    if zone[0] not in "+-":
        return timedelta()
    digits = re.sub(r"\D", "", zone)
    return (1 if zone[0] == "+" else -1) * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))


def same_moment(one: str, other: str) -> bool:
    """Whether two texts can mean the same: the same instant, or the same day where one of them has no time of day."""
    return any(_same(a, b) for a in moments(one) for b in moments(other))


def _same(one: Moment, other: Moment) -> bool:
    if one.clock is None or other.clock is None or time() in (one.clock, other.clock):
        return one.day == other.day
    if one.offset is None or other.offset is None:
        return (one.day, one.clock) == (other.day, other.clock)
    try:
        instants = [
            datetime.combine(item.day, item.clock or time(), timezone(item.offset or timedelta())).astimezone(UTC)
            for item in (one, other)
        ]
    except (OverflowError, ValueError):
        return False
    return instants[0] == instants[1]
