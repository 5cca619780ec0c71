"""What could be better about a task: every problem, and advice where it is sound."""

from __future__ import annotations

import filecmp
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from repoassay.errors import BadTask, Problem
from repoassay.tasks.folder import Elsewhere, TaskFolder
from repoassay.tasks.read import INSTRUCTION, read_task
from repoassay.tasks.task_toml import FILE
from repoassay.text import printable, quote
from repoassay.types import TaskKind

__all__ = ["Advice", "lint"]

_PYTEST = re.compile(r"^pytest\s*==", re.MULTILINE | re.IGNORECASE)
_PIN = "Pin pytest and what it needs there: `uv pip compile --generate-hashes --only-binary :all:`."
_HIDDEN = re.compile(r"(?<![\w/.-])(?:\./)?(tests|solution)/")


@dataclass(frozen=True, slots=True)
class Advice(Problem):
    """Something that could be better; the task can be used as it is."""


def lint(
    folder: Path,
    *,
    repositories: Path | None = None,
    metrics: Collection[str] | None = None,
    elsewhere: Elsewhere | None = None,
) -> list[Problem]:
    """Return every problem `read_task` finds; if there is none, `Advice`.

    Args:
        folder: The folder with `task.toml`.
        repositories: Where repositories named as `bundled:NAME` lie.
        metrics: Names of the known metrics; None to accept any name.
        elsewhere: Inputs and ground truth that the suite keeps apart.
    """
    try:
        read = read_task(folder, repositories=repositories, metrics=metrics, elsewhere=elsewhere)
    except BadTask as error:
        return list(error.problems)
    return [*_on_pytest(read), *_on_instruction(read), *_on_grading(read), *_on_facts(read), *_on_solution(read)]


def _on_pytest(read: TaskFolder) -> Iterator[Problem]:
    """Hidden tests that pytest runs need one in the task's environment; `resolve` adds it, and `build` may bring it.

    A task without requirements has the packages of RepoAssay's own Python.
    """
    environment = read.task.environment
    runners = {tests.runner for tests in (read.task.grading.tests, *(step.tests for step in read.task.steps)) if tests}
    if "pytest" not in runners or environment.resolve or environment.build:
        return
    file = environment.requirements
    if file is None and find_spec("_pytest") is None:
        what = "is missing, and the Python of this RepoAssay has no pytest, which runs the hidden tests."
        yield Problem(FILE, "environment.requirements", what, f"Name a file of requirements. {_PIN}")
    elif file is not None and not _PYTEST.search((read.path / file).read_text("utf-8", "replace")):
        yield Problem(file, "", "names no pytest, which runs the hidden tests.", _PIN)


def _on_instruction(read: TaskFolder) -> Iterator[Advice]:
    hidden = set(_HIDDEN.findall(read.instruction))
    if read.task.kind is TaskKind.PULL_REQUEST:
        hidden -= {"tests"}  # an issue may well speak of the repository's own
    for name in sorted(hidden):
        yield Advice(INSTRUCTION, "", f"names {name}/, which the agent does not see.", "Say it without.")
    for file in read.task.outputs.files:
        if file.partition(" | ")[0] not in read.instruction and not any(sign in file for sign in "*{"):
            yield Advice(INSTRUCTION, "", f"does not name the output {quote(file)}.", "Say that it is expected.")


def _on_grading(read: TaskFolder) -> Iterator[Advice]:
    grading = read.task.grading
    for stage, criteria in (("process", grading.process), ("result", grading.result)):
        for index, criterion in enumerate(criteria):
            if not criterion.why.strip():
                yield Advice(FILE, f"grading.{stage}[{index}].why", "is missing.", "Say what the threshold rests on.")


def _on_facts(read: TaskFolder) -> Iterator[Advice]:
    if read.task.economics is None:
        yield Advice(FILE, "economics", "is missing.", "Add what the work is worth, with its source.")
    if read.task.kind is TaskKind.PULL_REQUEST and not read.task.rules:
        yield Advice(FILE, "task.rules", "is missing.", "Name what says how contributions to it are made.")
    if not read.task.licence.strip():
        yield Advice(FILE, "task.licence", "is missing.", "State the licence of the task's own files.")
    if not read.task.repository.licence.strip():
        yield Advice(FILE, "repository.licence", "is empty.", "State the licence of the repository.")


def _on_solution(read: TaskFolder) -> Iterator[Advice]:
    """A solution that is an input as it was given shows a task that asks for nothing; no solution shows nothing."""
    if read.elsewhere and not _files(read.solution):
        yield Advice("solution", "", "is missing.", "Nothing shows that the task can be done.")
    for input_file in _files(read.inputs):
        for solution in _files(read.solution):
            if input_file.stat().st_size == solution.stat().st_size > 0 and filecmp.cmp(
                input_file, solution, shallow=False
            ):
                file = f"solution/{printable(str(solution.relative_to(read.solution)))}"
                what = f"is byte for byte the input {quote(input_file.relative_to(read.inputs))}."
                yield Advice(file, "", what, "Check that the task asks for something.")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
