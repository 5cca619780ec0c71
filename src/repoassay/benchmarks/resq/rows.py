"""RES-Q's published row: a repository at a commit, an instruction, and a script that decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from repoassay.benchmarks.resq.node_environment import is_javascript
from repoassay.errors import BadInput
from repoassay.formats import Row, RowId, TaskParts, Text, parse_json
from repoassay.text import quote
from repoassay.types import Record

__all__ = ["ORIGIN", "ModifiedFile", "ResqRow", "RowOrigin"]

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
        from repoassay.benchmarks.resq.script_parts import javascript_parts, python_parts

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
