"""Reading a task folder strictly: either the whole task, or every problem at once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from repoassay.errors import BadTask, Problem
from repoassay.tasks.consistency import disagreements
from repoassay.tasks.contents import read_regular, scan, unreadable
from repoassay.tasks.digest import digest_folder
from repoassay.tasks.folder import STEPS, Elsewhere, TaskFolder
from repoassay.tasks.steps import joined_instructions
from repoassay.tasks.task_toml import FILE, TaskDocument, understand
from repoassay.tasks.toml import MAX_TOML, parse_toml
from repoassay.text import printable, quote
from repoassay.types import Task

__all__ = ["INSTRUCTION", "read_task", "task_from_toml"]

INSTRUCTION = "instruction.md"
_MAX_INSTRUCTION = 256 * 2**10
_MOST = 100
"""Problems reported of one folder."""


def read_task(
    folder: Path,
    *,
    repositories: Path | None = None,
    metrics: Collection[str] | None = None,
    elsewhere: Elsewhere | None = None,
) -> TaskFolder:
    """Read a task folder.

    Args:
        folder: The folder with `task.toml`.
        repositories: Where repositories named as `bundled:NAME` lie.
        metrics: Names of the known metrics; None to accept any name.
        elsewhere: Inputs and ground truth that the suite keeps apart.

    Raises:
        BadTask: With every problem found, when there is one.
    """
    try:
        place = folder.resolve(strict=True)
        contents = scan(place)
        if elsewhere:
            contents = replace(contents, files={**contents.files, **elsewhere.files})
    except (OSError, ValueError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        problem = Problem(".", "", f"cannot be opened: {printable(reason)}.", "Check the path.")
        raise BadTask(printable(str(folder), 500), [problem]) from error
    written = _read_document(place)
    instruction = _instructions(place, written)
    problems = [*contents.problems, *written.problems]
    if written.id is not None and written.id != place.name:
        what = f"is {quote(written.id)}, but the folder is called {quote(place.name)}."
        problems.append(Problem(FILE, "task.id", what, "Give both the same name; no two tasks may share one."))
    if isinstance(instruction, Problem):
        problems.append(instruction)
    problems += islice(disagreements(written, place, contents, repositories, metrics, own=not elsewhere), _MOST + 1)
    if problems or written.task is None or isinstance(instruction, Problem):
        raise BadTask(printable(str(folder), 500), _at_most(list(dict.fromkeys(problems))))
    digest = digest_folder(place)
    if elsewhere:
        digest = hashlib.sha256(f"{digest} {elsewhere.digest}".encode()).hexdigest()
    return TaskFolder(place, written.task, instruction, digest, elsewhere)


def task_from_toml(text: str) -> Task:
    """Read a task from the text of its `task.toml` alone; no folder is looked at.

    Raises:
        BadTask: With every problem found, when there is one.
    """
    data = parse_toml(text.encode("utf-8", "surrogatepass"), FILE)
    written = TaskDocument(problems=[data]) if isinstance(data, Problem) else understand(data)
    if written.problems or written.task is None:
        raise BadTask(FILE, _at_most(written.problems))
    return written.task


def _at_most(problems: Sequence[Problem]) -> list[Problem]:
    """The first problems, and that there are more."""
    if len(problems) <= _MOST:
        return list(problems)
    return [*problems[:_MOST], Problem(".", "", "has more problems than are listed here.", "Solve these first.")]


def _read_document(folder: Path) -> TaskDocument:
    try:
        content = read_regular(folder / FILE, MAX_TOML)
    except FileNotFoundError:
        return TaskDocument(problems=[Problem(FILE, "", "is missing.", "A task folder needs one; add it.")])
    except OSError as error:
        return TaskDocument(problems=[unreadable(FILE, error)])
    data = parse_toml(content, FILE)
    return TaskDocument(problems=[data]) if isinstance(data, Problem) else understand(data)


def _instructions(folder: Path, written: TaskDocument) -> str | Problem:
    """What the task asks for; of one with steps, what these ask for together."""
    if written.task is None or not written.task.steps:
        return _instruction(folder, INSTRUCTION)
    found = [_instruction(folder, f"{STEPS}/{step.name}/{INSTRUCTION}") for step in written.task.steps]
    wrong = next((each for each in found if isinstance(each, Problem)), None)
    return wrong or joined_instructions(written.task, [each for each in found if isinstance(each, str)])


def _instruction(folder: Path, name: str) -> str | Problem:
    try:
        text = read_regular(folder / name, _MAX_INSTRUCTION).decode()
    except FileNotFoundError:
        return Problem(name, "", "is missing.", "Write down what the agent is to do.")
    except OSError as error:
        return unreadable(name, error)
    except UnicodeDecodeError as error:
        return Problem(name, "", f"is not UTF-8 (byte {error.start + 1}).", "Save it as UTF-8.")
    if not text.strip():
        return Problem(name, "", "is empty.", "Write down what the agent is to do.")
    if "\0" in text:
        return Problem(name, "", "holds a NUL character.", "Remove it; no command line can carry it.")
    return text
