"""Hours of raters and their pay: active time of every rating, with the lead's corrections, at a rate an hour.

Rates and corrections lie in the log of events: the last rate counts, corrections add up, and none can be taken back.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, event_log
from repoassay.review.rater_accounts import Rater, RaterRole, raters_of
from repoassay.review.submitting import ratings_of
from repoassay.types import Rating, RatingPhase

__all__ = ["RaterHours", "correct_hours", "hours_of", "hours_to_csv", "set_pay"]

_CORRECTED, _PAY = "hours_corrected", "pay_set"
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class RaterHours:
    """One rater: seconds of active time, the lead's corrections in seconds, ratings, and what that pays.

    `rate` is for an hour; it, `currency` and `pay` (to a hundredth) are empty where no rate was set.
    """

    rater: Rater
    ratings: int
    active: float
    corrected: float
    rate: Decimal | None
    currency: str

    @property
    def hours(self) -> Decimal:
        """Hours to be paid, to four places, at least 0."""
        seconds = Decimal(str(max(0.0, self.active + self.corrected)))
        return (seconds / 3600).quantize(Decimal("0.0001"), ROUND_HALF_UP)

    @property
    def pay(self) -> Decimal | None:
        """What is due."""
        return None if self.rate is None else (self.hours * self.rate).quantize(_CENT, ROUND_HALF_UP)


def set_pay(database: Database, study: str, rate: str, currency: str, *, at: datetime, actor: str) -> None:
    """Set what an hour of a study's raters pays.

    Raises:
        BadInput: When the rate is no amount, or the currency no code of three letters (ISO 4217).
    """
    try:
        amount = Decimal(rate.strip())
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 <= amount <= 1_000_000 or len(rate) > 20:
        raise BadInput("The pay of an hour is an amount from 0 to 1,000,000.", "Write 45 or 45.50.")
    if not re.fullmatch("[A-Z]{3}", currency):
        raise BadInput("A currency is a code of three capital letters.", "Write EUR or USD.")
    details = {"rate": str(amount), "currency": currency}
    database.write(lambda connection: append(connection, study, at, _PAY, actor, **details))


def correct_hours(database: Database, rater: Rater, minutes: float, reason: str, *, at: datetime, actor: str) -> None:
    """Add minutes to a rater's time, or take them off; the reason stays in the log.

    Raises:
        BadInput: When there is no reason, or the minutes are no number of at most 100,000 either way.
    """
    if not math.isfinite(minutes) or not 0 < abs(minutes) <= 100_000:
        raise BadInput("A correction is a number of minutes, at most 100,000 either way.", "Write 30 or -12.5.")
    if not reason.strip() or len(reason) > 1000:
        raise BadInput("A correction needs a reason of at most 1,000 characters.", "Say what it is for.")
    details: dict[str, Any] = {"rater": rater.id, "seconds": 60 * minutes, "reason": reason.strip()}
    database.write(lambda connection: append(connection, rater.study, at, _CORRECTED, actor, **details))


def hours_of(database: Database, study: str) -> tuple[RaterHours, ...]:
    """Return the hours of every rater of a study; time in training and qualification is paid too."""
    line = ratings_of(database, study, preparing=True)
    corrections = event_log(database, study, kinds=[_CORRECTED])
    events = event_log(database, study, kinds=[_PAY])
    rate = Decimal(events[-1].details["rate"]) if events else None
    currency = str(events[-1].details["currency"]) if events else ""
    found = []
    for person in raters_of(database, study):
        if person.role is RaterRole.RATER:
            mine = [rating for rating in line if rating.rater == person.id]
            fixed = math.fsum(float(e.details["seconds"]) for e in corrections if e.details["rater"] == person.id)
            found.append(RaterHours(person, len(mine), _active(mine), fixed, rate, currency))
    return tuple(found)


def hours_to_csv(hours: Iterable[RaterHours]) -> str:
    """Write a table: rater, name, ratings, active and corrected hours, hours, rate, currency, pay."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["rater", "name", "ratings", "active_hours", "corrected_hours", "hours", "rate", "currency", "pay"])
    for each in hours:
        # A name that a spreadsheet would run as a formula is written with an apostrophe before it.
        name = (
            f"'{each.rater.name}"
            if each.rater.name.startswith(("=", "+", "-", "@", "\t", "\r", "'"))
            else (each.rater.name)
        )
        writer.writerow(
            [each.rater.id, name, each.ratings, f"{each.active / 3600:.4f}", f"{each.corrected / 3600:.4f}",
             each.hours, "" if each.rate is None else each.rate, each.currency, "" if each.pay is None else each.pay]
        )  # fmt: skip
    return out.getvalue()


def _active(ratings: Iterable[Rating]) -> float:
    """Seconds of active time: an amendment goes on counting where the rating it amends ended."""
    total = 0.0
    last: dict[str, float] = {}
    for rating in sorted(ratings, key=lambda each: each.version):
        before = last.get(rating.submission, 0.0) if rating.phase is RatingPhase.REVEALED else 0.0
        total += max(0.0, rating.active_seconds - before)
        last[rating.submission] = max(before, rating.active_seconds)
    return total
