"""Letting a call in: what it may spend is set aside before it is forwarded, and settled when the usage is known.

The output of a call is bounded by what it asks for, or else by what models can write. A call whose most (a token for
every byte of its prompt, and all the output it may have) fits into what is left goes at once, beside others. Any other
waits until it is alone. Then its prompt is estimated, its output is limited to what the budget leaves, and where that
is next to nothing it is refused. So a budget is passed by the error of one estimate of one prompt at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from repoassay.model_proxy.ledger import BudgetLedger, Reserve

__all__ = ["UNBOUNDED_OUTPUT", "Admission", "Need"]

UNBOUNDED_OUTPUT = 128_000
"""Tokens that an answer may have whose length the request does not bound: no vendor's model writes more in one."""
_ANYTHING = Decimal(1_000_000_000)
"""More dollars than any budget has left."""
_LEAST_OUTPUT = 16  # OpenAI's responses take no smaller limit


@dataclass(frozen=True, slots=True)
class Need:
    """What a call may take.

    Attributes:
        likely: Tokens of its prompt, as estimated. `most`: as many as its bytes could be.
        asked: Tokens of output a choice, as the request says; None when it does not.
        choices: How many answers.
        dollars: What so many tokens of prompt and of output cost.
        priced: Whether that is known; else the upstream says afterwards what it cost, and calls go one at a time.
    """

    likely: int
    most: int
    asked: int | None
    choices: int
    dollars: Callable[[int, int], Decimal]
    priced: bool = True

    @property
    def output(self) -> int:
        """Tokens of output, over all choices."""
        return self.choices * (UNBOUNDED_OUTPUT if self.asked is None else self.asked)

    def reserve(self) -> Reserve:
        """The most it may spend as it was asked."""
        dollars = self.dollars(self.most, self.output) if self.priced else _ANYTHING
        return Reserve(self.most + self.output, dollars)

    def room(self, ledger: BudgetLedger) -> int:
        """Tokens of output a choice that what is left of a budget holds, after the likely prompt."""
        tokens, dollars, room = ledger.left_tokens(), ledger.left_dollars(), self.output
        if tokens is not None:
            room = min(room, tokens - self.likely)
        if dollars is not None and self.priced:
            prompt = self.dollars(self.likely, 0)
            rate = (self.dollars(self.likely, 1_000_000) - prompt) / 1_000_000
            if dollars < prompt:
                room = 0
            elif rate:
                room = min(room, int((dollars - prompt) / rate))
        return max(room, 0) // self.choices


class Admission:
    """The queue before the budgets of a model proxy; used on its loop alone."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()

    async def enter(self, ledgers: Sequence[BudgetLedger], need: Need) -> int | str:
        """Wait for a call's turn and set aside what it may spend; returns tokens of output a choice, or a refusal."""
        ticket, most = object(), need.reserve()
        async with self._changed:
            try:
                while True:
                    if spent := next(filter(None, (ledger.spent() for ledger in ledgers)), ""):
                        return spent
                    # In order, and no further than the first that says no: two calls never wait for one another.
                    busy = next((ledger for ledger in ledgers if not ledger.lets_in(ticket, most)), None)
                    if busy is None:
                        break
                    if ticket not in busy.queue:
                        busy.queue.append(ticket)
                    await self._changed.wait()
                allowed = need.output // need.choices
                for ledger in (one for one in ledgers if not one.fits(most)):
                    allowed = min(allowed, need.room(ledger))
                    if allowed < min(_LEAST_OUTPUT, need.output // need.choices):
                        return ledger.close()
                for ledger in ledgers:
                    ledger.reserve(most)
                return allowed
            finally:
                for ledger in ledgers:
                    if ticket in ledger.queue:
                        ledger.queue.remove(ticket)
                self._changed.notify_all()

    async def leave(self, ledgers: Sequence[BudgetLedger], need: Need, spent: Reserve | None) -> None:
        """Settle a call; None when it is none of the budget's."""
        most = need.reserve()
        for ledger in ledgers:
            ledger.settle(most, spent)
        async with self._changed:
            self._changed.notify_all()
