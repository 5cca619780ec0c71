"""What a code-editing data set is made of: measures after table 1 of arXiv 2406.16801, each with its n."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.diffs import ChangeKind, FilePatch, Hunk, LineSearch, Patch, PatchError, read_patch, splice
from repoassay.errors import MissingExtra
from repoassay.formats.edit_row import EditRow
from repoassay.survey import survey_repository

__all__ = ["DEFINITIONS", "QUARTILES", "TOKENISER", "DatasetStats", "Spread", "TaskMeasures", "dataset_stats", "spread"]

TOKENISER = r"lexical: \w+|[^\w\s]"
"""Each run of word characters is a token, and each other character that is no white space."""
QUARTILES = "linear interpolation between closest ranks (Hyndman and Fan's type 7)"
DEFINITIONS = {
    "repository_files": "Files of the repository at the base commit whose name ends in .py.",
    "repository_code_lines": "Lines of these files that are neither blank nor only a comment.",
    "levenshtein": "Characters to insert, delete or replace in the modified files to get the solution's, summed.",
    "modified_lines": "Lines that the solution patch adds and lines that it removes, together.",
    "modified_files": "Files that the solution patch changes.",
    "instruction_tokens": "Tokens of the instruction.",
    "patch_tokens": "Tokens of the solution patch, its headers included.",
}
"""Measure -> its definition, in the order in which they are shown."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_MAX_WORK = 10**11
"""Cells of the edit matrix, 64 of which cost about a nanosecond; beyond it a distance is not computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMeasures:
    """Measures of one row; None where one could not be taken. `DEFINITIONS` says what each is."""

    repository_files: int | None
    repository_code_lines: int | None
    levenshtein: int | None
    modified_lines: int | None
    modified_files: int | None
    instruction_tokens: int
    patch_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How one measure is spread over the `n` rows it could be taken of; the figures are None when there are none."""

    n: int
    min: float | None
    q1: float | None
    median: float | None
    q3: float | None
    max: float | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class DatasetStats:
    """Measures of every row (id -> measures), their spread (measure -> spread), and what could not be measured, why."""

    tasks: Mapping[str, TaskMeasures]
    spreads: Mapping[str, Spread]
    problems: tuple[tuple[str, str], ...]


def dataset_stats(
    rows: Sequence[EditRow], repository: Callable[[EditRow], Path | str | None] = lambda _: None
) -> DatasetStats:
    """Measure a data set.

    Args:
        rows: Its rows.
        repository: Gives the folder with a row's repository at its base commit; None when it is not at hand, and text
            that says why when it cannot be had.

    Raises:
        MissingExtra: Without rapidfuzz.
    """
    problems: list[tuple[str, str]] = []
    surveys: dict[Path, tuple[int, int]] = {}
    tasks: dict[str, TaskMeasures] = {}
    for row in rows:
        folder = repository(row)
        if isinstance(folder, str):
            problems.append((row.name, f"its repository cannot be had: {folder}"))
            folder = None
        tasks[row.name] = _measure(row, folder, surveys, problems)
    spreads = {
        name: spread([value for task in tasks.values() if (value := getattr(task, name)) is not None])
        for name in DEFINITIONS
    }
    return DatasetStats(tasks, spreads, tuple(problems))


def spread(values: Sequence[float]) -> Spread:
    """Return the five-number summary and the mean; quartiles as `QUARTILES` says."""
    if not values:
        return Spread(n=0, min=None, q1=None, median=None, q3=None, max=None, mean=None)
    ranked = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ranked) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ranked) - 1)
        return ranked[low] + (ranked[high] - ranked[low]) * (place - low)

    mean = math.fsum(ranked) / len(ranked)
    return Spread(n=len(ranked), min=ranked[0], q1=at(0.25), median=at(0.5), q3=at(0.75), max=ranked[-1], mean=mean)


def count_tokens(text: str) -> int:
    """Return the number of tokens as `TOKENISER` cuts them."""
    return sum(1 for _ in _TOKEN.finditer(text))


def _measure(
    row: EditRow, folder: Path | None, surveys: dict[Path, tuple[int, int]], problems: list[tuple[str, str]]
) -> TaskMeasures:
    files = code_lines = lines = changed = distance = None
    if folder is not None:
        if folder not in surveys:
            found = survey_repository(folder).measures
            surveys[folder] = (found.files, found.code_lines)
        files, code_lines = surveys[folder]
    if row.solution.strip():
        data = row.solution.encode("utf-8", "surrogatepass")
        try:
            patch = read_patch(data)
        except PatchError as error:
            problems.append((row.name, f"its solution patch cannot be read: {error}"))
        else:
            lines, changed = _modified_lines(data, patch), len({file.path for file in patch.files})
            try:
                distance = _distance(row, patch)
            except PatchError as error:
                problems.append((row.name, f"no Levenshtein distance: {error}"))
    return TaskMeasures(
        repository_files=files,
        repository_code_lines=code_lines,
        levenshtein=distance,
        modified_lines=lines,
        modified_files=changed,
        instruction_tokens=count_tokens(row.asked),
        patch_tokens=count_tokens(row.solution) if row.solution.strip() else None,
    )


def _modified_lines(data: bytes, patch: Patch) -> int:
    """Count the lines of the hunks that begin with + or -."""
    text = data.split(b"\n")
    count = 0
    for hunk in (hunk for file in patch.files for hunk in file.hunks):
        old, new, at = hunk.old_count, hunk.new_count, hunk.line  # the line after the hunk's header, from 0
        while (old or new) and at < len(text):
            sign = text[at][:1]
            if sign != b"\\":
                old -= sign != b"+"
                new -= sign != b"-"
                count += sign in {b"+", b"-"}
            at += 1
    return count


def _distance(row: EditRow, patch: Patch) -> int:
    """Sum the edit distances of the files, as far as the row holds their texts.

    Raises:
        PatchError: When a file's text is not in the row or is not what the patch changes.
    """
    return sum(_file_distance(file, row.known_files) for file in patch.files)


def _file_distance(file: FilePatch, contents: Mapping[str, str]) -> int:
    if file.binary is not None:
        raise PatchError("it is binary", file.path)
    if file.kind is ChangeKind.COPY:
        raise PatchError("it is a copy, whose text before is another file's", file.path)
    if not file.hunks:  # renamed, or its mode changed
        return 0
    whole = file.kind in {ChangeKind.CREATE, ChangeKind.DELETE}
    text = next(
        (contents[path] for path in (file.old_path, file.new_path) if path is not None and path in contents), None
    )
    if whole or (text is None and file.may_create):
        return len(b"".join(hunk.new + hunk.old for hunk in file.hunks).decode("utf-8", "replace"))
    if text is None:
        raise PatchError("its text is not among modified_files", file.path)
    content = text.encode("utf-8", "surrogatepass")
    other = _other_side(content, file)
    return _levenshtein(text, other.decode("utf-8", "replace"), file.path)


def _other_side(content: bytes, file: FilePatch) -> bytes:
    """The file on the other side of the patch: published rows hold it before the change, some data after it."""
    try:
        return splice(content, file.hunks, file.path, LineSearch())[0]
    except PatchError as forward:
        back = tuple(_reversed(hunk) for hunk in file.hunks)
        try:
            return splice(content, back, file.path, LineSearch())[0]
        except PatchError:
            raise PatchError(f"its text in modified_files is not what the patch changes: {forward}") from None


def _reversed(hunk: Hunk) -> Hunk:
    return Hunk(
        old_start=hunk.new_start,
        old_count=hunk.new_count,
        new_start=hunk.old_start,
        new_count=hunk.old_count,
        old=hunk.new,
        new=hunk.old,
        leading=hunk.leading,
        trailing=hunk.trailing,
        line=hunk.line,
    )


def _levenshtein(before: str, after: str, path: str) -> int:
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError as error:
        raise MissingExtra("rapidfuzz", "metrics") from error
    start = _common(before, after)
    before, after = before[start:], after[start:]
    end = _common(before[::-1], after[::-1])
    before, after = before[: len(before) - end], after[: len(after) - end]
    if len(before) * len(after) > _MAX_WORK:
        raise PatchError(f"{len(before):,} by {len(after):,} changed characters are too many to compare", path)
    return Levenshtein.distance(before, after)


def _common(first: str, second: str) -> int:
    """Length of the common start, found by halving, so that it costs no loop over characters."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
