from datetime import date
from decimal import Decimal

from pocketledger import balances, read_ledger, register
from pocketledger.cli import main

LEDGER = """\
2024-03-02 Market
    Expenses:Car            30
    Expenses:Carpet         70
    Expenses:Car:Fuel       25
    Expenses:Car Wash        5
    Expenses               1.5
    Assets:Cash         -131.5
2024-03-05 Refund
    Assets:Cash             70
    Expenses:Carpet        -20
    Expenses:Car           -50
"""


def test_balances_of_an_account_and_those_below():
    assert balances(read_ledger(LEDGER), account="Expenses:Car") == {
        "Expenses:Car": Decimal(-20),
        "Expenses:Car:Fuel": Decimal(25),
    }


def test_balances_of_a_part_of_a_name():
    entries = read_ledger(LEDGER)
    assert [balances(entries, account=name) for name in ("Exp", "Expenses:C", "Expenses:Car:F", "A")] == [{}] * 4


def test_balances_until_a_day():
    found = balances(read_ledger(LEDGER), account="Expenses:Car", until=date(2024, 3, 4))
    assert found == {"Expenses:Car": Decimal(30), "Expenses:Car:Fuel": Decimal(25)}


def test_register_of_an_account_and_those_below():
    rows = register(read_ledger(LEDGER), "Expenses:Car")
    assert [(row.payee, row.amount, row.total) for row in rows] == [
        ("Market", Decimal(30), Decimal(30)),
        ("Market", Decimal(25), Decimal(55)),
        ("Refund", Decimal(-50), Decimal(5)),
    ]


def test_register_of_a_part_of_a_name():
    entries = read_ledger(LEDGER)
    assert [register(entries, name) for name in ("Ass", "Expenses:Carp", "Assets:Cas")] == [[], [], []]


def test_command_line(tmp_path, capsys):
    path = tmp_path / "home.ledger"
    path.write_text(LEDGER, encoding="utf-8")
    assert main(["balance", str(path), "--account", "Expenses:Car"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["-20.00", "Expenses:Car"],
        ["25.00", "Expenses:Car:Fuel"],
        ["5.00", "total"],
    ]
    assert main(["register", str(path), "Expenses:Car"]) == 0
    assert [line.split()[-2:] for line in capsys.readouterr().out.splitlines()] == [
        ["30.00", "30.00"],
        ["25.00", "55.00"],
        ["-50.00", "5.00"],
    ]


def test_top_account_still_includes_all_below():
    entries = read_ledger(LEDGER)
    assert sorted(balances(entries, account="Expenses")) == [
        "Expenses",
        "Expenses:Car",
        "Expenses:Car Wash",
        "Expenses:Car:Fuel",
        "Expenses:Carpet",
    ]
    assert len(register(entries, "Expenses")) == 7


def test_single_account_as_before():
    entries = read_ledger(LEDGER)
    assert balances(entries, account="Expenses:Carpet") == {"Expenses:Carpet": Decimal(50)}
    assert [row.total for row in register(entries, "Assets")] == [Decimal("-131.5"), Decimal("-61.5")]


def test_no_account_as_before():
    found = balances(read_ledger(LEDGER))
    assert len(found) == 6
    assert sum(found.values()) == 0


def test_unknown_account_as_before():
    entries = read_ledger(LEDGER)
    assert balances(entries, account="Savings") == {}
    assert register(entries, "expenses") == []
