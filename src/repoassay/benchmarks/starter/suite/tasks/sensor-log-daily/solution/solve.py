"""Daily figures on each gauge's own clock."""

import csv
import os
from collections import defaultdict
from pathlib import Path

from tidelog import Series, read_log

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

rows = []
for path in sorted(INPUTS.glob("*.tlog")):
    log = read_log(path)
    for channel in log.channels:
        days = defaultdict(list)
        for time, value in log.series(channel):
            days[(time + log.offset).date()].append((time, value))
        for day, pairs in days.items():
            if len(pairs) < 100:
                continue
            values = [value for _, value in pairs]
            mean = Series(log.units[channel], [time for time, _ in pairs], values).mean()
            figures = [f"{figure:.3f}" for figure in (min(values), mean, max(values))]
            rows.append([log.station, channel, day.isoformat(), len(values), *figures])
rows.sort(key=lambda row: row[:3])
with (OUTPUT / "daily.csv").open("w", encoding="utf-8", newline="") as file:
    header = ["station", "channel", "day", "samples", "lowest", "mean", "highest"]
    csv.writer(file).writerows([header, *rows])
