"""The budget of a run whose attempts are made elsewhere: each takes its whole share along, and brings back the rest.

What an attempt spent that was lost with its machine, or was under way when we were killed, nobody knows: its share
counts as spent.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from decimal import Decimal

from repoassay.engine.attempt_maker import AttemptShare
from repoassay.errors import BadInput
from repoassay.model_proxy import Budget, BudgetLedger, Reserve
from repoassay.records import RunFolder, run_spent
from repoassay.types import AgentEntry, Plan, Spending

__all__ = ["BudgetShares", "DollarShares", "lost_shares"]

_LOOK = 0.2
"""Seconds between looks at whether the run is stopped."""


class DollarShares:
    """What is left of dollars, and what pieces of work hold of it. Used from any thread.

    Args:
        budget_usd: Dollars in all; None is no limit.
        before: Dollars that are gone already.
        of: Whose budget it is, in sentences.
    """

    def __init__(self, budget_usd: Decimal | None, before: Decimal, of: str) -> None:
        self._budget, self._of = budget_usd, of
        left = None if budget_usd is None else max(budget_usd - before, Decimal(0))
        self._ledger = BudgetLedger(Budget(dollars=left), of)
        self._changed = threading.Condition()

    def hold(self, most_usd: Decimal, stopped: threading.Event) -> AttemptShare:
        """Wait until so much can be set apart, or be all that is left; nothing is once `stopped` is set."""
        ticket = object()
        with self._changed:
            self._ledger.queue.append(ticket)
            try:
                while not stopped.is_set():
                    if self._ledger.spent():
                        return AttemptShare(over=f"The {self._of}'s budget of {self._budget} dollars is spent.")
                    if self._ledger.lets_in(ticket, Reserve(0, most_usd)):
                        left = self._ledger.left_dollars()
                        share = most_usd if left is None else min(left, most_usd)
                        self._ledger.reserve(Reserve(0, share))
                        return AttemptShare(share_usd=share)
                    self._changed.wait(_LOOK)
                return AttemptShare()
            finally:
                self._ledger.queue.remove(ticket)

    def settle(self, share_usd: Decimal | None, told_usd: Decimal) -> None:
        """Work ended that held so much and spent so much."""
        if share_usd is None:
            return
        with self._changed:
            self._ledger.settle(Reserve(0, share_usd), Reserve(0, max(told_usd, Decimal(0))))
            self._changed.notify_all()


class BudgetShares:
    """What is left of a run's dollars, and what attempts hold of it. Used from any thread.

    Args:
        plan: The plan.
        budget_usd: Dollars in all; None is no limit.
        before: Dollars that are gone already.

    Raises:
        BadInput: Dollars are limited, and an agent with a model has no limit for each attempt.
    """

    def __init__(self, plan: Plan, budget_usd: Decimal | None, before: Decimal) -> None:
        self._entries: Mapping[str, AgentEntry] = plan.agents
        self._limited = budget_usd is not None
        self._dollars = DollarShares(budget_usd, before, "run")
        for name, entry in plan.agents.items():
            if budget_usd is not None and entry.model and entry.budget_usd is None:
                raise BadInput(
                    f"On a cluster every attempt takes its share of the run's budget along, and {name} has none.",
                    "Say what an attempt may spend with --attempt-budget-usd, beside --budget-usd.",
                )

    def admit(self, agent: str, stopped: threading.Event) -> AttemptShare:
        """Hold an attempt's share, as `AttemptMaker.admit` has it; what is left, where that is less and all."""
        entry = self._entries[agent]
        if not self._limited or not entry.model or entry.budget_usd is None:
            return AttemptShare()
        return self._dollars.hold(entry.budget_usd, stopped)

    def settle(self, share_usd: Decimal | None, spent: Spending | None) -> None:
        """An attempt ended that was given so much; `spent` is its account, None where nobody knows."""
        if share_usd is not None:
            self._dollars.settle(share_usd, share_usd if spent is None or spent.dollars is None else spent.dollars)


def lost_shares(run: RunFolder) -> Decimal:
    """Dollars that are gone: by accounts, and as shares of attempts that began and left neither account nor end."""
    accounts = run_spent(run.path)
    total = sum((account.dollars_known for account in accounts.values()), Decimal(0))
    shares: dict[str, Decimal] = {}
    for event in run.events():
        attempt, share = str(event.get("attempt")), event.get("share_usd")
        if event.get("event") == "started" and isinstance(share, str) and attempt not in accounts:
            shares[attempt] = Decimal(share)
        elif event.get("event") == "finished":
            shares.pop(attempt, None)
    return total + sum(shares.values(), Decimal(0))
