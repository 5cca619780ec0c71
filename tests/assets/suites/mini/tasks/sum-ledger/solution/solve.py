"""Reference solution."""

import csv
from pathlib import Path

totals: dict[str, int] = {}
with Path("/workspace/inputs/ledger.csv").open(newline="") as stream:
    for row in csv.DictReader(stream):
        totals[row["month"]] = totals.get(row["month"], 0) + int(row["amount"])
with Path("/workspace/output/totals.csv").open("w", newline="") as stream:
    writer = csv.writer(stream)
    writer.writerow(["month", "amount"])
    writer.writerows(totals.items())
