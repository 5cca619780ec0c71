from datetime import date
from decimal import Decimal

import pytest

from pocketledger import Entry, LedgerError, Posting, format_ledger, read_ledger

SHOP = """\
; March
2024-03-01 Corner shop
    Expenses:Food      12.40
    Assets:Cash Box   -12.40
"""


def test_reads_an_entry() -> None:
    assert read_ledger(SHOP) == [
        Entry(
            date(2024, 3, 1),
            "Corner shop",
            (Posting("Expenses:Food", Decimal("12.40")), Posting("Assets:Cash Box", Decimal("-12.40"))),
        )
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("    Expenses:Food  1\n", 1),
        ("2024-13-01 Shop\n", 1),
        ("2024-03-01\n    A  1\n    B  -1\n", 1),
        ("\n2024-03-01 Shop\n    A  1\n    B  x\n", 4),
        ("2024-03-01 Shop\n    A  1\n", 1),
        ("2024-03-01 Shop\n    A  1\n    B  -2\n", 1),
    ],
)
def test_names_the_line_that_is_wrong(text: str, line: int) -> None:
    with pytest.raises(LedgerError) as caught:
        read_ledger(text)
    assert caught.value.line == line


def test_what_is_written_reads_back() -> None:
    entries = read_ledger(SHOP + "\n2024-02-01 Rent\n  Expenses:Rent  1,250\n  Assets:Bank  -1,250.00\n")
    assert read_ledger(format_ledger(entries)) == [entries[1], entries[0]]
