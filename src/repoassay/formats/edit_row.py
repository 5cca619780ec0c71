"""What the row of any code-editing data set offers; the formats themselves come as plug-ins (`row_formats`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Protocol, runtime_checkable

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from repoassay.types import Environment, HiddenTests

__all__ = ["EditRow", "Row", "RowId", "TaskParts", "Text", "checked_id"]


@lru_cache(10_000)
def checked_id(value: str) -> str:
    """Refuse an id that no file and no terminal could show."""
    if not value.strip() or re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", value):
        raise ValueError("is empty or holds control characters; give it a plain name")
    return value


def _text(value: object) -> object:
    """Null is how some files write that there is nothing."""
    return "" if value is None else value


RowId = Annotated[str, Field(max_length=512), AfterValidator(checked_id)]
Text = Annotated[str, BeforeValidator(_text)]


class Row(BaseModel):
    """A row of somebody's data set: strict about types, and silent about keys that others added."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, populate_by_name=True)


@dataclass(frozen=True, slots=True)
class TaskParts:
    """What of a task only the format of its row can say.

    Attributes:
        family: Name of the format, for the task's provenance.
        files: Path in the task folder -> content: tests, requirements, and what else the format keeps.
        notes: What whoever uses the task should know of how it was made, each half a sentence.
    """

    family: str
    environment: Environment
    tests: HiddenTests
    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


@runtime_checkable
class EditRow(Protocol):
    """A row that a task can be made of: a repository at a commit, a request, tests and a solution.

    Attributes:
        ID_KEY: The key that holds a row's id.
    """

    ID_KEY: ClassVar[str]

    @property
    def name(self) -> str:
        """The row's id, whatever its format calls it."""

    @property
    def repo_url(self) -> str:
        """The repository, as `repository_of` understands it."""

    @property
    def base_commit(self) -> str:
        """Full commit id that patches apply to; empty for a package."""

    @property
    def asked(self) -> str:
        """What the row asks for, in prose."""

    @property
    def solution(self) -> str:
        """The reference patch."""

    @property
    def known_files(self) -> Mapping[str, str]:
        """Texts of files that the solution touches, by path, as far as the row holds them."""

    def task_parts(self) -> TaskParts:
        """Return environment, tests and files of the row's task.

        Raises:
            BadInput: When the row cannot be a task; the sentence has the row as its subject (`its ...`).
        """

    def to_json(self) -> dict[str, Any]:
        """Return the row with the keys of its published files."""
