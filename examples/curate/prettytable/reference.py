"""Readings as a table for a Markdown page and one for a terminal."""

import csv
import os
from pathlib import Path

from prettytable import PrettyTable, TableStyle

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

with (INPUTS / "readings.csv").open(encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
rows.sort(key=lambda row: (row["station"], row["day"]))
table = PrettyTable(["Station", "Day", "Level [m]", "Comment"])
table.align = "l"
table.align["Level [m]"] = "r"
for row in rows:
    table.add_row([row["station"], row["day"], f"{float(row['level']):.2f}", row["comment"] or "-"])
(OUTPUT / "readings.txt").write_text(table.get_string() + "\n", "utf-8")
table.set_style(TableStyle.MARKDOWN)
(OUTPUT / "readings.md").write_text(table.get_string() + "\n", "utf-8")
