"""What GitTaskBench's own scripts decide for Scrapy_01 and Scrapy_02."""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import json
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import FAILED, present, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric

__all__ = ["gtb_scrapy_01", "gtb_scrapy_02"]

_SOURCE = "GitTaskBench, test script of {}"
_LONGEST = 20_000


def _records(text: str) -> list[Any]:
    """A list, or records or lists of them a line; raises ValueError or RecursionError for anything else."""
    with contextlib.suppress(json.JSONDecodeError):
        data = json.loads(text.strip() or "[]")
        if isinstance(data, list):
            return data
    found = list[Any]()
    for line in filter(str.strip, text.split("\n")):
        item = json.loads(line.strip())
        found += item if isinstance(item, list) else [item]
    return found


@metric(
    "gtb_scrapy_01",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source=_SOURCE.format("Scrapy_01"),
)
def gtb_scrapy_01(of: Path, against: Path) -> Measurement:
    """Mean difflib ratio of author and text over records paired by order, up to the shorter list."""
    data = present(of)
    try:
        ours = _records(utf8(data))
    except (UnreadableOutput, ValueError, RecursionError) as error:
        return Measurement(FAILED, f"the script stops: {error}"[:200])
    theirs = _records(utf8(present(against)))
    ratios = []
    for mine, other in zip(ours, theirs, strict=False):
        if not isinstance(mine, dict):
            return Measurement(FAILED, "a record is no object")
        for field in ("author", "text"):
            value = str(mine.get(field, "")).strip()[:_LONGEST]
            ratios.append(difflib.SequenceMatcher(None, value, str(other[field]).strip()).ratio())
    if not ratios:
        return Measurement(FAILED, "no records")
    return Measurement(sum(ratios) / len(ratios), f"{len(ratios) // 2} records compared by order")


@metric(
    "gtb_scrapy_02",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source=_SOURCE.format("Scrapy_02"),
)
def gtb_scrapy_02(of: Path, against: Path) -> Measurement:
    """The lowest share of equal cells of a column over rows paired by order, up to the shorter table."""
    ours, theirs = (_table(utf8(present(path))) for path in (of, against))
    if not ours:
        raise UnreadableOutput("the script crashes: the table has no rows")
    columns = list(ours[0])
    if not set(columns) <= set(theirs[0]):
        raise UnreadableOutput("the script crashes: it has a column that the reference lacks")
    pairs = list(zip(ours, theirs, strict=False))
    shares = [sum(mine.get(name) == other[name] for mine, other in pairs) / len(pairs) for name in columns]
    return Measurement(min(shares), f"{len(pairs)} rows compared by order in {', '.join(columns)}")


def _table(text: str) -> list[dict[str, str]]:
    try:
        rows = [dict(row) for row in csv.DictReader(io.StringIO(text, newline=""))]
    except csv.Error as error:
        raise UnreadableOutput(f"the script crashes: {error}") from error
    return rows
