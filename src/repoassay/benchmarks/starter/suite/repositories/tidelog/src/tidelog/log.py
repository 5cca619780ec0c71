"""What a log holds once it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tidelog.series import Series


@dataclass(frozen=True)
class Event:
    """Something the gauge noted, at a time in UTC."""

    time: datetime
    text: str


@dataclass(frozen=True)
class Fault:
    """A line that could not be used, by its number in the file (from 1)."""

    line: int
    reason: str


@dataclass
class Log:
    """One log. Times are aware and in UTC; `offset` is that of the gauge's own clock."""

    station: str
    offset: timedelta
    units: dict[str, str]
    events: list[Event] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    samples: dict[str, dict[datetime, float]] = field(default_factory=dict)

    @property
    def channels(self) -> list[str]:
        """Names of the channels, as the header lists them."""
        return list(self.units)

    def series(self, channel: str) -> Series:
        """The samples of one channel in order of time.

        Raises:
            KeyError: When the log has no such channel.
        """
        pairs = sorted(self.samples.get(channel, {}).items())
        return Series(self.units[channel], [time for time, _ in pairs], [value for _, value in pairs])

    def event_before(self, time: datetime) -> Event | None:
        """The last event at or before a time."""
        earlier = [event for event in self.events if event.time <= time]
        return max(earlier, key=lambda event: event.time) if earlier else None
