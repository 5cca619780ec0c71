"""What GitTaskBench's own scripts decide for Eparse_01 to Eparse_03."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import FAILED, levenshtein_share, present, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric

__all__ = ["gtb_eparse_01", "gtb_eparse_02", "gtb_eparse_03"]

_MOST_LINES = 5000
Sheets = list[set[str]]


def _files(text: str) -> dict[str, Sheets]:
    """Sheets, as sets of distinct cell values, by the file name above them."""
    found: dict[str, Sheets] = {}
    current: Sheets | None = None
    for line in text.splitlines()[:_MOST_LINES]:
        name = re.match(r"\s*(?:(?:文件名|file\s*name|file)\s*[:\uff1a]\s*)?(\S+\.xlsx?)\s*$", line, re.IGNORECASE)
        if name is not None:
            current = found.setdefault(name[1], [])
        elif current is not None and "Sheet" in line:
            current.append(set())
        elif current is not None and line.strip():
            if not current:
                current.append(set())
            current[-1] |= _cells(line)
    return found


def _cells(line: str) -> set[str]:
    line = re.sub(r"^\s*\d+\s+", "", line).strip()
    parts = re.split(r"\s{2,}|\t", line)
    if len(parts) < 2:
        parts = line.split(" ")
    return {_normal(part) for part in parts if part.strip()}


def _normal(text: str) -> str:
    text = re.sub(r"^(\d{4}-\d{2}-\d{2})[ T]\d{2}:\d{2}:\d{2}$", r"\1", text.strip())
    return re.sub(r"(?<=\d)\.0+$", "", text)


def _jaccard(one: set[str], other: set[str]) -> float:
    return 100 * len(one & other) / len(one | other) if one | other else 100.0


@metric(
    "gtb_eparse_01",
    unit="points",
    span="[0, 100]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of Eparse_01",
)
def gtb_eparse_01(of: Path, against: Path) -> Measurement:
    """0.3 times the recall of file names and 0.7 times the mean likeness of the files' sets of distinct values."""
    text, wanted = (utf8(present(path, filled=False)) for path in (of, against))
    ours, theirs = _files(text), _files(wanted)
    names = ours.keys() & theirs.keys()
    if not names:
        return Measurement(_jaccard(set(text.split()), set(wanted.split())), "no file is named; words alone compared")
    scores = []
    for name, sheets in theirs.items():
        mine = ours.get(name, [])
        pairs = [_jaccard(one, other) for one, other in zip(mine, sheets, strict=False)]
        mean = sum(pairs) / len(pairs) if pairs else 0.0
        scores.append(max(0.0, mean - 5 * abs(len(mine) - len(sheets))) if mine else 0.0)
    content = sum(scores) / len(scores)
    return Measurement(30 * len(names) / len(theirs) + 0.7 * content, f"content {content:.1f}")


_KEYS = ("value", "row", "column", "excel_RC", "c_header", "r_header", "sheet", "f_name")


def _records(text: str) -> list[dict[str, Any]]:
    try:
        data = json.loads(text)
        if isinstance(data, list):
            return [item for item in data if isinstance(item, dict)]
    except (ValueError, RecursionError):
        pass
    found = []
    for line in text.splitlines()[:_MOST_LINES]:
        for part in [line.strip()] if line.strip().startswith("{") else re.findall(r"\{[^{}]*\}", line):
            item = _literal(part)
            if isinstance(item, dict):
                found.append(item)
    return found


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        try:
            return ast.literal_eval(text[:10_000])
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return None


@metric(
    "gtb_eparse_02",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of Eparse_02",
)
def gtb_eparse_02(of: Path, against: Path) -> Measurement:
    """Share of equal values over the keys that both records of a pair have, paired by order, less at most 0.2."""
    ours, theirs = (_records(utf8(present(path, filled=False))) for path in (of, against))
    if not ours:
        raise UnreadableOutput("the script finds no record in it")
    alike = compared = 0
    for mine, other in zip(ours, theirs, strict=False):
        for key in _KEYS:
            if key in mine and key in other:
                compared += 1
                alike += str(mine[key]).strip().lower() == str(other[key]).strip().lower()
    if not compared:
        return Measurement(FAILED, "no key in common")
    missing = max(0, len(theirs) - len(ours)) / len(theirs)
    return Measurement(alike / compared - min(0.2, 0.5 * missing), f"{alike} of {compared} values")


Cell = dict[str, str]


def _walk(item: Any, row: Any = None) -> Iterator[dict[str, Any]]:
    waiting = [(item, row)]
    while waiting:
        item, row = waiting.pop()
        if isinstance(item, dict):
            mine = item.get("row", item.get("row_index", row))
            if "value" in item and mine is not None and ("column" in item or "column_index" in item):
                yield {**item, "row": mine, "column": item.get("column", item.get("column_index"))}
            else:
                waiting += [(inner, mine) for inner in item.values()]
        elif isinstance(item, list):
            waiting += [(inner, row) for inner in item]


def _cells_of(data: Any) -> dict[tuple[int, int], Cell]:
    if isinstance(data, list):
        data = [table["data"] for table in data if isinstance(table, dict) and isinstance(table.get("data"), list)]
    found = {}
    for item in _walk(data):
        try:
            place = int(item["row"]), int(item["column"])
        except (TypeError, ValueError, OverflowError):
            continue
        letter = chr(ord("A") + place[1]) if 0 <= place[1] < 26 else "?"
        made = {"excel_RC": f"{letter}{place[0] + 1}", "c_header": str(place[1] + 1), "r_header": str(place[0] + 1)}
        names = ("value", "excel_RC", "c_header", "r_header", "type")
        found[place] = {name: str(item.get(name, made.get(name, ""))).strip() for name in names}
    return found


@metric(
    "gtb_eparse_03",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of Eparse_03",
    packages=("rapidfuzz",),
)
def gtb_eparse_03(of: Path, against: Path) -> Measurement:
    """Mean score of cells over the union of places: 0.6 for the value, 0.1 each for coordinate, headers and type.

    What is no JSON is compared as text by its edit distance.
    """
    text, wanted = (present(path).decode(errors="replace") for path in (of, against))
    try:
        ours = _cells_of(json.loads(text))
    except (ValueError, RecursionError):
        return Measurement(1 - levenshtein_share(text[:100_000], wanted), "no JSON; compared as text")
    theirs = _cells_of(json.loads(wanted))
    weights = {"value": 0.6, "excel_RC": 0.1, "c_header": 0.1, "r_header": 0.1, "type": 0.1}
    total = sum(
        weight
        for place in ours.keys() & theirs.keys()
        for name, weight in weights.items()
        if ours[place][name] == theirs[place][name]
    )
    union = ours.keys() | theirs.keys()
    return Measurement(total / len(union) if union else 0.0, f"{len(ours)} cells, {len(theirs)} expected")
