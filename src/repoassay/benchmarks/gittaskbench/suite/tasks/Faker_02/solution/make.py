"""Make up five companies."""

import csv
import json
import sys
from pathlib import Path

told = json.load(sys.stdin)
names = ("Adler Ltd", "Brown and Costa", "Dubois Group", "Eriksen Inc", "Fischer & Sons")
rows = [(name, f"{12 * i} Mill Lane, Springfield, OR 9740{i}", f"541-555-01{i}{i}") for i, name in enumerate(names, 1)]
with (Path(told["output"]) / told["names"][0]).open("w", encoding="utf-8", newline="") as target:
    csv.writer(target).writerows([("Company Name", "Address", "Phone"), *rows])
