"""RES-Q's published row: a repository at a commit, an instruction, and a script that decides."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from repoassay.formats.json_records import parse_json

__all__ = ["ModifiedFile", "ResqRow", "Row", "RowId", "Text", "checked_id"]


def _text(value: object) -> object:
    """Null is how some files write that there is nothing."""
    return "" if value is None else value


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


def checked_id(value: str) -> str:
    """Refuse an id that no file and no terminal could show."""
    if not value.strip() or re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", value):
        raise ValueError("is empty or holds control characters; give it a plain name")
    return value


RowId = Annotated[str, Field(max_length=512), AfterValidator(checked_id)]
Text = Annotated[str, BeforeValidator(_text)]


class Row(BaseModel):
    """A row of somebody's data set: strict about types, and silent about keys that others added."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, populate_by_name=True)


class ModifiedFile(Row):
    """A file that the solution touches: path in the repository, and its text, usually that of the base commit."""

    path: str
    content: Text


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

    def to_json(self) -> dict[str, Any]:
        """Return the row with the published keys."""
        return self.model_dump(mode="python", by_alias=True)
