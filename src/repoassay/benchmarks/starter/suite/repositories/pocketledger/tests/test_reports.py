from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from pocketledger import balances, read_ledger, register
from pocketledger.cli import main

LEDGER = """\
2024-03-09 Corner shop
    Expenses:Food      12.40
    Assets:Cash       -12.40

2024-03-01 Wages
    Assets:Cash       200.00
    Income:Wages     -200.00
"""


def test_balances() -> None:
    entries = read_ledger(LEDGER)
    assert balances(entries, account="Assets") == {"Assets:Cash": Decimal("187.60")}
    assert balances(entries, account="Assets", until=date(2024, 3, 8)) == {"Assets:Cash": Decimal("200.00")}


def test_register_runs_by_date() -> None:
    rows = register(read_ledger(LEDGER), "Assets")
    assert [(row.payee, row.total) for row in rows] == [("Wages", Decimal("200.00")), ("Corner shop", Decimal("187.60"))]


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "home.ledger"
    path.write_text(LEDGER, encoding="utf-8")
    assert main(["balance", str(path), "--account", "Expenses"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["12.40", "Expenses:Food"],
        ["12.40", "total"],
    ]
    assert main(["balance", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.startswith("pocketledger: ")
