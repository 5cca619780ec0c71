"""What `task.toml` says: the whole task where it is sound, else the sections that are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import ValidationError

from repoassay.errors import Problem
from repoassay.tasks.validation_errors import Place, dotted, explain, record_in
from repoassay.text import printable, suggest
from repoassay.types import Environment, Grading, Inputs, Outputs, Record, Repository, Task, TaskKind

__all__ = ["FILE", "TaskDocument", "check_schema", "understand"]

FILE = "task.toml"
SECTIONS = frozenset(name for name in Task.model_fields if record_in(Task, (name,)))
OWN = frozenset(Task.model_fields) - SECTIONS
"""Fields of a task that `[task]` holds."""

_MOST = 200
"""Misplaced keys told of; a hostile file may hold ten thousands."""

_Section = TypeVar("_Section", bound=Record)


@dataclass(slots=True)
class TaskDocument:
    """A task as far as it could be understood; a section that is None was not."""

    task: Task | None = None
    id: str | None = None
    kind: TaskKind | None = None
    rules: str = ""
    repository: Repository | None = None
    environment: Environment | None = None
    inputs: Inputs | None = None
    outputs: Outputs | None = None
    grading: Grading | None = None
    problems: list[Problem] = field(default_factory=list)


def understand(data: dict[str, Any]) -> TaskDocument:
    """Make a task of a parsed `task.toml`; what is wrong is in `problems`."""
    problems = list(islice(chain(check_schema(data, FILE), _misplaced(data)), _MOST))
    head = data.get("task")
    own = {key: value for key, value in head.items() if key in OWN} if isinstance(head, dict) else {}
    fields = {**own, **{key: value for key, value in data.items() if key in SECTIONS}}
    try:
        task = Task.model_validate(fields)
    except ValidationError as error:
        return _in_part(fields, [*problems, *explain(error, Task, FILE, _key)])
    return TaskDocument(
        task,
        task.id,
        task.kind,
        task.rules,
        task.repository,
        task.environment,
        task.inputs,
        task.outputs,
        task.grading,
        problems,
    )


def check_schema(data: dict[str, Any], file: str) -> Iterator[Problem]:
    """The schema number must be there and be one this version reads."""
    schema = data.get("schema")
    if "schema" not in data:
        yield Problem(file, "schema", "is missing.", "Write schema = 1 on the first line.")
    elif type(schema) is not int or schema != 1:
        yield Problem(file, "schema", f"is {printable(repr(schema), 40)}; this version reads 1.", "Write schema = 1.")


def _misplaced(data: dict[str, Any]) -> Iterator[Problem]:
    head = data.get("task")
    if "task" not in data:
        yield Problem(FILE, "task", "is missing.", "Add the section [task].")
    elif not isinstance(head, dict):
        yield Problem(FILE, "task", "is not a table.", "Write it as the section [task].")
    for key in data.keys() - SECTIONS - {"schema", "task"}:
        name = dotted((key,))
        if key in OWN:
            yield Problem(FILE, name, "stands outside the section it belongs to.", "Move it below [task].")
        else:
            yield Problem(FILE, name, "is not a known key.", suggest(key, {*SECTIONS, "task", "schema"}))
    for key in head.keys() - OWN if isinstance(head, dict) else ():
        name = dotted(("task", key))
        if key in SECTIONS:
            yield Problem(FILE, name, "is a section of its own.", f"Write it as [{key}].")
        else:
            yield Problem(FILE, name, "is not a known key.", suggest(key, OWN))


def _key(place: Place) -> str:
    return dotted(("task", *place) if not place or place[0] in OWN else place)


def _in_part(fields: dict[str, Any], problems: list[Problem]) -> TaskDocument:
    """Sections that are sound by themselves, so that they can be held against the folder all the same."""

    def section(name: str, model: type[_Section]) -> _Section | None:
        try:
            return model.model_validate(fields.get(name, {}))
        except ValidationError:
            return None

    kind = fields.get("kind")
    name = fields.get("id")
    return TaskDocument(
        id=name if isinstance(name, str) else None,
        kind=TaskKind(kind) if isinstance(kind, str) and kind in set(TaskKind) else None,
        repository=section("repository", Repository),
        environment=section("environment", Environment),
        inputs=section("inputs", Inputs),
        outputs=section("outputs", Outputs),
        grading=section("grading", Grading),
        problems=problems,
    )
