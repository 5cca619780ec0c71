"""What GitTaskBench's scripts for NeuroKit decide."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
from pathlib import Path

from repoassay.grading import Measurement, UnreadableOutput, content, metric

__all__ = ["gtb_neurokit_breath", "gtb_neurokit_lists"]

_SOURCE = "GitTaskBench, arXiv 2508.18993, scripts NeuroKit_01 to NeuroKit_03"
_RELATIVE, _ABSOLUTE = 0.1, 10.0


def _frame(path: Path) -> dict[str, str]:
    """The first row of a table by column, as pandas reads it: rows longer than the header begin with an index."""
    try:
        text = content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableOutput(f"it is not UTF-8 at byte {error.start}") from error
    csv.field_size_limit(2**24)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ",")
        rows = [row for row in lines if row and row != [""]]
    except csv.Error as error:
        raise UnreadableOutput(f"it is not a table: {error}") from error
    if len(rows) < 2:
        raise UnreadableOutput("it has no row of data")
    header, width = rows[0], max(len(rows[0]), len(rows[1]))
    if any(len(row) > width for row in rows):
        raise UnreadableOutput("a row has more fields than the first")
    cells = dict(zip(header, rows[1][width - len(header) :] + [""] * width, strict=False))
    return {name: cells[name] for name in header}


def _list(cell: str) -> list[float]:
    """A cell as a list of numbers; raises ValueError when it is none."""
    try:
        found = ast.literal_eval(cell.strip())
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(cell) from error
    if not isinstance(found, list | tuple):
        raise ValueError(cell)  # noqa: TRY004 - the caller asks whether it is a list, not why
    if not all(isinstance(item, int | float) for item in found):
        raise ValueError(cell)
    return [float(item) for item in found]


@metric(
    "gtb_neurokit_lists",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
)
def gtb_neurokit_lists(of: Path, against: Path) -> Measurement:
    """Share of the reference's columns whose first cell is a list as long, each number within 10 and a tenth."""
    ours = {name.strip().lower(): cell for name, cell in _frame(of).items()}
    theirs = _frame(against)
    good = []
    for name, cell in theirs.items():
        try:
            found, wanted = _list(ours[name.strip().lower()]), _list(cell)
        except (KeyError, ValueError, OverflowError):
            continue
        close = [abs(b - a) <= _ABSOLUTE + _RELATIVE * abs(a) for a, b in zip(found, wanted, strict=False)]
        good += [name] if len(found) == len(wanted) and all(close) else []
    return Measurement(len(good) / len(theirs), f"matched: {', '.join(good) or 'no column'}")


@metric(
    "gtb_neurokit_breath",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    source=_SOURCE,
    needs_reference=True,
)
def gtb_neurokit_breath(of: Path, against: Path) -> Measurement:
    """1 when rate, share and mean distance of peaks, and their number are within the script's limits.

    Missed peaks are not looked for. Whatever cannot be parsed, the whole file included, is a readable output that
    fails; a rate or number in brackets is among it.
    """
    content(of)
    wanted = _breath(_frame(against))
    try:
        rate, peaks, count = _breath(_frame(of))
    except (UnreadableOutput, KeyError, ValueError, TypeError, RecursionError, OverflowError) as error:
        return Measurement(float("nan"), f"the script stops: {type(error).__name__}: {error}")
    nearest = [min(abs(peak - other) for other in wanted[1]) for peak in peaks]
    if not nearest:
        return Measurement(0.0, "no peaks")
    near = sum(distance <= 0.1 for distance in nearest) / len(nearest)
    mean = sum(nearest) / len(nearest)
    good = abs(rate - wanted[0]) <= 1 and mean <= 0.1 and near >= 0.8 and abs(count - wanted[2]) / wanted[2] <= 0.1
    return Measurement(
        float(good), f"rate {rate:g}, {near:.0%} of peaks near, {mean:.3f} s on average, {count:g} peaks"
    )


def _breath(row: dict[str, str]) -> tuple[float, list[float], float]:
    peaks = json.loads(row["Peak_Times_Seconds"])
    if not isinstance(peaks, list):
        raise TypeError("the peaks are no list")
    numbers = float(row["Mean_Respiratory_Rate_BPM"]), float(row["Number_of_Peaks"])
    if not all(map(math.isfinite, numbers)):
        raise ValueError("a number is missing")
    return numbers[0], [float(peak) for peak in peaks if math.isfinite(peak)], numbers[1]
