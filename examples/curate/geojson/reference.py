"""Stations as a map layer."""

import csv
import os
from pathlib import Path

import geojson

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

features, places = [], []
with (INPUTS / "stations.csv").open(encoding="utf-8", newline="") as file:
    for number, row in enumerate(csv.DictReader(file), 1):
        point = None
        if row["longitude"] and row["latitude"]:
            point = geojson.Point((float(row["longitude"]), float(row["latitude"])), precision=5)
            if not -90 <= point.coordinates[1] <= 90:
                point = None
        about = {
            "name": row["name"],
            "sill": float(row["sill"]) if row["sill"] else None,
            "tags": row["tags"].split(";"),
        }
        features.append(geojson.Feature(id=number, geometry=point, properties=about))
        if point:
            places.append(point.coordinates)
sides = list(zip(*places, strict=True))
box = [min(sides[0]), min(sides[1]), max(sides[0]), max(sides[1])]
layer = geojson.FeatureCollection(features, bbox=box)
(OUTPUT / "stations.geojson.json").write_text(geojson.dumps(layer, indent=1), "utf-8")
