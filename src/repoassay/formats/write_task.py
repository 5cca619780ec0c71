"""Rows to task folders. A folder made here is read once before it gets its name, so that it is sound."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput, BadTask
from repoassay.formats.edit_row import EditRow, TaskParts
from repoassay.formats.row_formats import parts_of
from repoassay.formats.task_source import repository_of
from repoassay.formats.task_toml import edit_task_toml
from repoassay.tasks import read_task
from repoassay.text import printable, quote
from repoassay.types import Grading, Task, TaskKind

__all__ = ["REQUIREMENTS", "UnusableRow", "import_path_of", "safe_id", "write_task"]

REQUIREMENTS = "environment/requirements.in"
"""The file of a task folder that names what its tests need."""


class UnusableRow(BadInput):
    """A row cannot be made a task.

    Attributes:
        reason: Why, without the row's id.
    """

    def __init__(self, row: str, reason: str, remedy: str) -> None:
        self.reason = f"{reason} {remedy}".strip()
        super().__init__(f"The row {quote(row)} cannot be made a task: {reason}", remedy)


def safe_id(name: str) -> str:
    """Return the task id for a row's id: the same where tasks may be called so, else one with a digest at its end."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:50] or "task"
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def write_task(
    row: EditRow,
    into: Path,
    *,
    mirrors: Mapping[str, str] | None = None,
    licence: str = "unknown",
    parts: TaskParts | None = None,
) -> Path:
    """Write a row as a task folder; return the folder.

    Args:
        row: The row.
        into: Folder of tasks, made if need be; the task becomes `into/ID`.
        mirrors: Git URL -> a local folder or another URL to fetch from instead.
        licence: What to state as the licence of the repository, which rows do not say.
        parts: What `parts_of` said of the row, where that is known already.

    Raises:
        UnusableRow: When the row cannot be a task.
        BadInput: When the folder exists or cannot be written.
        Unavailable: When the row is a plug-in's, and fails.
    """
    name = safe_id(row.name)
    try:
        parts = parts or parts_of(row)
        task = _task(row, name, parts, mirrors, licence)
        files = {
            **parts.files,
            "task.toml": edit_task_toml(task).encode(),
            "instruction.md": row.asked.encode(),
            "solution/changes.diff": row.solution.encode("utf-8", "surrogatepass"),
        }
    except (BadInput, ValidationError, UnicodeEncodeError) as error:
        raise UnusableRow(row.name, _reason(error), "") from error
    if not row.solution.strip():
        raise UnusableRow(row.name, "it has no solution patch.", "A task needs one, as proof that it can be done.")
    return _placed(files, into, name, row.name)


def import_path_of(patch: str) -> tuple[str, ...]:
    """Return the repository's root, where tests are run, and `src` where the solution shows packages there."""
    return (".", "src") if re.search(r"^(?:\+\+\+|---) (?:[ab]/)?src/", patch, re.MULTILINE) else (".",)


def _task(row: EditRow, name: str, parts: TaskParts, mirrors: Mapping[str, str] | None, licence: str) -> Task:
    return Task(
        id=name,
        title=_title(row.asked, name),
        kind=TaskKind.EDIT,
        domain="Software",
        modality="code",
        provenance=f"{parts.family} row {row.name}",
        licence="unknown",
        repository=repository_of(row.repo_url, row.base_commit, mirrors or {}, licence),
        environment=parts.environment,
        grading=Grading(tests=parts.tests),
    )


def _title(instruction: str, name: str) -> str:
    first = next((line.strip() for line in instruction.splitlines() if line.strip()), "")
    line = printable(first.lstrip("#").strip(), 100)
    return line if len(line) >= 3 else f"Edit {name}"


def _placed(files: Mapping[str, bytes], into: Path, name: str, row: str) -> Path:
    """Write the files beside their place, read them as a task, and only then give the folder its name."""
    place = into / name
    part: Path | None = None
    try:
        if os.path.lexists(place):
            raise BadInput(f"The folder {printable(str(place), 500)} exists.", "Remove it, or choose another place.")
        into.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=into))
        for path, content in files.items():
            file = part / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        read_task(part / name)
        (part / name).rename(place)
    except BadTask as error:
        what = "; ".join(str(problem).rstrip(".") for problem in error.problems[:5])
        raise UnusableRow(row, f"{what}.", "") from error
    except OSError as error:
        raise BadInput(f"The folder {printable(str(place), 500)} cannot be written: {error.strerror}.") from error
    finally:
        if part is not None:
            shutil.rmtree(part, ignore_errors=True)
    return place


def _reason(error: BadInput | ValidationError | UnicodeEncodeError) -> str:
    if isinstance(error, BadInput):
        return str(error)
    if isinstance(error, UnicodeEncodeError):
        return f"character {error.start + 1} of one of its texts is half of a surrogate pair. Replace it."
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {printable(first['msg'], 200)}."
