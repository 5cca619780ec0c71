"""Who holds what, by the events alone: what the database says is compared with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal


@dataclass(frozen=True, slots=True)
class LeaseEvent:
    """Something that changes who holds an item. `taken` and `renewed` start the lease's time anew."""

    kind: Literal["taken", "renewed", "released", "submitted"]
    item: str
    rater: str
    at: datetime


def leased_items(events: Iterable[LeaseEvent], now: datetime, seconds: float) -> dict[tuple[str, str], datetime]:
    """Return who holds what now, and until when.

    Args:
        events: In order of time.
        now: The clock.
        seconds: How long a lease lasts after it was taken or renewed.

    Returns:
        (item, rater) to the time the lease ends; expired, released and submitted ones are not in it.
    """
    ends: dict[tuple[str, str], datetime] = {}
    submitted: set[tuple[str, str]] = set()
    for event in events:
        pair = (event.item, event.rater)
        if event.kind == "submitted":
            submitted.add(pair)
        if event.kind in {"submitted", "released"} or pair in submitted:
            ends.pop(pair, None)
        elif event.kind == "taken" or ends.get(pair, event.at) > event.at:
            # A renewal that comes after the lease has ended does not bring it back: another may hold the item.
            ends[pair] = event.at + timedelta(seconds=seconds)
    return {pair: until for pair, until in ends.items() if until > now}
