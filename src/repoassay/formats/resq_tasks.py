"""Rows to task folders and back. A folder made here is read once before it gets its name, so that it is sound."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput, BadTask
from repoassay.formats.javascript_tests import javascript_tests, script_name
from repoassay.formats.json_records import parse_json
from repoassay.formats.node_rows import check_node_environment, is_javascript
from repoassay.formats.parametrized_tests import Unlisted
from repoassay.formats.resq_row import ModifiedFile, ResqRow, RowId
from repoassay.formats.script_tests import script_tests
from repoassay.formats.swe_tests import new_test_files
from repoassay.formats.swebench import SweRow
from repoassay.formats.task_source import repository_of, row_url
from repoassay.formats.task_toml import edit_task_toml
from repoassay.grading import NODE_SUFFIXES
from repoassay.tasks import TaskFolder, read_regular, read_task
from repoassay.text import printable, quote
from repoassay.types import Environment, Grading, HiddenTests, Record, Task, TaskKind

__all__ = ["read_task_row", "safe_id", "write_task"]

SCRIPT = "test_script.py"
REQUIREMENTS = "environment/requirements.in"
ORIGIN = "solution/row.json"
"""What a row says and a task folder has no place for; hidden, since it may hold the solution."""
_MAX_FILE = 64 * 2**20
_PYTHON = re.compile(r"(?:^|[^0-9.])([23])\.([0-9]{1,2})(?:[^0-9]|$)")


class RowOrigin(Record):
    """What of a RES-Q row stands nowhere else in its task folder."""

    id: RowId
    repo_url: str
    base_commit: str = ""
    testbed_environment: str = ""
    solution_commit: str = ""
    modified_files: tuple[ModifiedFile, ...] = ()
    language: str = ""
    requirements_txt: str | None = None
    """Of a row in JavaScript alone, which has no file of requirements: nothing is installed for it."""


def safe_id(name: str) -> str:
    """Return the task id for a row's id: the same where tasks may be called so, else one with a digest at its end."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:50] or "task"
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def write_task(
    row: ResqRow | SweRow, into: Path, *, mirrors: Mapping[str, str] | None = None, licence: str = "unknown"
) -> Path:
    """Write a row as a task folder; return the folder.

    Every test of a RES-Q script becomes one that must fail at the base commit; only running them tells which do.

    Args:
        row: The row.
        into: Folder of tasks, made if need be; the task becomes `into/ID`.
        mirrors: Git URL -> a local folder or another URL to fetch from instead.
        licence: What to state as the licence of the repository, which rows do not say.

    Raises:
        BadInput: When the row cannot be a task, or the folder exists or cannot be written.
    """
    name = safe_id(row.name)
    try:
        task, files = (
            _resq(row, name, mirrors, licence) if isinstance(row, ResqRow) else _swe(row, name, mirrors, licence)
        )
        files |= {
            "task.toml": edit_task_toml(task).encode(),
            "instruction.md": row.asked.encode(),
            "solution/changes.diff": row.solution.encode("utf-8", "surrogatepass"),
        }
    except (BadInput, ValidationError, UnicodeEncodeError) as error:
        raise BadInput(f"The row {quote(row.name)} cannot be made a task: {_reason(error)}") from error
    if not row.solution.strip():
        raise BadInput(
            f"The row {quote(row.name)} cannot be made a task: it has no solution patch.",
            "A task needs one, as proof that it can be done.",
        )
    return _placed(files, into, name, row.name)


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
    assert task.grading.tests is not None
    node = task.grading.tests.runner == "node"
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


def _resq(row: ResqRow, name: str, mirrors: Mapping[str, str] | None, licence: str) -> tuple[Task, dict[str, bytes]]:
    if is_javascript(row.language):
        return _javascript(row, name, mirrors, licence)
    if row.language and row.language.strip().lower() not in {"python", "py", "python3"}:
        raise BadInput(f"its language is {quote(row.language)}.", "Only tests in Python and JavaScript can be run.")
    try:
        tests = script_tests(row.test_script)
    except Unlisted as error:
        raise _unlisted(error) from error
    ids = tuple(f"{SCRIPT}::{test}" for test in tests)
    found = _PYTHON.search(row.testbed_environment)
    environment = Environment(
        python=f">={found[1]}.{found[2]}" if found else Environment().python,
        resolve=REQUIREMENTS,  # even where it names nothing: resolving is what brings pytest
        path=_import_path(row.solution_patch),
    )
    task = _task(row, name, "RES-Q", mirrors, licence, environment, HiddenTests(fail_to_pass=ids, cwd="repository"))
    origin = row.model_dump(include=set(RowOrigin.model_fields) - {"requirements_txt"})
    return task, {
        f"tests/{SCRIPT}": row.test_script.encode(),
        REQUIREMENTS: row.requirements_txt.encode(),
        ORIGIN: (json.dumps(origin, indent=1) + "\n").encode(),
    }


def _javascript(
    row: ResqRow, name: str, mirrors: Mapping[str, str] | None, licence: str
) -> tuple[Task, dict[str, bytes]]:
    check_node_environment(row)
    try:
        tests = javascript_tests(row.test_script)
    except Unlisted as error:
        raise _unlisted(error) from error
    script = script_name(row.test_script)
    ids = tuple(f"{script}::{test}" for test in tests)
    hidden = HiddenTests(fail_to_pass=ids, cwd="repository", runner="node")
    task = _task(row, name, "RES-Q", mirrors, licence, Environment(), hidden)
    origin = row.model_dump(include=set(RowOrigin.model_fields))
    return task, {
        f"tests/{script}": row.test_script.encode(),
        ORIGIN: (json.dumps(origin, indent=1) + "\n").encode(),
    }


def _unlisted(error: Unlisted) -> BadInput:
    what, _, remedy = str(error).partition("; ")
    return BadInput(f"its test_script {printable(what, 300)}.", f"{remedy[:1].upper()}{remedy[1:]}.")


def _swe(row: SweRow, name: str, mirrors: Mapping[str, str] | None, licence: str) -> tuple[Task, dict[str, bytes]]:
    tests = HiddenTests(fail_to_pass=row.fail_to_pass, pass_to_pass=row.pass_to_pass, cwd="repository")
    files = new_test_files(row.test_patch, tests.all_ids)
    environment = Environment(resolve=REQUIREMENTS, path=_import_path(row.patch))
    task = _task(row, name, "SWE-bench", mirrors, licence, environment, tests)
    # The rows name no requirements; the file is there to be filled in.
    return task, {REQUIREMENTS: b"", **{f"tests/{path}": content for path, content in files.items()}}


def _task(
    row: ResqRow | SweRow,
    name: str,
    family: str,
    mirrors: Mapping[str, str] | None,
    licence: str,
    environment: Environment,
    tests: HiddenTests,
) -> Task:
    url = row.repo_url if isinstance(row, ResqRow) else row.repo
    return Task(
        id=name,
        title=_title(row.asked, name),
        kind=TaskKind.EDIT,
        domain="Software",
        modality="code",
        provenance=f"{family} row {row.name}",
        licence="unknown",
        repository=repository_of(url, row.base_commit, mirrors or {}, licence),
        environment=environment,
        grading=Grading(tests=tests),
    )


def _title(asked: str, name: str) -> str:
    first = next((line.strip() for line in asked.splitlines() if line.strip()), "")
    line = printable(first.lstrip("#").strip(), 100)
    return line if len(line) >= 3 else f"Edit {name}"


def _import_path(patch: str) -> tuple[str, ...]:
    """The repository's root, as the published tests have it, and `src` where the solution shows packages there."""
    return (".", "src") if re.search(r"^(?:\+\+\+|---) (?:[ab]/)?src/", patch, re.MULTILINE) else (".",)


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
        raise BadInput(f"The row {quote(row)} cannot be made a task: {what}.") from error
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
