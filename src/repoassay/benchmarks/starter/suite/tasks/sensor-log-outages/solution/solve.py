"""Outages of each gauge and their causes."""

import csv
import json
import os
from datetime import timedelta
from pathlib import Path

from tidelog import read_log

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

outages, stations = [], []
for path in sorted(INPUTS.glob("*.tlog")):
    log = read_log(path)
    level = log.series("level")
    lengths = []
    for gap in level.gaps(longer_than=timedelta(minutes=30)):
        event = log.event_before(gap.end - timedelta(microseconds=1))
        known = event is not None and event.time >= gap.start - timedelta(minutes=60)
        lengths.append(gap.length // timedelta(minutes=1))
        outages.append(
            {
                "station": log.station,
                "start": f"{gap.start:%Y-%m-%dT%H:%MZ}",
                "end": f"{gap.end:%Y-%m-%dT%H:%MZ}",
                "minutes": lengths[-1],
                "cause": event.text if known else "unknown",
            }
        )
    stations.append([log.station, len(level), len(log.faults), len(lengths), sum(lengths)])
(OUTPUT / "outages.json").write_text(json.dumps(outages, indent=2), encoding="utf-8")
with (OUTPUT / "stations.csv").open("w", encoding="utf-8", newline="") as file:
    header = ["station", "samples", "faults", "outages", "lost_minutes"]
    csv.writer(file).writerows([header, *sorted(stations)])
