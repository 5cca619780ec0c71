"""What a ledger is made of."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


class LedgerError(ValueError):
    """A ledger breaks the rules of the format.

    Args:
        line: Number of the offending line, counted from 1.
        message: What is wrong with it.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True)
class Posting:
    """An amount moved to (positive) or from (negative) an account."""

    account: str
    amount: Decimal


@dataclass(frozen=True)
class Entry:
    """One thing that happened: amounts moved between accounts, which add up to zero."""

    date: date
    payee: str
    postings: tuple[Posting, ...]
