"""What one wants to know from a ledger."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from pocketledger.entries import Entry


@dataclass(frozen=True)
class RegisterRow:
    """One posting to an account, with the account's total after it."""

    date: date
    payee: str
    amount: Decimal
    total: Decimal


def balances(
    entries: Iterable[Entry], account: str | None = None, until: date | None = None
) -> dict[str, Decimal]:
    """Return the balance of each account, sorted by account; accounts that balance to zero are left out.

    Args:
        entries: The ledger.
        account: Only this account and those below it.
        until: Only entries up to and including this day.
    """
    totals: dict[str, Decimal] = {}
    for entry in entries:
        if until is not None and entry.date > until:
            continue
        for posting in entry.postings:
            if account is None or posting.account.startswith(account):
                totals[posting.account] = totals.get(posting.account, Decimal(0)) + posting.amount
    return {name: totals[name] for name in sorted(totals) if totals[name]}


def register(entries: Iterable[Entry], account: str) -> list[RegisterRow]:
    """Return the postings to an account and those below it, by date, with a running total.

    Entries of the same day keep the order of the ledger.
    """
    rows: list[RegisterRow] = []
    total = Decimal(0)
    for entry in sorted(entries, key=lambda entry: entry.date):
        for posting in entry.postings:
            if posting.account.startswith(account):
                total += posting.amount
                rows.append(RegisterRow(entry.date, entry.payee, posting.amount, total))
    return rows
