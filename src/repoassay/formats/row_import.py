"""A data set as a suite on disk: every row that can be a task, and the reasons of the others."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from repoassay.errors import BadInput, Unavailable
from repoassay.formats.edit_row import EditRow
from repoassay.formats.row_formats import parts_of
from repoassay.formats.row_supplies import RowSupplies
from repoassay.formats.rows import RefusedRow, sort_rows
from repoassay.formats.task_toml import toml_string
from repoassay.formats.write_task import UnusableRow, safe_id, write_task
from repoassay.text import printable, quote

__all__ = ["IMPORT_LOG", "ImportReport", "ImportedRow", "import_rows", "refused_in"]

IMPORT_LOG = "import.jsonl"
"""File of an imported suite with one line a row."""


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """What became of one row.

    Attributes:
        name: The row's id, or its place in the file where it has none.
        task: Id of the task; None where the row cannot be one.
        reason: Why it cannot; empty where it is one.
        kept: Whether an earlier import had written the task.
        notes: What is to be known of how the task was made.
    """

    name: str
    task: str | None = None
    reason: str = ""
    kept: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportReport:
    """An imported suite: its folder, what became of each row, and whether the import was stopped before the end."""

    suite: Path
    rows: tuple[ImportedRow, ...]
    stopped: bool = False

    @property
    def tasks(self) -> tuple[ImportedRow, ...]:
        """Rows that are tasks now."""
        return tuple(row for row in self.rows if row.task is not None)

    @property
    def refused(self) -> Mapping[str, tuple[str, ...]]:
        """Reason -> ids of the rows that were refused for it; the most frequent first."""
        groups: dict[str, list[str]] = {}
        for row in self.rows:
            if row.task is None:
                groups.setdefault(row.reason, []).append(row.name)
        return {reason: tuple(names) for reason, names in sorted(groups.items(), key=lambda item: -len(item[1]))}


def import_rows(
    dataset: Path,
    suite: Path,
    supplies: RowSupplies | None = None,
    *,
    only: Sequence[str] = (),
    cancel: threading.Event | None = None,
    progress: Callable[[ImportedRow, int], object] = lambda row, total: None,
) -> ImportReport:
    """Write the rows of a data set as the tasks of a suite; tasks that are there already are kept.

    Args:
        dataset: JSON, JSONL, parquet, arrow, or a folder of task folders.
        suite: Folder of the suite, made if need be: `suite.toml`, `tasks/ID/` and `import.jsonl`.
        supplies: Repositories and environments that lie on this disk.
        only: Globs over row ids; empty for all.
        cancel: Set it to stop after the row under way; what was written stays.
        progress: Called with each row as it is done, and how many there are.

    Raises:
        BadInput: When the file cannot be read, no row matches, or the suite cannot be written.
    """
    rows, refused = sort_rows(dataset)
    rows = [row for row in rows if _matches_globs(row.name, only)]
    refused = [row for row in refused if _matches_globs(row.name, only)]
    if not rows and not refused:
        raise BadInput(f"No row of {quote(dataset)} matches {', '.join(map(quote, only))}.", "Correct --only.")
    writer = _Writer(suite, supplies or RowSupplies(), _digests(suite / IMPORT_LOG))
    writer.begin(dataset)
    places = writer.supplies.places(rows)
    total, stopped = len(rows) + len(refused), False
    try:
        for bad in refused:
            progress(writer.refuse(bad), total)
        for row in rows:
            if stopped := cancel is not None and cancel.is_set():
                break
            progress(writer.write(row, places), total)
    finally:
        writer.end()
    return ImportReport(suite, tuple(writer.done), stopped)


def refused_in(log: Path) -> dict[str, str]:
    """Rows that an import refused, with the reasons; nothing where there is no log of one."""
    found = [json.loads(line) for _, line in _lines(log)]
    return {str(line["row"]): str(line.get("reason", "")) for line in found if line.get("task") is None}


@dataclass(slots=True)
class _Writer:
    """Writes rows into one suite."""

    out: Path
    supplies: RowSupplies
    digests: Mapping[str, str]
    done: list[ImportedRow] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def begin(self, dataset: Path) -> None:
        """Make the suite's folder."""
        try:
            (self.out / "tasks").mkdir(parents=True, exist_ok=True)
            if not (self.out / "suite.toml").exists():
                (self.out / "suite.toml").write_text(_manifest(self.out, dataset), encoding="utf-8")
        except OSError as error:
            raise BadInput(
                f"The suite {quote(self.out)} cannot be written: {error.strerror}.", "Choose another."
            ) from error

    def write(self, row: EditRow, places: Mapping[str, str]) -> ImportedRow:
        """Write one row."""
        try:
            row = self.supplies.supplied(row)
            digest = _digest(row, places.get(row.repo_url, ""))
            done = self._import_row(row, places, digest)
        except UnusableRow as error:
            done, digest = ImportedRow(row.name, reason=error.reason), ""
        except (BadInput, Unavailable) as error:
            done, digest = ImportedRow(row.name, reason=printable(str(error), 400)), ""
        self._add(done, digest)
        return done

    def _import_row(self, row: EditRow, places: Mapping[str, str], digest: str) -> ImportedRow:
        """The task of a row, written or found.

        Raises:
            BadInput: When there can be none.
        """
        parts = parts_of(row)
        task = self.out / "tasks" / safe_id(row.name)
        if not (task / "task.toml").is_file():
            write_task(row, task.parent, mirrors=places, parts=parts)
            return ImportedRow(row.name, task.name, notes=parts.notes)
        if self.digests.get(row.name, digest) != digest:
            what = "its task is there already, and was made of another row or with other files."
            raise UnusableRow(row.name, what, "Remove the task, or choose another suite.")
        return ImportedRow(row.name, task.name, kept=True, notes=parts.notes)

    def refuse(self, row: RefusedRow) -> ImportedRow:
        """Keep a record that is no row."""
        done = ImportedRow(row.name, reason=row.reason)
        self._add(done, "")
        return done

    def end(self) -> None:
        """Write what became of each row; rows of an earlier import that this one did not come to keep their lines."""
        names = {row.name for row in self.done}
        old = [line for name, line in _lines(self.out / IMPORT_LOG) if name not in names]
        (self.out / IMPORT_LOG).write_text("".join([*old, *self.lines]), encoding="utf-8")

    def _add(self, row: ImportedRow, digest: str) -> None:
        self.done.append(row)
        line = {"row": row.name, "task": row.task, "reason": row.reason, "notes": list(row.notes), "digest": digest}
        self.lines.append(json.dumps(line) + "\n")


def _matches_globs(name: str, only: Sequence[str]) -> bool:
    return not only or any(fnmatchcase(name, glob) for glob in only)


def _digest(row: EditRow, place: str) -> str:
    return hashlib.sha256(json.dumps([row.to_json(), place], sort_keys=True).encode()).hexdigest()[:32]


def _digests(log: Path) -> dict[str, str]:
    found = {name: json.loads(line) for name, line in _lines(log)}
    return {name: line["digest"] for name, line in found.items() if line.get("task") and line.get("digest")}


def _lines(log: Path) -> list[tuple[str, str]]:
    """Row and line of an earlier import, as far as it can be read: a line that was cut off counts for nothing."""
    found = []
    try:
        text = log.read_text("utf-8") if log.is_file() else ""
    except (OSError, ValueError):
        return []
    for line in text.splitlines(keepends=True):
        try:
            found.append((str(json.loads(line)["row"]), line))
        except (ValueError, LookupError, TypeError):
            continue
    return found


def _manifest(out: Path, dataset: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", out.resolve().name)[:64].lstrip("-._") or "imported"
    title = printable(f"Rows of {dataset.name}", 120)
    return (
        f'schema = 1\n\n[suite]\nname = {toml_string(name)}\nversion = "1"\ntitle = {toml_string(title)}\n'
        'description = "Tasks made of the rows of a data set; import.jsonl says what became of each row."\n'
        'licence = "unknown"\n'
    )
