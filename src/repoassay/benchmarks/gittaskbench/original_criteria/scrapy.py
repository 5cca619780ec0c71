"""What GitTaskBench's own scripts decide for Scrapy_01 to Scrapy_03."""

from __future__ import annotations

import csv
import difflib
import io
import json
import re
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.metrics.listings import read_listing
from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import FAILED, present, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric, reference

__all__ = ["gtb_scrapy_01", "gtb_scrapy_02", "gtb_scrapy_03"]

_SOURCE = "GitTaskBench, test script of {}"
_LONGEST = 20_000


def _records(text: str) -> list[Any]:
    """A list, or an object a line; anything else is no records."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return []
    return data if isinstance(data, list) else [data]


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
    try:
        ours = _records(utf8(present(of)))
    except UnreadableOutput as error:
        if str(error).startswith("the script crashes"):
            return Measurement(FAILED, "it is not UTF-8")
        raise
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


def _folded(text: str) -> str:
    text = " ".join(text.lower().split())
    return re.sub(r'^"|"$', "", text)


@metric(
    "gtb_scrapy_03",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source=_SOURCE.format("Scrapy_03"),
    packages=("defusedxml",),
)
def gtb_scrapy_03(of: Path, against: Path) -> Measurement:
    """The lower share of authors and texts found, among as many of the first reference records as the output has."""
    data = present(of)
    try:
        ours = read_listing(of, "xml")
    except UnreadableOutput:
        ours = _scraped(data)
    ours = [(_folded(author), _folded(text)) for author, text in ours if author.strip() and text.strip()][:2000]
    theirs = [
        (_folded(author), _folded(text)) for author, text in reference(lambda path: read_listing(path, "xml"), against)
    ]
    count = min(len(ours), len(theirs))
    if not count:
        return Measurement(FAILED, "no records")
    right = [0, 0]
    for wanted in theirs[:count]:
        agrees = [[want == got or want in got for want, got in zip(wanted, mine, strict=True)] for mine in ours]
        best = max(range(len(ours)), key=lambda place: sum(agrees[place]), default=None)
        if best is None:
            break
        right = [had + new for had, new in zip(right, agrees[best], strict=True)]
        del ours[best]
    return Measurement(min(right) / count, f"{count} of {len(theirs)} reference records were looked for")


def _scraped(data: bytes) -> list[tuple[str, str]]:
    """Records of what is no XML, by regular expression."""
    text = data.decode(errors="replace")[:500_000]
    texts = re.findall(r"<text>([^<]*)</text>", text)
    authors = re.findall(r"<author>([^<]*)</author>", text)
    return list(zip(authors, texts, strict=False))
