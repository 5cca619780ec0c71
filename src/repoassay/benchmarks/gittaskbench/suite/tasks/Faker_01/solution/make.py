"""Make up a hundred users from lists of names."""

import csv
import json
import sys
from pathlib import Path

told = json.load(sys.stdin)
first = ("anna", "ben", "carla", "david", "emma", "frank", "grace", "henry", "iris", "jonas")
last = ("adler", "brown", "costa", "dubois", "eriksen", "fischer", "garcia", "haas", "ito", "jensen")
users = [(f"{one}_{two}", f"{one}.{two}@example.com") for one in first for two in last]
with (Path(told["output"]) / told["names"][0]).open("w", encoding="utf-8", newline="") as target:
    csv.writer(target).writerows([("Username", "Email"), *users])
