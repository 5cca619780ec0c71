from decimal import Decimal

import pytest

from pocketledger import balances, read_ledger, register
from pocketledger.cli import main

LEDGER = """\
2024-02-29 Books
    Expenses:Books          20.05
    Assets:Cash            -20.05

2023-11-30 Shop
    Expenses:Food           12.40
    Expenses:Books           7.60
    Assets:Cash            -20.00

2023-11-01 Shop
    Expenses:Food            0.10
    Assets:Cash             -0.10

2024-02-01 Refund
    Assets:Cash              2.00
    Expenses:Food           -2.00

2024-06-01 Wages
    Assets:Bank          1,500.00
    Income:Wages        -1,500.00

2024-05-31 Shop
    Expenses:Food        1,234.50
    Assets:Cash         -1,234.50
"""


def entry(day, account, amount):
    return f"{day} Some\n  {account}  {amount}\n  Other  {-Decimal(amount)}\n"


def test_sums_by_month():
    from pocketledger import monthly

    found = monthly(read_ledger(LEDGER), "Expenses:Books")
    assert found == {
        "2023-11": Decimal("7.60"),
        "2023-12": 0,
        "2024-01": 0,
        "2024-02": Decimal("20.05"),
    }


def test_includes_accounts_below():
    from pocketledger import monthly

    assert monthly(read_ledger(LEDGER), "Expenses") == {
        "2023-11": Decimal("20.10"),
        "2023-12": 0,
        "2024-01": 0,
        "2024-02": Decimal("18.05"),
        "2024-03": 0,
        "2024-04": 0,
        "2024-05": Decimal("1234.50"),
    }


def test_months_are_in_order():
    from pocketledger import monthly

    months = list(monthly(read_ledger(LEDGER), "Assets"))
    assert months == [
        "2023-11",
        "2023-12",
        "2024-01",
        "2024-02",
        "2024-03",
        "2024-04",
        "2024-05",
        "2024-06",
    ]


def test_starts_and_ends_with_the_account():
    from pocketledger import monthly

    entries = read_ledger(LEDGER)
    assert monthly(entries, "Income") == {"2024-06": Decimal(-1500)}
    assert list(monthly(entries, "Expenses:Food"))[0] == "2023-11"
    assert list(monthly(entries, "Expenses:Food"))[-1] == "2024-05"


def test_nothing_posted():
    from pocketledger import monthly

    assert monthly(read_ledger(LEDGER), "Savings") == {}
    assert monthly([], "Expenses") == {}


def test_month_whose_postings_cancel_out_stays():
    from pocketledger import monthly

    text = entry("2024-01-05", "Food", "5") + entry("2024-01-20", "Food", "-5")
    assert monthly(read_ledger(text), "Food") == {"2024-01": 0}
    text = text + entry("2024-03-01", "Food", "1")
    assert monthly(read_ledger(text), "Food") == {"2024-01": 0, "2024-02": 0, "2024-03": 1}


def test_same_month_of_another_year():
    from pocketledger import monthly

    text = entry("2023-12-31", "Food", "1") + entry("2024-12-01", "Food", "2")
    found = monthly(read_ledger(text), "Food")
    assert len(found) == 13
    assert (found["2023-12"], found["2024-12"], sum(found.values())) == (1, 2, 3)
    assert list(found)[:3] == ["2023-12", "2024-01", "2024-02"]


def test_amounts_are_decimal():
    from pocketledger import monthly

    text = entry("2024-01-05", "Food", "0.1") + entry("2024-01-06", "Food", "0.2") + entry("2024-03-06", "Food", "1")
    found = monthly(read_ledger(text), "Food")
    assert found["2024-01"] == Decimal("0.3")
    assert all(isinstance(amount, Decimal) for amount in found.values())


def test_entries_may_be_an_iterator():
    from pocketledger import monthly

    assert monthly(iter(read_ledger(LEDGER)), "Income") == {"2024-06": Decimal(-1500)}


def test_is_exported():
    import pocketledger

    assert "monthly" in pocketledger.__all__


def test_command_line(tmp_path, capsys):
    path = tmp_path / "home.ledger"
    path.write_text(LEDGER, encoding="utf-8")
    assert main(["monthly", str(path), "Expenses:Food"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["2023-11", "12.50"],
        ["2023-12", "0.00"],
        ["2024-01", "0.00"],
        ["2024-02", "-2.00"],
        ["2024-03", "0.00"],
        ["2024-04", "0.00"],
        ["2024-05", "1,234.50"],
    ]
    assert main(["monthly", str(path), "Savings"]) == 0
    assert capsys.readouterr().out == ""


def test_command_line_needs_an_account(tmp_path, capsys):
    path = tmp_path / "home.ledger"
    path.write_text(LEDGER, encoding="utf-8")
    with pytest.raises(SystemExit) as caught:
        main(["monthly", str(path)])
    assert caught.value.code == 2
    assert "account" in capsys.readouterr().err.splitlines()[-1].lower()


def test_command_line_reports_a_bad_file(tmp_path, capsys):
    path = tmp_path / "bad.ledger"
    path.write_text("oops\n", encoding="utf-8")
    assert main(["monthly", str(path), "Expenses"]) == 1
    assert "line 1" in capsys.readouterr().err


def test_balances_as_before():
    entries = read_ledger(LEDGER)
    assert balances(entries, account="Expenses:Books") == {"Expenses:Books": Decimal("27.65")}


def test_register_as_before():
    rows = register(read_ledger(LEDGER), "Expenses:Books")
    assert [row.total for row in rows] == [Decimal("7.60"), Decimal("27.65")]


def test_register_command_as_before(tmp_path, capsys):
    path = tmp_path / "home.ledger"
    path.write_text(LEDGER, encoding="utf-8")
    assert main(["register", str(path), "Income"]) == 0
    assert capsys.readouterr().out.split() == ["2024-06-01", "Wages", "-1,500.00", "-1,500.00"]


def test_tidy_command_as_before(tmp_path, capsys):
    path = tmp_path / "home.ledger"
    path.write_text(LEDGER, encoding="utf-8")
    assert main(["tidy", str(path)]) == 0
    assert capsys.readouterr().out.startswith("2023-11-01 Shop\n")
