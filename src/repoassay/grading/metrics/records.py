"""Metrics of JSON against a reference: lists of records in any order, and documents leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.grading.metrics.opening import read_json, reference
from repoassay.grading.metrics.tables import Row, matched_cells
from repoassay.grading.metrics.text import normal
from repoassay.grading.protocol import Measurement, UnreadableOutput
from repoassay.grading.registry import metric

__all__ = ["json_leaves_match", "json_records_f1"]

_MAX_LEAVES = 200_000


def leaves(data: Any) -> Iterator[tuple[str, str]]:
    """Every leaf as (path, value in a form that keeps kinds apart); empty containers are leaves."""
    queue: list[tuple[str, Any]] = [("", data)]
    while queue:
        place, item = queue.pop()
        if isinstance(item, dict) and item:
            queue += [(f"{place}.{key}", inner) for key, inner in item.items()]
        elif isinstance(item, list) and item:
            queue += [(f"{place}[{index}]", inner) for index, inner in enumerate(item)]
        else:
            yield place, _leaf(item)


def _leaf(item: Any) -> str:
    if isinstance(item, bool) or item is None or isinstance(item, dict | list):
        return f"<{item}>"
    if isinstance(item, int | float):
        return repr(float(item)) if abs(item) < 1e300 else f"<{item}>"
    return f'"{normal(str(item))}'  # a quotation mark keeps "1" and 1 apart


def _record(item: Any) -> Row:
    return dict(leaves(item))


def _records(path: Path) -> list[Row]:
    data = read_json(path)
    if not isinstance(data, list):
        raise UnreadableOutput("it is not a list of records")
    rows = [_record(item) for item in data]
    if sum(map(len, rows)) > _MAX_LEAVES:
        raise UnreadableOutput(f"it has more than {_MAX_LEAVES} values")
    return rows


@metric(
    "json_records_f1",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="F1 over leaves under a one-to-one matching of records",
)
def json_records_f1(of: Path, against: Path, *, tolerance: float = 0.0) -> Measurement:
    """F1 of leaves of a list of records, matched one to one in any order; numbers may differ by `tolerance`."""
    ours, theirs = _records(of), reference(_records, against)
    have, want = sum(map(len, ours)), sum(map(len, theirs))
    shared = matched_cells(ours, theirs, tolerance)
    value = 2 * shared / (have + want) if have + want else 1.0
    return Measurement(
        value, f"{shared} values alike of {have} in {len(ours)} records, {want} in {len(theirs)} expected"
    )


@metric(
    "json_leaves_match",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share over the union of leaf paths",
)
def json_leaves_match(of: Path, against: Path, *, tolerance: float = 0.0) -> Measurement:
    """Share of the union of both documents' leaf paths whose values are alike; order within lists counts."""
    ours, theirs = _record(read_json(of)), _record(reference(read_json, against))
    union = ours.keys() | theirs.keys()
    both = [{path: ours[path]} for path in ours.keys() & theirs.keys()]
    alike = sum(matched_cells([row], [{path: theirs[path]}], tolerance) for row in both for path in row)
    return Measurement(alike / len(union) if union else 1.0, f"{alike} of {len(union)} leaves")
