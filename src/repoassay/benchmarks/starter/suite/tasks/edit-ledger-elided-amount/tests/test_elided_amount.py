from datetime import date
from decimal import Decimal

import pytest

from pocketledger import LedgerError, balances, format_ledger, read_ledger
from pocketledger.cli import main


def amounts(text):
    return [[(p.account, p.amount) for p in entry.postings] for entry in read_ledger(text)]


def test_last_amount_left_out():
    assert amounts("2024-03-01 Shop\n  Expenses:Food  12.40\n  Assets:Cash\n") == [
        [("Expenses:Food", Decimal("12.40")), ("Assets:Cash", Decimal("-12.40"))]
    ]


def test_first_amount_left_out():
    assert amounts("2024-03-01 Wages\n  Assets:Bank\n  Income:Wages  -1,250.00\n") == [
        [("Assets:Bank", Decimal("1250")), ("Income:Wages", Decimal("-1250"))]
    ]


def test_middle_of_several_left_out():
    text = "2024-03-01 Market\n  Expenses:Food  10.10\n  Assets:Cash\n  Expenses:Books  5\n  Income:Refund  -0.35\n"
    assert amounts(text)[0][1] == ("Assets:Cash", Decimal("-14.75"))
    assert len(amounts(text)[0]) == 4


def test_amount_is_exact():
    assert amounts("2024-03-01 Odd\n  A  0.1\n  B  0.2\n  C\n")[0][2] == ("C", Decimal("-0.3"))


def test_account_name_with_a_space():
    assert amounts("2024-03-01 Shop\n  Assets:Cash Box\n  Expenses:Food  3\n")[0][0] == ("Assets:Cash Box", Decimal(-3))


def test_trailing_space_after_the_account():
    assert amounts("2024-03-01 Shop\n  Assets:Cash     \n  Expenses:Food  3\n")[0][0] == ("Assets:Cash", Decimal(-3))


def test_nothing_is_left_to_balance():
    text = "2024-03-01 Swap\n  A  5\n  B  -5\n  C\n"
    assert amounts(text)[0][2] == ("C", Decimal(0))


def test_each_entry_on_its_own():
    text = "2024-03-01 One\n  A  1\n  B\n\n; between\n2024-03-02 Two\n  A\n  B  7\n"
    assert [posting for entry in amounts(text) for posting in entry] == [
        ("A", Decimal(1)),
        ("B", Decimal(-1)),
        ("A", Decimal(-7)),
        ("B", Decimal(7)),
    ]


def test_reports_and_writing_see_the_amount(tmp_path, capsys):
    text = "2024-03-01 Shop\n  Expenses:Food  12.40\n  Assets:Cash\n"
    entries = read_ledger(text)
    assert balances(entries) == {"Assets:Cash": Decimal("-12.40"), "Expenses:Food": Decimal("12.40")}
    assert read_ledger(format_ledger(entries)) == entries
    path = tmp_path / "home.ledger"
    path.write_text(text, encoding="utf-8")
    assert main(["tidy", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[2].split() == ["Assets:Cash", "-12.40"]


def test_second_without_amount_is_refused_at_its_line():
    cases = {
        "2024-03-01 Shop\n  A  1\n  B\n  C\n": 4,
        "2024-03-01 Shop\n  A\n  ; comment\n  B  1\n\n  C\n": 6,
        "2024-03-01 Fine\n  A  1\n  B\n2024-03-02 Not\n  A\n  B\n": 6,
        "2024-03-01 Shop\n  A\n  B\n  C\n": 3,
    }
    for text, line in cases.items():
        with pytest.raises(LedgerError) as caught:
            read_ledger(text)
        assert caught.value.line == line, text


def test_one_posting_is_still_too_few():
    for text in ("2024-03-01 Shop\n  A\n", "2024-03-01 Shop\n  A  0\n"):
        with pytest.raises(LedgerError) as caught:
            read_ledger("; first\n" + text)
        assert str(caught.value).startswith("line ")


def test_full_entry_must_still_balance():
    with pytest.raises(LedgerError) as caught:
        read_ledger("\n2024-03-01 Shop\n  A  1\n  B  -2\n")
    assert caught.value.line == 2


def test_bad_amount_is_still_refused():
    for bad in ("x", "1..2", "nan", "Infinity"):
        with pytest.raises(LedgerError) as caught:
            read_ledger(f"2024-03-01 Shop\n  A  1\n  B  {bad}\n")
        assert caught.value.line == 3


def test_posting_with_too_much_is_still_refused():
    with pytest.raises(LedgerError) as caught:
        read_ledger("2024-03-01 Shop\n  A  1  2\n  B  -1\n")
    assert caught.value.line == 2


def test_full_entries_read_as_before():
    entries = read_ledger("2024-03-01 Shop\n  A  1,000.50\n  B  -1000.50\n")
    assert [posting.amount for posting in entries[0].postings] == [Decimal("1000.50"), Decimal("-1000.50")]
    assert (entries[0].date, entries[0].payee) == (date(2024, 3, 1), "Shop")
