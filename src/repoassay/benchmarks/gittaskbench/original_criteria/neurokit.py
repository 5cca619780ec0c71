"""What GitTaskBench's scripts for NeuroKit decide."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

from repoassay.grading import Measurement, UnreadableOutput, content, metric

__all__ = ["gtb_neurokit_breath", "gtb_neurokit_lists"]

_SOURCE = "GitTaskBench, arXiv 2508.18993, scripts NeuroKit_01 to NeuroKit_03"
_RELATIVE, _ABSOLUTE = 0.1, 10.0


Frame = dict[str, list[str]]


def _frame(path: Path) -> Frame:
    """A table's columns as pandas reads them: rows longer than the header begin with an index, blank lines are none."""
    try:
        text = content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableOutput(f"it is not UTF-8 at byte {error.start}") from error
    csv.field_size_limit(2**24)
    mark = "\t" if path.suffix == ".tsv" else ","
    if _open_quote(text, mark):
        raise UnreadableOutput("it is not a table: it ends inside quotes")
    try:
        found = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        rows = [[cell.partition("\0")[0] for cell in row] for row in found if len(row) > 1 or "".join(row).strip(" \t")]
    except csv.Error as error:
        raise UnreadableOutput(f"it is not a table: {error}") from error
    if len(rows) < 2:
        raise UnreadableOutput("it has no row of data")
    header, width = rows[0], max(len(rows[0]), len(rows[1]))
    if any(len(row) > width for row in rows):
        raise UnreadableOutput("a row has more fields than the first")
    cells = [(row + [""] * width)[width - len(header) :] for row in rows[1:]]
    return {name: [row[place] for row in cells] for place, name in reversed(list(enumerate(header)))}


def _open_quote(text: str, mark: str) -> bool:
    """Whether a table ends inside a quoted cell, which pandas does not read and Python's `csv` does."""
    ends = (mark, "\n", "\r")
    state = "start"
    for sign in text:
        if state == "quoted":
            state = "closed" if sign == '"' else "quoted"
        elif sign == '"' and state in ("start", "closed"):
            state = "quoted"
        else:
            state = "start" if sign in ends else "field"
    return state == "quoted"


def _list(cell: str) -> list[Any]:
    """A cell as a list, of numbers and texts where it is no JSON; raises ValueError when it is none."""
    try:
        found = json.loads(cell.replace("'", '"'))
    except (ValueError, RecursionError):
        bare = cell.strip()
        bare = bare[1:-1] if bare.startswith("[") and bare.endswith("]") else bare
        found = [_number(part.strip()) for part in bare.split(",")] if bare else []
    if not isinstance(found, list):
        raise ValueError(cell)  # noqa: TRY004 - the caller asks whether it is a list, not why
    return found


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


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
    ours = {name.lower(): cells for name, cells in _frame(of).items()}
    theirs = _frame(against)
    good = []
    for name, cells in theirs.items():
        try:
            found, wanted = _list(ours[name.lower()][0]), _list(cells[0])
            close = [_close(one, two) for one, two in zip(found, wanted, strict=True)]
        except (KeyError, ValueError, OverflowError):
            continue
        good += [name] if all(close) else []
    return Measurement(len(good) / len(theirs), f"matched: {', '.join(good) or 'no column'}")


def _close(found: Any, wanted: Any) -> bool:
    if isinstance(found, int | float) and isinstance(wanted, int | float):
        return bool(found == wanted) or abs(wanted - found) <= _ABSOLUTE + _RELATIVE * abs(found) < math.inf
    return bool(found == wanted)


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
        nearest = [min(abs(peak - other) for other in wanted[1]) for peak in peaks]
    except (UnreadableOutput, KeyError, ValueError, TypeError, RecursionError, OverflowError) as error:
        return Measurement(float("nan"), f"the script stops: {type(error).__name__}: {error}"[:200])
    if not nearest:
        return Measurement(0.0, "no peaks")
    near = sum(distance <= 0.1 for distance in nearest) / len(nearest)
    mean = sum(nearest) / len(nearest)
    good = abs(rate - wanted[0]) <= 1 and mean <= 0.1 and near >= 0.8 and abs(count - wanted[2]) / wanted[2] <= 0.1
    return Measurement(
        float(good), f"rate {rate:g}, {near:.0%} of peaks near, {mean:.3f} s on average, {count:g} peaks"
    )


_ABSENT = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA")
) | {"NULL", "NaN", "None", "n/a", "nan", "null"}


def _first(cells: list[str]) -> float:
    """The first number of a column; raises ValueError unless every cell is one or absent, as pandas takes columns."""
    numbers = [math.nan if cell.strip() in _ABSENT else float(cell.replace("_", "?")) for cell in cells]
    return numbers[0]


def _breath(columns: Frame) -> tuple[float, list[Any], float]:
    peaks = json.loads(columns["Peak_Times_Seconds"][0])
    return _first(columns["Mean_Respiratory_Rate_BPM"]), list(peaks), _first(columns["Number_of_Peaks"])
