"""What has been spent of a budget, and what calls under way may still spend.

Only the model proxy's loop touches a ledger. Calls are let in side by side only while the most that all of them may
spend fits into what is left; a call that does not fit so waits until nothing else is under way, and then has all of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from decimal import Decimal

from repoassay.model_proxy.limits import Budget

__all__ = ["BudgetLedger", "Reserve"]


@dataclass(frozen=True, slots=True)
class Reserve:
    """Tokens and dollars: what a call may spend at most, or what it spent."""

    tokens: int
    dollars: Decimal


class BudgetLedger:
    """The spending of one attempt, or of the whole run."""

    def __init__(self, budget: Budget, of: str) -> None:
        self.budget = budget
        self.calls = 0
        self.tokens = 0
        self.dollars = Decimal(0)
        self.deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        self.queue: list[object] = []
        """Calls that wait for it, in the order they came; none overtakes another."""
        self._of = of
        self._over = ""
        self._under_way = 0
        self._alone = False
        self._held_tokens = 0
        self._held_dollars = Decimal(0)

    def spent(self) -> str:
        """Why no further call is let in, as a sentence; empty when one may be."""
        budget = self.budget
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return f"The {self._of}'s {budget.seconds:g} seconds are over."
        if budget.calls is not None and self.calls >= budget.calls:
            return f"The {self._of}'s budget of {budget.calls} model calls is spent."
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"The {self._of}'s budget of {budget.tokens} tokens is spent."
        if budget.dollars is not None and self.dollars >= budget.dollars:
            return f"The {self._of}'s budget of {budget.dollars} dollars is spent."
        return self._over

    def close(self) -> str:
        """Let no further call in, since what is left does not hold the one that came; returns the sentence."""
        budget = self.budget
        tokens, dollars = self.left_tokens(), self.left_dollars()
        amount = f"{budget.tokens} tokens" if tokens is not None else f"{budget.dollars} dollars"
        left = f"{tokens} tokens" if tokens is not None else f"{dollars} dollars"
        self._over = f"The {self._of}'s budget of {amount} is spent but for {left}, which do not hold another call."
        return self._over

    def lose_count(self) -> None:
        """Let no further call in where dollars are limited, since nobody knows what a call cost."""
        if self.budget.dollars is not None:
            self._over = f"The {self._of}'s budget of {self.budget.dollars} dollars: nobody told the cost of a call."

    def left_tokens(self) -> int | None:
        """Tokens not spent yet, None without a limit."""
        return None if self.budget.tokens is None else self.budget.tokens - self.tokens

    def left_dollars(self) -> Decimal | None:
        """Dollars not spent yet, None without a limit."""
        return None if self.budget.dollars is None else self.budget.dollars - self.dollars

    def fits(self, most: Reserve) -> bool:
        """Whether a call that spends so much may go beside those under way."""
        tokens, dollars, calls = self.left_tokens(), self.left_dollars(), self.budget.calls
        return (
            not self._alone
            and (calls is None or self.calls + self._under_way < calls)
            and (tokens is None or self._held_tokens + most.tokens <= tokens)
            and (dollars is None or self._held_dollars + most.dollars <= dollars)
        )

    def lets_in(self, ticket: object, most: Reserve) -> bool:
        """Whether it is a call's turn: nobody came before it, and it fits or has the ledger to itself."""
        first = not self.queue or self.queue[0] is ticket
        return first and (not self._under_way or self.fits(most))

    def reserve(self, most: Reserve) -> None:
        """Let a call in; one that does not fit must be the only one, and stays so until it is settled."""
        self._alone = not self.fits(most)
        self._under_way += 1
        self._held_tokens += most.tokens
        self._held_dollars += most.dollars

    def settle(self, most: Reserve, spent: Reserve | None) -> None:
        """A call ended that was reserved as `most`. `spent`: what it cost; None when it is none of the budget's."""
        self._under_way -= 1
        self._alone = False
        self._held_tokens -= most.tokens
        self._held_dollars -= most.dollars
        if spent is None:
            return
        self.calls += 1
        self.tokens += spent.tokens
        self.dollars += spent.dollars

    def extend(self, seconds: float) -> None:
        """Put the end of its time off; for whom nothing is under way meanwhile."""
        if self.deadline is not None:
            self.deadline += seconds

    def remaining(self) -> float | None:
        """Seconds left, None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
