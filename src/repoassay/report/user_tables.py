"""Figures a user gives in a file: scores of models on other benchmarks, sizes of repositories. CSV or TOML."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from repoassay.errors import BadInput

__all__ = ["read_scores", "read_sizes"]

_MOST_BYTES = 8 * 2**20
_MOST_ROWS = 100_000
_MOST_NAME = 200


def read_scores(path: Path) -> dict[str, dict[str, float]]:
    """Benchmark -> model -> score, out of columns (or keys of `[[score]]`) model, benchmark, score.

    Raises:
        BadInput: When the file cannot be read, a column is missing, a score is no number, or a pair is there twice.
    """
    return _read(path, "score", ("benchmark", "model", "score"))


def read_sizes(path: Path) -> dict[str, dict[str, float]]:
    """Measure -> repository -> value, out of columns (or keys of `[[size]]`) repository, measure, value.

    Raises:
        BadInput: As of `read_scores`.
    """
    return _read(path, "size", ("measure", "repository", "value"))


def _read(path: Path, key: str, names: tuple[str, str, str]) -> dict[str, dict[str, float]]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BadInput(f"{path} is larger than {_MOST_BYTES // 2**20} MiB.", "Give a file of figures alone.")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadInput(f"{path} cannot be read: {reason}.") from error
    rows = _toml(path, text, key) if path.suffix.lower() == ".toml" else _csv(path, text, names)
    found: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows, start=1):
        if number > _MOST_ROWS:
            raise BadInput(f"{path} has more than {_MOST_ROWS} rows.", "Split it.")
        group, name = (_name(path, number, row, one) for one in names[:2])
        if name in found.setdefault(group, {}):
            raise BadInput(f"{path}: row {number} gives {names[1]} {name} for {group} a second time.", "Keep one.")
        found[group][name] = _figure(path, number, row, names[2])
    return found


def _csv(path: Path, text: str, names: Sequence[str]) -> list[Mapping[str, object]]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        missing = [name for name in names if name not in (reader.fieldnames or ())]
        if missing:
            raise BadInput(
                f"{path} has no column {missing[0]}.", f"Its first line must name {', '.join(sorted(names))}."
            )
        return [dict(row) for row in reader]
    except csv.Error as error:
        raise BadInput(f"{path} cannot be read as CSV: {error}.") from error


def _toml(path: Path, text: str, key: str) -> list[Mapping[str, object]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} cannot be read as TOML: {error}.") from error
    rows = content.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{path} has no [[{key}]] tables.", f"Write one [[{key}]] for each figure.")
    return rows


def _name(path: Path, number: int, row: Mapping[str, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip() or len(value) > _MOST_NAME:
        raise BadInput(f"{path}: row {number} has no usable {key}.", f"Write at most {_MOST_NAME} letters.")
    return value.strip()


def _figure(path: Path, number: int, row: Mapping[str, object], key: str) -> float:
    value = row.get(key)
    try:
        figure = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        figure = None
    if figure is None or not isfinite(figure):
        raise BadInput(f"{path}: row {number} has no usable {key}.", "Write a number.")
    return figure
