"""The command line."""

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

from pocketledger.entries import Entry, LedgerError
from pocketledger.reader import read_ledger
from pocketledger.reports import balances, register
from pocketledger.writer import format_ledger, money


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, or 1 after printing why it failed."""
    options = _parser().parse_args(argv)
    try:
        entries = read_ledger(options.file.read_text(encoding="utf-8"))
    except (OSError, LedgerError) as error:
        print(f"pocketledger: {options.file}: {error}", file=sys.stderr)
        return 1
    options.command(entries, options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pocketledger", description="Household accounts in a plain text file.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    balance = commands.add_parser("balance", help="print the balance of each account")
    balance.add_argument("file", type=Path)
    balance.add_argument("--account", help="only this account and those below it")
    balance.add_argument("--until", type=date.fromisoformat, metavar="DATE", help="only up to this day")
    balance.set_defaults(command=_balance)

    listing = commands.add_parser("register", help="print the postings to an account")
    listing.add_argument("file", type=Path)
    listing.add_argument("account")
    listing.set_defaults(command=_register)

    tidy = commands.add_parser("tidy", help="print the ledger sorted by date and aligned")
    tidy.add_argument("file", type=Path)
    tidy.set_defaults(command=_tidy)
    return parser


def _balance(entries: list[Entry], options: argparse.Namespace) -> None:
    totals = balances(entries, account=options.account, until=options.until)
    for name, total in totals.items():
        print(f"{money(total):>14}  {name}")
    print(f"{money(sum(totals.values(), Decimal(0))):>14}  total")


def _register(entries: list[Entry], options: argparse.Namespace) -> None:
    for row in register(entries, options.account):
        print(f"{row.date}  {row.payee:<28}  {money(row.amount):>12}  {money(row.total):>12}")


def _tidy(entries: list[Entry], options: argparse.Namespace) -> None:
    print(format_ledger(entries), end="")
