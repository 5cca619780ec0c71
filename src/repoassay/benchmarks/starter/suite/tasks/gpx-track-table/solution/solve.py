"""One row for each track."""

import csv
import os
from pathlib import Path

import gpxpy

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

with (INPUTS / "rides.gpx").open(encoding="utf-8") as file:
    gpx = gpxpy.parse(file)
rows = []
for track in gpx.tracks:
    points = [point for segment in track.segments for point in segment.points]
    if len(points) < 2:
        continue
    low, high = track.get_elevation_extremes()
    seconds = sum(segment.get_duration() or 0 for segment in track.segments)
    start = track.get_time_bounds().start_time
    rows.append(
        [
            track.name,
            f"{start:%Y-%m-%dT%H:%M:%SZ}",
            len(track.segments),
            len(points),
            f"{track.length_2d() / 1000:.2f}",
            round(seconds),
            f"{low:.1f}",
            f"{high:.1f}",
        ]
    )
header = ["track", "start", "segments", "points", "distance_km", "recorded_s", "lowest_m", "highest_m"]
with (OUTPUT / "tracks.csv").open("w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows([header, *rows])
