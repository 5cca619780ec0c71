"""What was found in a recorded signal: events in samples or seconds, and numbers, as lists in the cells of a table."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text
from repoassay.grading import Measurement, UnreadableOutput, metric, reference

__all__ = ["column_number_error", "column_values_error", "events_distance", "events_f1", "intervals_spread",
           "matched_events", "read_lists"]  # fmt: skip

_MOST = 100_000
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_WRAPPED = re.compile(r"\b(?:np|numpy)\.\w+\(|\barray\(|\blist\(|dtype=\w+|[()]")
_NONE = float("nan")


def read_lists(path: Path) -> dict[str, list[float] | None]:
    """Columns of a table of lists, by case-folded name: the numbers of all cells of a column, from top to bottom.

    A cell holds one number or many, in brackets or not; one number a row means the same as one list. Fields may be
    divided by commas, semicolons or tabs. A column with anything but numbers is None.

    Raises:
        UnreadableOutput: When the file is no table with a header.
    """
    text = decode_text(path)
    first = text.lstrip().partition("\n")[0]
    delimiter = "," if "," in first else next((sign for sign in "\t;" if sign in first), ",")
    csv.field_size_limit(2**24)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(map(str.strip, row))]
    except csv.Error as error:
        raise UnreadableOutput(f"it is not a table: {error}") from error
    if not rows:
        raise UnreadableOutput("it has no header")
    header = [name.strip().casefold() for name in rows[0]]
    if any(len(row) > len(header) and any(map(str.strip, row[len(header) :])) for row in rows[1:]):
        raise UnreadableOutput("a row has more fields than the header")
    columns = {}
    for place, name in enumerate(header):
        cells = [row[place] for row in rows[1:] if place < len(row) and row[place].strip()]
        columns[name] = _numbers(cells)
    return columns


def _numbers(cells: Sequence[str]) -> list[float] | None:
    found: list[float] = []
    for cell in cells:
        plain = _WRAPPED.sub(" ", cell).replace("[", " ").replace("]", " ")
        words = re.split(r"[\s,;]+", plain.strip())
        for word in words:
            if word and not _NUMBER.fullmatch(word):
                return None
            found += [float(word)] if word else []
        if len(found) > _MOST:
            return None
    return found if all(map(math.isfinite, found)) else None


def _both(of: Path, against: Path, column: str) -> tuple[list[float], list[float]] | Measurement:
    """The numbers of a column of both tables; a measurement without a value when the output lacks it."""
    ours = read_lists(of)
    name = column.casefold()
    if name not in ours:
        return Measurement(_NONE, f"it has no column {column}")
    found = ours[name]
    if found is None:
        return Measurement(_NONE, f"the column {column} holds more than numbers")
    return found, reference(read_lists, against)[name] or []


def matched_events(ours: Sequence[float], theirs: Sequence[float], tolerance: float) -> int:
    """The most pairs of events no further apart than `tolerance`, each event in one pair at most."""
    first, second = sorted(ours), sorted(theirs)
    pairs = here = there = 0
    while here < len(first) and there < len(second):
        gap = first[here] - second[there]
        # Both edges are rounded numbers: half a billionth keeps 0.1 s from being 0.10000000000000142 s.
        if abs(gap) <= tolerance + 1e-9:
            pairs, here, there = pairs + 1, here + 1, there + 1
        elif gap < 0:
            here += 1
        else:
            there += 1
    return pairs


@metric(
    "events_f1",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="one-to-one matching within a tolerance, as ANSI/AAMI EC57 scores heartbeats; F1 of recall and precision",
)
def events_f1(of: Path, against: Path, *, column: str, tolerance: float) -> Measurement:
    """F1 of the events of a column: 2 matched / (found + expected), `tolerance` in the unit of the column.

    An event counts once however often it is written, and surplus events cost as much as missing ones. No value when
    the column is missing or holds more than numbers.
    """
    both = _both(of, against, column)
    if isinstance(both, Measurement):
        return both
    ours, theirs = both
    pairs = matched_events(ours, theirs, tolerance)
    note = f"{pairs} of {len(theirs)} events matched, {len(ours)} found"
    return Measurement(2 * pairs / (len(ours) + len(theirs)) if ours or theirs else 1.0, note)


@metric(
    "events_distance",
    unit="of the column",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="mean distance to the nearest event, the larger of both directions",
)
def events_distance(of: Path, against: Path, *, column: str) -> Measurement:
    """Mean distance from an event to the nearest of the other side, in the unit of the column.

    It is taken from the output to the reference and back, and the larger counts. No value without events.
    """
    both = _both(of, against, column)
    if isinstance(both, Measurement):
        return both
    ours, theirs = both
    if not ours or not theirs or len(ours) * len(theirs) > 10**7:
        return Measurement(_NONE, f"{len(ours)} events found, {len(theirs)} expected")
    ways = [
        sum(min(abs(a - b) for b in there) for a in here) / len(here) for here, there in ((ours, theirs), both[::-1])
    ]
    return Measurement(max(ways))


@metric(
    "column_values_error",
    unit="ratio",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="largest relative difference of lists of equal length",
)
def column_values_error(of: Path, against: Path, *, column: str) -> Measurement:
    """Largest relative difference of the numbers of a column, in order; no value when there are not equally many."""
    both = _both(of, against, column)
    if isinstance(both, Measurement):
        return both
    ours, theirs = both
    if len(ours) != len(theirs):
        return Measurement(_NONE, f"{len(ours)} numbers instead of {len(theirs)}")
    pairs = zip(ours, theirs, strict=True)
    return Measurement(max((abs(a - b) / abs(b) if b else math.inf for a, b in pairs if a != b), default=0.0))


@metric(
    "column_number_error",
    unit="of the column",
    span="[0, inf)",
    better="lower",
    needs_reference=True,
    source="absolute or relative difference of one number",
)
def column_number_error(of: Path, against: Path, *, column: str, relative: bool = False) -> Measurement:
    """Difference between the one number of a column and the reference's; a number repeated in every row is one number.

    No value when the column is missing, empty, or holds different numbers.
    """
    both = _both(of, against, column)
    if isinstance(both, Measurement):
        return both
    ours, theirs = both
    if len(set(ours)) != 1:
        return Measurement(_NONE, f"{column} holds {len(set(ours))} numbers instead of one")
    error = abs(ours[0] - theirs[0])
    return Measurement(error / abs(theirs[0]) if relative else error, f"{ours[0]:g} instead of {theirs[0]:g}")


@metric(
    "intervals_spread",
    unit="of the column",
    span="[0, inf)",
    better="higher",
    source="longest interval between successive events minus the shortest",
)
def intervals_spread(of: Path, *, column: str) -> Measurement:
    """How much the intervals between successive events vary; 0 for a grid that no living signal was read for.

    No value when the column is missing, holds more than numbers, or fewer than three of them.
    """
    events = read_lists(of).get(column.casefold())
    if events is None or len(events) < 3:
        return Measurement(_NONE, f"it has no column {column} of three events or more")
    events = sorted(events)
    intervals = [later - earlier for earlier, later in itertools.pairwise(events)]
    return Measurement(max(intervals) - min(intervals), f"intervals of {min(intervals):g} to {max(intervals):g}")
