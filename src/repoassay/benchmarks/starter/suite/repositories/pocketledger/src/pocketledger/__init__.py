"""Household accounts in a plain text file."""

from pocketledger.entries import Entry, LedgerError, Posting
from pocketledger.reader import read_ledger
from pocketledger.reports import RegisterRow, balances, register
from pocketledger.writer import format_entry, format_ledger

__all__ = [
    "Entry",
    "LedgerError",
    "Posting",
    "RegisterRow",
    "balances",
    "format_entry",
    "format_ledger",
    "read_ledger",
    "register",
]
