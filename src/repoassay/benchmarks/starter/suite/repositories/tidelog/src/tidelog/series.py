"""A run of values over time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean


@dataclass(frozen=True)
class Gap:
    """A stretch without samples: the last sample before it and the first after it."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """How long it lasted."""
        return self.end - self.start


@dataclass(frozen=True)
class Series:
    """Samples of one channel in order of time."""

    unit: str
    times: list[datetime]
    values: list[float]

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[tuple[datetime, float]]:
        return iter(zip(self.times, self.values, strict=True))

    def mean(self) -> float:
        """The arithmetic mean.

        Raises:
            ValueError: When the series is empty.
        """
        if not self.values:
            raise ValueError("an empty series has no mean")
        return fmean(self.values)

    def between(self, start: datetime, end: datetime) -> Series:
        """The samples with `start <= time < end`."""
        kept = [(time, value) for time, value in self if start <= time < end]
        return Series(self.unit, [time for time, _ in kept], [value for _, value in kept])

    def gaps(self, longer_than: timedelta) -> list[Gap]:
        """Stretches between neighbouring samples that last longer than a given time."""
        pairs = zip(self.times, self.times[1:], strict=False)
        return [Gap(before, after) for before, after in pairs if after - before > longer_than]
