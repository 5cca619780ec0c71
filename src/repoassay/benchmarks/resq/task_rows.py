"""Task folders as RES-Q rows, the way back of `ResqRow.task_parts`."""

from __future__ import annotations

from pathlib import Path

from repoassay.benchmarks.resq.rows import ORIGIN, ResqRow, RowOrigin
from repoassay.errors import BadInput
from repoassay.formats import parse_json, row_url
from repoassay.grading import NODE_SUFFIXES
from repoassay.tasks import TaskFolder, read_regular, read_task
from repoassay.text import printable, quote
from repoassay.types import TaskKind

__all__ = ["read_task_row"]

_MAX_FILE = 64 * 2**20


def read_task_row(folder: Path) -> ResqRow:
    """Read a task folder as a RES-Q row.

    What stands in the folder's own files counts; `solution/row.json`, where there is one, adds what they cannot say.

    Raises:
        BadTask: When the folder is not sound.
        BadInput: When a row cannot say what the task says: criteria, several test files, a bundled repository.
    """
    found = read_task(folder)
    task = found.task
    where = f"The task {quote(task.id)} cannot be made a row:"
    if task.kind is not TaskKind.EDIT:
        raise BadInput(f"{where} its kind is {task.kind.value}.", "Only edit tasks are in this format.")
    node = task.hidden_tests.runner == "node"
    suffixes = NODE_SUFFIXES if node else (".py",)
    files = (path for path in found.tests.rglob("*") if path.suffix in suffixes and path.is_file())
    tests = sorted(path.relative_to(found.tests).as_posix() for path in files)
    if len(tests) != 1:
        raise BadInput(f"{where} it has {len(tests)} test files.", "A row holds one script; join them.")
    origin = _origin(found, where)
    version = task.environment.python.removeprefix(">=").strip()
    return ResqRow(
        id=origin.id if origin else task.id,
        repo_url=origin.repo_url if origin else row_url(task.repository),
        instruction=found.instruction,
        base_commit=task.repository.revision or (origin.base_commit if origin else ""),
        test_script=_file(found.tests / tests[0], where),
        testbed_environment=origin.testbed_environment if origin else "node" if node else f"python {version}",
        requirements_txt=_requirements(found, origin, where),
        solution_commit=origin.solution_commit if origin else "",
        solution_patch=_file(found.solution / "changes.diff", where),
        modified_files=origin.modified_files if origin else (),
        language=origin.language if origin else "javascript" if node else "python",
    )


def _origin(found: TaskFolder, where: str) -> RowOrigin | None:
    file = found.path / ORIGIN
    if not file.is_file():
        return None
    try:
        return RowOrigin.model_validate(parse_json(read_regular(file, _MAX_FILE)))
    except (OSError, ValueError) as error:
        raise BadInput(f"{where} {ORIGIN} cannot be read: {printable(str(error), 200)}.", "Remove it.") from error


def _requirements(found: TaskFolder, origin: RowOrigin | None, where: str) -> str:
    if origin is not None and origin.requirements_txt is not None:
        return origin.requirements_txt
    name = found.task.environment.resolve or found.task.environment.requirements
    return _file(found.path / name, where) if name else ""


def _file(path: Path, where: str) -> str:
    try:
        return read_regular(path, _MAX_FILE).decode("utf-8", "surrogatepass")
    except OSError as error:
        raise BadInput(f"{where} {path.name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{where} {path.name} is not UTF-8 (byte {error.start + 1}).", "Save it as UTF-8.") from error
