"""A suite: a named, versioned set of tasks, as its `suite.toml` introduces it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from repoassay.types.base import Record
from repoassay.types.fields import Identifier, InnerPath

__all__ = ["StrengthSettings", "Suite", "SuiteData"]


class SuiteData(Record):
    """Inputs and ground truth that are not bundled: where a git repository has them, and where each task finds its own.

    `inputs` and `truth` are folders of the repository with `{task}` for the task's id. What every file must be stands
    in `manifest.tsv` beside `suite.toml`.
    """

    source: str
    revision: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    inputs: InnerPath
    truth: InnerPath


class StrengthSettings(Record):
    """What `[strength]` says: how much of wrong solutions the hidden tests of the suite's tasks should refuse.

    A task of which less than the share `tolerance` of mutants is killed is weak. At most `mutants` are drawn of a
    task, by `seed`.
    """

    tolerance: Annotated[float, Field(ge=0, le=1)] = 0.8
    mutants: Annotated[int, Field(ge=0, le=10_000)] = 20
    seed: Annotated[int, Field(ge=0)] = 0


class Suite(Record):
    """What `[suite]` says, and `[strength]` beside it.

    `licence` is that of the tasks' own files; `citation` is what to cite when using it.
    `release` is the quarter it was released in, as 2026Q4; `canary` a text that stands in it and nowhere else, so that
    it is found where the suite was taken into a body of text.

    Raises:
        pydantic.ValidationError: When a key is unknown, missing or malformed.
    """

    name: Identifier
    version: Annotated[str, Field(min_length=1, max_length=64)]
    title: Annotated[str, Field(min_length=3, max_length=120)]
    description: str = ""
    licence: str = ""
    citation: str = ""
    release: Annotated[str, Field(pattern=r"^(\d{4}Q[1-4])?$")] = ""
    canary: Annotated[str, Field(max_length=100)] = ""
    data: SuiteData | None = None
    strength: StrengthSettings = StrengthSettings()
