"""The quickest way of each trip."""

import csv
import json
import os
from pathlib import Path

import networkx as nx

WORK = Path(os.environ.get("REPOASSAY_WORKSPACE", "/workspace"))
INPUTS, OUTPUT = WORK / "inputs", WORK / "output"

def rows(name):
    with (INPUTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


shut = {frozenset((row["from"], row["to"])) for row in rows("closures.csv")}
roads = nx.DiGraph()
for row in rows("roads.csv"):
    ends = row["from"], row["to"]
    roads.add_nodes_from(ends)
    if frozenset(ends) in shut:
        continue
    length = {"minutes": int(row["minutes"]), "km": float(row["km"])}
    roads.add_edge(*ends, **length)
    if row["one_way"] == "no":
        roads.add_edge(*reversed(ends), **length)

routes = []
for trip in rows("trips.csv"):
    try:
        way = nx.dijkstra_path(roads, trip["from"], trip["to"], weight="minutes")
        minutes = nx.path_weight(roads, way, "minutes")
        km = round(nx.path_weight(roads, way, "km"), 1)
        via = " > ".join(way)
    except nx.NetworkXNoPath:
        minutes = km = via = None
    routes.append({"trip": trip["trip"], "minutes": minutes, "km": km, "via": via})
(OUTPUT / "routes.json").write_text(json.dumps(routes, indent=2), encoding="utf-8")
