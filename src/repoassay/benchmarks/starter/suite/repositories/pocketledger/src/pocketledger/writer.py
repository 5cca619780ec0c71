"""Writing entries as text that :func:`pocketledger.read_ledger` reads back."""

from collections.abc import Iterable
from decimal import Decimal

from pocketledger.entries import Entry


def money(amount: Decimal) -> str:
    """Return an amount with two decimals at least, and commas between thousands."""
    places = max(2, -int(amount.as_tuple().exponent))
    return f"{amount:,.{places}f}"


def format_entry(entry: Entry) -> str:
    """Return an entry as text, with its amounts aligned to the right and a newline at its end."""
    amounts = [money(posting.amount) for posting in entry.postings]
    name_width = max(len(posting.account) for posting in entry.postings)
    amount_width = max(len(amount) for amount in amounts)
    lines = [f"{entry.date.isoformat()} {entry.payee}"]
    for posting, amount in zip(entry.postings, amounts, strict=True):
        lines.append(f"    {posting.account:<{name_width}}  {amount:>{amount_width}}")
    return "\n".join(lines) + "\n"


def format_ledger(entries: Iterable[Entry]) -> str:
    """Return a ledger as text, its entries sorted by date with an empty line between them."""
    return "\n".join(format_entry(entry) for entry in sorted(entries, key=lambda entry: entry.date))
