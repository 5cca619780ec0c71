"""RES-Q's published row: a repository at a commit, an instruction, and a script that decides; and the task it makes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from repoassay.benchmarks.resq.javascript_tests import javascript_tests, script_name
from repoassay.benchmarks.resq.node_environment import check_node_environment, is_javascript
from repoassay.benchmarks.resq.parametrized_tests import Unlisted
from repoassay.benchmarks.resq.script_tests import script_tests
from repoassay.errors import BadInput
from repoassay.formats import REQUIREMENTS, Row, RowId, TaskParts, Text, import_path_of, parse_json
from repoassay.text import printable, quote
from repoassay.types import Environment, HiddenTests, Record

__all__ = ["ORIGIN", "ModifiedFile", "ResqRow", "RowOrigin", "javascript_parts", "python_parts"]

ORIGIN = "solution/row.json"
"""What a row says and a task folder has no place for; hidden, since it may hold the solution."""


def _files(value: object) -> object:
    """Older data has a JSON string, or maps paths to contents."""
    if isinstance(value, str):
        if not value.strip():
            return ()
        try:
            value = parse_json(value)
        except ValueError as error:
            raise ValueError(f"{error}; write a list of objects with path and content") from None
    if value is None:
        return ()
    if isinstance(value, dict) and not (value.keys() >= {"path", "content"} and len(value) == 2):
        return tuple({"path": path, "content": content} for path, content in value.items())
    if isinstance(value, dict):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


class ModifiedFile(Row):
    """A file that the solution touches: path in the repository, and its text, usually that of the base commit."""

    path: str
    content: Text


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


class ResqRow(Row):
    """One task as the RES-Q data set has it.

    Attributes:
        id: Name of the task, unique in its file.
        repo_url: A git URL, `pypi:NAME==VERSION?sha256=DIGEST` for a source distribution, or `npm:` for a tarball.
        instruction: What to change, in prose.
        base_commit: Full commit id that patches apply to.
        test_script: Source that decides, in Python or JavaScript.
        testbed_environment: Version of Python or node, such as `python 3.11`.
        requirements_txt: What the tests need, as pip reads it; nothing for JavaScript.
        solution_commit: Commit that made the change; may be empty.
        solution_patch: Unified diff of the solution.
        modified_files: Files that the solution touches.
        language: Language of the repository.
    """

    KEYS: ClassVar = frozenset({"repo_url", "test_script", "solution_patch", "testbed_environment"})
    """Keys of a record that show its format."""
    ID_KEY: ClassVar = "id"
    FORM: ClassVar = "a RES-Q row has id, repo_url, instruction and test_script"

    id: RowId
    repo_url: Annotated[str, Field(min_length=1)]
    instruction: str
    base_commit: Text = ""
    test_script: str
    testbed_environment: Text = ""
    requirements_txt: Text = ""
    solution_commit: Text = ""
    solution_patch: Text = ""
    modified_files: Annotated[tuple[ModifiedFile, ...], BeforeValidator(_files)] = ()
    language: Text = "python"

    @property
    def name(self) -> str:
        """The row's id, whatever its format calls it."""
        return self.id

    @property
    def asked(self) -> str:
        """What the row asks for."""
        return self.instruction

    @property
    def solution(self) -> str:
        """The reference patch."""
        return self.solution_patch

    @property
    def known_files(self) -> Mapping[str, str]:
        """The modified files."""
        return {item.path: item.content for item in self.modified_files}

    def task_parts(self) -> TaskParts:
        """Return environment, tests and files of the row's task.

        Every test of the script becomes one that must fail at the base commit; only running them tells which do.

        Raises:
            BadInput: When the script or its environment cannot be had here.
        """
        from repoassay.benchmarks.resq.rows import javascript_parts, python_parts

        kept = set(RowOrigin.model_fields)
        if is_javascript(self.language):
            parts = javascript_parts(self.test_script, self.testbed_environment, self.requirements_txt)
        elif self.language and self.language.strip().lower() not in {"python", "py", "python3"}:
            raise BadInput(
                f"its language is {quote(self.language)}.", "Only tests in Python and JavaScript can be run."
            )
        else:
            parts = python_parts(self.test_script, self.testbed_environment, self.requirements_txt, self.solution_patch)
            kept.remove("requirements_txt")
        origin = json.dumps(self.model_dump(include=kept), indent=1) + "\n"
        return TaskParts("RES-Q", parts.environment, parts.tests, {**parts.files, ORIGIN: origin.encode()})

    def to_json(self) -> dict[str, Any]:
        """Return the row with the published keys."""
        return self.model_dump(mode="python", by_alias=True)


_FAMILY = "RES-Q"
_SCRIPT = "test_script.py"
_PYTHON = re.compile(r"(?:^|[^0-9.])([23])\.([0-9]{1,2})(?:[^0-9]|$)")


def python_parts(script: str, environment: str, requirements: str, patch: str) -> TaskParts:
    """Return the parts of a task whose script is in Python.

    Args:
        script: The source that decides.
        environment: The version of Python, such as `python 3.11`.
        requirements: What the tests need, as pip reads it.
        patch: The solution, which shows where packages lie.

    Raises:
        BadInput: When the tests of the script cannot be listed.
    """
    try:
        tests = script_tests(script)
    except Unlisted as error:
        raise _unlisted(error) from error
    found = _PYTHON.search(environment)
    python = Environment(
        python=f">={found[1]}.{found[2]}" if found else Environment().python,
        resolve=REQUIREMENTS,  # even where it names nothing: resolving is what brings pytest
        path=import_path_of(patch),
    )
    hidden = HiddenTests(fail_to_pass=tuple(f"{_SCRIPT}::{test}" for test in tests), cwd="repository")
    files = {f"tests/{_SCRIPT}": script.encode(), REQUIREMENTS: requirements.encode()}
    return TaskParts(_FAMILY, python, hidden, files)


def javascript_parts(script: str, environment: str, requirements: str) -> TaskParts:
    """Return the parts of a task whose script is for node, which needs no environment of its own.

    Raises:
        BadInput: When the row asks for packages or another runtime, or the tests of the script cannot be listed.
    """
    check_node_environment(environment, requirements)
    try:
        tests = javascript_tests(script)
    except Unlisted as error:
        raise _unlisted(error) from error
    name = script_name(script)
    hidden = HiddenTests(fail_to_pass=tuple(f"{name}::{test}" for test in tests), cwd="repository", runner="node")
    return TaskParts(_FAMILY, Environment(), hidden, {f"tests/{name}": script.encode()})


def _unlisted(error: Unlisted) -> BadInput:
    what, _, remedy = str(error).partition("; ")
    return BadInput(f"its test_script {printable(what, 300)}.", f"{remedy[:1].upper()}{remedy[1:]}.")
