"""Reading a ledger from its text; ``docs/format.md`` has the rules."""

import re
from datetime import date
from decimal import Decimal, InvalidOperation

from pocketledger.entries import Entry, LedgerError, Posting

_GAP = re.compile(r"\s{2,}|\t")


def read_ledger(text: str) -> list[Entry]:
    """Return the entries of a ledger, in the order of the file.

    Raises:
        LedgerError: At the first line that breaks the format.
    """
    entries: list[Entry] = []
    block: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        if not line[0].isspace():
            if block:
                entries.append(_entry(block))
            block = [(number, line)]
        elif block:
            block.append((number, line))
        else:
            raise LedgerError(number, "posting outside of an entry")
    if block:
        entries.append(_entry(block))
    return entries


def _entry(block: list[tuple[int, str]]) -> Entry:
    """Build an entry from its numbered lines, of which the first is its head."""
    number, head = block[0]
    day, payee = _head(number, head)
    postings = tuple(_posting(*line) for line in block[1:])
    if len(postings) < 2:
        raise LedgerError(number, "entry needs at least two postings")
    rest = sum((posting.amount for posting in postings), Decimal(0))
    if rest:
        raise LedgerError(number, f"entry does not balance, it is off by {rest}")
    return Entry(day, payee, postings)


def _head(number: int, line: str) -> tuple[date, str]:
    day, _, payee = line.strip().partition(" ")
    try:
        parsed = date.fromisoformat(day)
    except ValueError:
        raise LedgerError(number, f"{day!r} is not a date such as 2024-03-01") from None
    if not payee.strip():
        raise LedgerError(number, "entry needs a payee")
    return parsed, payee.strip()


def _posting(number: int, line: str) -> Posting:
    parts = _GAP.split(line.strip())
    if len(parts) != 2:
        raise LedgerError(number, "posting needs an account, two spaces and an amount")
    account, amount = parts
    return Posting(account, _amount(number, amount))


def _amount(number: int, text: str) -> Decimal:
    try:
        amount = Decimal(text.replace(",", ""))
    except InvalidOperation:
        raise LedgerError(number, f"{text!r} is not an amount") from None
    if not amount.is_finite():
        raise LedgerError(number, f"{text!r} is not an amount")
    return amount
