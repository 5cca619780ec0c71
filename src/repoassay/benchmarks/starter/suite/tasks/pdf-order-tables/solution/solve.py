"""Order lines and totals of the purchase order."""

import csv
import json
import os
from pathlib import Path

import pdfplumber

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

COLUMNS = ["line", "part", "section", "description", "quantity", "unit", "unit_price", "amount"]


def number(text):
    return float(text.replace(".", "").replace(",", "."))


lines, section = [], ""
totals = {"order": "", "subtotals": {}}
with pdfplumber.open(INPUTS / "order.pdf") as pdf:
    first = pdf.pages[0].extract_text()
    totals["order"] = next(word for word in first.split() if word.startswith("PO-"))
    rows = [row for page in pdf.pages for table in page.extract_tables() for row in table if len(row) == 7]
for row in rows:
    cells = [" ".join((cell or "").split()) for cell in row]
    label = cells[2]
    if cells[0] == "Line":
        continue
    if cells[0].isdigit():
        line, part, description, quantity, unit, price, amount = cells
        lines.append(
            [line, part, section, description, quantity, unit, f"{number(price):.2f}", f"{number(amount):.2f}"]
        )
    elif cells[0]:
        section = cells[0]
    elif label.startswith("Subtotal "):
        totals["subtotals"][label.removeprefix("Subtotal ")] = number(cells[6])
    else:
        key = "net" if label.startswith("Net") else "tax" if label.startswith("Tax") else "payable"
        totals[key] = number(cells[6])

with (OUTPUT / "lines.csv").open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([COLUMNS, *lines])
(OUTPUT / "totals.json").write_text(json.dumps(totals, indent=2), encoding="utf-8")
