"""Metrics that count what differs from a reference, where a share would drown a single wrong value."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from repoassay.grading.metrics.opening import read_json, read_table, read_text, reference
from repoassay.grading.metrics.records import leaves
from repoassay.grading.metrics.tables import Row, matched_cells
from repoassay.grading.metrics.text import normal
from repoassay.grading.protocol import Measurement
from repoassay.grading.registry import metric

__all__ = ["json_leaves_wrong", "table_cells_wrong", "text_lines_wrong"]


@metric(
    "table_cells_wrong",
    unit="cells",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="cells without a partner under a one-to-one matching of rows, the larger side's",
)
def table_cells_wrong(
    of: Path, against: Path, *, tolerance: float = 0.0, ordered: bool = False, delimiter: str = ","
) -> Measurement:
    """Cells missing, extra or different; columns by name, rows in any order unless `ordered`."""
    ours = _rows(read_table(of, delimiter))
    theirs = _rows(reference(lambda path: read_table(path, delimiter), against))
    have, want = sum(map(len, ours)), sum(map(len, theirs))
    if ordered:
        shared = sum(matched_cells([one], [other], tolerance) for one, other in zip(ours, theirs, strict=False))
    else:
        shared = matched_cells(ours, theirs, tolerance)
    wrong = max(have, want) - shared
    return Measurement(float(wrong), f"{wrong} cells wrong of {want} in {len(theirs)} rows; {len(ours)} rows given")


def _rows(table: tuple[list[str], list[list[str]]]) -> list[Row]:
    header = [name.strip().casefold() for name in table[0]]
    return [dict(zip(header, (normal(cell) for cell in row), strict=True)) for row in table[1]]


@metric(
    "json_leaves_wrong",
    unit="values",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="leaf paths of both documents whose values differ",
)
def json_leaves_wrong(of: Path, against: Path, *, tolerance: float = 0.0) -> Measurement:
    """Leaves missing, extra or different by path; order within lists counts, order of keys does not."""
    ours, theirs = dict(leaves(read_json(of))), dict(leaves(reference(read_json, against)))
    wrong = [
        path for path in sorted(ours.keys() | theirs.keys())
        if not (path in ours and path in theirs and matched_cells([{"": ours[path]}], [{"": theirs[path]}], tolerance))
    ]  # fmt: skip
    return Measurement(float(len(wrong)), f"first at {wrong[0][:120]}" if wrong else "all alike")


@metric(
    "text_lines_wrong",
    unit="lines",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="lines without a partner, the larger side's",
)
def text_lines_wrong(of: Path, against: Path, *, ordered: bool = True, casefold: bool = False) -> Measurement:
    """Non-empty lines missing, extra or different, white space normalised; in order unless not `ordered`."""
    ours = [line for each in read_text(of).splitlines() if (line := normal(each, casefold))]
    theirs = [line for each in reference(read_text, against).splitlines() if (line := normal(each, casefold))]
    if ordered:
        shared = sum(one == other for one, other in zip(ours, theirs, strict=False))
    else:
        shared = (Counter(ours) & Counter(theirs)).total()
    wrong = max(len(ours), len(theirs)) - shared
    return Measurement(float(wrong), f"{wrong} lines wrong of {len(theirs)}; {len(ours)} lines given")
