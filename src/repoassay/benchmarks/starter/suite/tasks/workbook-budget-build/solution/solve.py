"""Budget workbook of the half-year."""

import csv
import os
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Font

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

def rows(name):
    with (INPUTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


budget = defaultdict(dict)
for row in rows("budget.csv"):
    budget[row["department"]][row["heading"]] = Decimal(row["budget"])
spent = defaultdict(Decimal)
for row in {row["voucher"]: row for row in rows("vouchers.csv")}.values():
    quarter = (int(row["date"][5:7]) + 2) // 3
    spent[row["department"], row["heading"], quarter] += Decimal(row["amount"])


def add(sheet, cells):
    sheet.append([float(cell) if isinstance(cell, Decimal) else cell for cell in cells])


book = Workbook()
summary = book.active
summary.title = "Summary"
add(summary, ["Department", "Budget", "Spent", "Left", "Used"])
all_budget = all_spent = Decimal()
for department in sorted(budget):
    sheet = book.create_sheet(department)
    add(sheet, ["Heading", "Q1", "Q2", "Spent", "Budget", "Left", "Over"])
    total = Decimal()
    for heading, planned in sorted(budget[department].items()):
        quarters = [spent[department, heading, quarter] for quarter in (1, 2)]
        used = sum(quarters)
        total += used
        add(sheet, [heading, *quarters, used, planned, planned - used, "yes" if used > planned else "no"])
    planned = sum(budget[department].values())
    add(summary, [department, planned, total, planned - total, round(total / planned, 4)])
    all_budget += planned
    all_spent += total
add(summary, ["Total", all_budget, all_spent, all_budget - all_spent, round(all_spent / all_budget, 4)])
for sheet in book:
    for cell in sheet[1]:
        cell.font = Font(bold=True)
book.save(OUTPUT / "report.xlsx")
