"""Tidy subtitles: order, overlaps, a shift, numbers; and a table of the cues."""

import csv
import datetime
import os
import re
from itertools import pairwise
from pathlib import Path

import srt

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"
COLUMNS = ["number", "start", "end", "characters"]

cues = [cue for cue in srt.parse((INPUTS / "walk.srt").read_text("utf-8")) if cue.content.strip()]
cues.sort(key=lambda cue: cue.start)
for cue, following in pairwise(cues):
    cue.end = min(cue.end, following.start)
rows = []
for number, cue in enumerate(cues, 1):
    if cue.start >= datetime.timedelta(minutes=1):
        cue.start += datetime.timedelta(seconds=4)
        cue.end += datetime.timedelta(seconds=4)
    cue.index = number
    plain = re.sub(r"<[^>]+>", "", cue.content)
    times = [time.total_seconds() for time in (cue.start, cue.end)]
    start, end = (f"{seconds:.3f}" for seconds in times)
    rows.append({"number": cue.index, "start": start, "end": end, "characters": len(plain)})
(OUTPUT / "walk.srt").write_text(srt.compose(cues, reindex=False), "utf-8")
with (OUTPUT / "cues.csv").open("w", encoding="utf-8", newline="") as file:
    writer = csv.DictWriter(file, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
