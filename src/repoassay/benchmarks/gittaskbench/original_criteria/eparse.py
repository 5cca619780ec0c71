"""What GitTaskBench's own scripts decide for Eparse_01 to Eparse_03."""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import FAILED, levenshtein_share, present, utf8
from repoassay.grading import Measurement, UnreadableOutput, metric

__all__ = ["gtb_eparse_01", "gtb_eparse_02", "gtb_eparse_03"]

_MOST_LINES = 5000
_MOST_TEXT = 100_000
Sheets = list[set[str]]


def _files(text: str) -> dict[str, list[str]]:
    """The lines below each file's name; of a name that stands twice, the last, and none where nothing is below it."""
    found: dict[str, list[str]] = {}
    name, lines = "", list[str]()
    for line in [*(line.strip() for line in text.strip().split("\n")), None]:
        new = None if line is None else _name(line)
        if line is None or new is not None:
            if name and lines:
                found[name] = lines
            name, lines = new or "", []
        elif name:
            lines.append(line)
    return found


def _name(line: str) -> str | None:
    if line.startswith(("文件名:", "File name:")) or "文件名" in line:
        match = re.search(r"(?:文件名|^File name):?\s*(.+?)(?:\s|$)", line)
    else:
        match = re.match(r"([^:]*\.xlsx?)$", line)
    return match[1].strip() if match else None


def _sheets(lines: list[str]) -> Sheets:
    """Sets of distinct values; what stands above the first line with "Sheet" is of the first sheet."""
    found, inside = Sheets(), False
    current: set[str] | None = None
    for line in filter(None, lines[:_MOST_LINES]):
        if "Sheet" in line:
            if inside and current is not None:
                found.append(current)
                current = None
            inside = True
        else:
            current = (current or set()) | _cells(line)
    if current is not None:
        found.append(current)
    return found or [{value for line in lines if line for value in _cells(line)}]


def _cells(line: str) -> set[str]:
    line = re.sub(r"^\d+\s+", "", line)
    parts = re.split(r"\s{2,}|\t", line)
    return {_normal(part) for part in (parts if len(parts) > 1 else re.split(r"\s+", line))} - {""}


def _normal(text: str) -> str:
    """A date alone, with two digits a part, whatever follows it; a number without what ends it needlessly."""
    text = text.strip()
    if date := re.match(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})", text):
        return f"{date[1]}-{date[2].zfill(2)}-{date[3].zfill(2)}"
    if re.match(r"[-+]?\d+(?:\.\d+)?$", text):
        value = float(text)
        return str(int(value)) if value.is_integer() else str(value).rstrip("0").rstrip(".")
    return text


def _jaccard(one: set[str], other: set[str]) -> float:
    return 100 * len(one & other) / len(one | other) if one | other else 0.0


def _likeness(ours: list[str], theirs: list[str]) -> float:
    """Mean likeness of sheets paired by order, less 5 for each that is missing or too many."""
    mine, other = _sheets(ours), _sheets(theirs)
    pairs = [_jaccard(one, two) for one, two in zip(mine, other, strict=False)]
    return max(0.0, sum(pairs) / len(pairs) - 5 * abs(len(mine) - len(other)))


@metric(
    "gtb_eparse_01",
    unit="points",
    span="[0, 100]",
    better="higher",
    needs_reference=True,
    source="GitTaskBench, test script of Eparse_01",
)
def gtb_eparse_01(of: Path, against: Path) -> Measurement:
    """0.3 times the recall of file names and 0.7 times the mean likeness of the files' sets of distinct values.

    Files of other names stand for missing ones where they are alike by more than 60; each that is missing all the same
    takes its share off again. Where nothing pairs, three quarters of the words in common do as well.
    """
    text, wanted = (utf8(present(path, filled=False)) for path in (of, against))
    ours, theirs = _files(text), _files(wanted)
    if not ours:
        return Measurement(FAILED, "no file is named")
    common, missing, extra = (
        ours.keys() & theirs.keys(),
        sorted(theirs.keys() - ours.keys()),
        ours.keys() - theirs.keys(),
    )
    scores = [_likeness(ours[name], theirs[name]) for name in common]
    for name in list(missing):
        best = max(((_likeness(ours[other], theirs[name]), other) for other in sorted(extra)), default=(0.0, ""))
        if best[0] > 60:
            scores.append(best[0])
            missing.remove(name)
            extra = extra - {best[1]}
    content = max(0.0, sum(scores) / len(theirs) - 100 * len(missing) / len(theirs))
    total = 30 * len(common) / len(theirs) + 0.7 * content
    if not scores:
        words = _jaccard(*(set(re.findall(r"\b\w+\b", each.lower())) for each in (text, wanted)))
        total = words if words >= 75 else total
    return Measurement(total, f"content {content:.1f}")


_KEYS = ("value", "row", "column", "excel_rc", "c_header", "r_header", "sheet", "f_name")
_OPENINGS = ("{'c_header':", '{"c_header":', "'c_header':")


def _records(text: str) -> list[Any]:
    """Records as the script finds them: dictionaries of the reference's own shape, a list, one a line, or anywhere."""
    text = text.strip()
    if any(opening in text for opening in _OPENINGS):
        flat = text.replace("\n", " ").strip()
        flat = flat[1:-1] if flat.startswith("[") and flat.endswith("]") else flat
        if found := _all(re.findall(r"\{[^{}]*\}", flat), _python):
            return found
    if text.startswith("[") and text.endswith("]"):
        found = list[Any]()
        for read in (json.loads, ast.literal_eval):
            # A record that is none ends the reading; what was read before it stays, and is read again.
            try:
                for item in read(text):
                    found.append(_record(item))
            except _NO_RECORD:
                continue
            return found
    return _all(text.split("\n"), _json, _python) or _all(re.findall(r"\{[^{}]*\}", text), _python)


_NO_RECORD = (ValueError, SyntaxError, RecursionError, MemoryError, TypeError, AttributeError)


def _all(texts: list[str], *readers: Callable[[str], Any]) -> list[Any]:
    """What the first reader makes of each text that one of them can read."""
    found = []
    for text in (text.strip() for text in texts[:_MOST_LINES]):
        for read in readers if text else ():
            try:
                found.append(read(text))
            except _NO_RECORD:
                continue
            break
    return found


def _json(text: str) -> Any:
    return _record(json.loads(text))


def _python(text: str) -> Any:
    return _record(ast.literal_eval(text))


def _record(item: Any) -> Any:
    """A record with its names in small letters; a text that holds none stays a text; raises for anything else."""
    if isinstance(item, str):
        try:
            item = json.loads(item)
        except (ValueError, RecursionError):
            try:
                item = ast.literal_eval(item)
            except _NO_RECORD:
                return item
    return {str(key).strip().lower(): _folded(str(key), value) for key, value in item.items()}


def _folded(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return value.strip() if key.strip().lower() == "type" else value.strip().lower()


def _same(mine: Any, other: Any) -> bool:
    if isinstance(mine, int | float) and isinstance(other, int | float):
        return mine == other or str(mine).lower() == str(other).lower()
    return str(mine).lower() == str(other).lower()


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
    try:
        ours = _records(utf8(present(of, filled=False)))
    except UnreadableOutput as error:
        raise UnreadableOutput(f"the script finds no record in it: {error}") from error
    theirs = _records(utf8(present(against, filled=False)))
    if not ours:
        raise UnreadableOutput("the script finds no record in it")
    alike = compared = 0
    for mine, other in zip(ours, theirs, strict=False):
        if not isinstance(mine, dict):
            raise UnreadableOutput("the script crashes: a record is a text")
        for key in _KEYS:
            if key in mine and key in other:
                compared += 1
                exact = key in ("row", "column")
                alike += _same(mine[key], other[key]) if exact else str(mine[key]).lower() == str(other[key]).lower()
    if not compared:
        return Measurement(FAILED, "no key in common")
    missing = max(0, len(theirs) - len(ours)) / len(theirs)
    return Measurement(max(0.0, alike / compared - min(0.2, 0.5 * missing)), f"{alike} of {compared} values")


Cells = dict[tuple[Any, Any], dict[str, str]]
_WEIGHTS = {"value": 0.6, "excel_RC": 0.1, "c_header": 0.1, "r_header": 0.1, "type": 0.1}


def _said(value: Any) -> str:
    return "null" if value is None else str(value) if isinstance(value, int | float) else str(value).strip()


def _cells_of(data: Any) -> Cells:
    """Cells by place; raises what the script's reading raises where a part has not the shape it expects."""
    if isinstance(data, dict) and "sheets" in data:
        found = [
            ((row.get("row_index", 0), cell.get("column_index")), cell)
            for sheet in data["sheets"].values()
            for row in sheet.get("rows", [])
            for cell in row.get("cells", [])
        ]
    elif isinstance(data, list):
        found = [((cell.get("row"), cell.get("column")), cell) for table in data for cell in table.get("data", [])]
    else:
        found = []
        # Here the script keeps what it had found before a part of another shape.
        with contextlib.suppress(*_ODD):
            found.extend(_walk(data))
    return {place: {name: _said(cell.get(name)) for name in _WEIGHTS} for place, cell in found}


_ODD = (AttributeError, TypeError, ValueError, OverflowError, KeyError)


def _walk(item: Any) -> Iterator[tuple[tuple[Any, Any], dict[str, Any]]]:
    """The records that have a place and a value, with what the script makes up where a part of them is missing."""
    if isinstance(item, dict):
        if {"row", "column", "value"} <= item.keys() or {"row_index", "column_index", "value"} <= item.keys():
            row: Any = item.get("row", item.get("row_index"))
            column: Any = item.get("column", item.get("column_index"))
            headers = {
                "excel_RC": f"{chr(65 + column)}{row + 1}",
                "c_header": str(column + 1),
                "r_header": str(row + 1),
            }
            yield (row, column), {"type": "", **headers, **item}
        else:
            for inner in item.values():
                yield from _walk(inner)
    elif isinstance(item, list):
        for inner in item:
            yield from _walk(inner)


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

    What is no JSON is compared as text by its edit distance; JSON of another shape ends the script's comparison.
    """
    data, wanted = present(of), utf8(present(against))
    try:
        text = utf8(data)
    except UnreadableOutput as error:
        return Measurement(FAILED, str(error))
    try:
        ours = _cells_of(json.loads(text))
    except json.JSONDecodeError:
        return Measurement(1 - levenshtein_share(text[:_MOST_TEXT], wanted), "no JSON; compared as text")
    except (*_ODD, RecursionError) as error:
        return Measurement(0.0, f"the script stops: {type(error).__name__}")
    theirs = _cells_of(json.loads(wanted))
    if not ours:
        return Measurement(0.0, "no cells")
    total = 0.0
    for place in ours.keys() & theirs.keys():
        for name, weight in _WEIGHTS.items():
            total += weight if ours[place][name] == theirs[place][name] else 0.0
    return Measurement(total / len(ours.keys() | theirs.keys()), f"{len(ours)} cells, {len(theirs)} expected")
