"""Which folders of a workspace a state task is about: where they lie, and where its agent and its tests stand."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from repoassay.types.base import Record

__all__ = ["WorkspaceState"]

_OURS = frozenset({"bin", "boot", "dev", "env", "lib", "lib32", "lib64", "libx32", "logs", "proc", "run", "sbin", "sys",
                   "tests", "usr"})  # fmt: skip
"""Top folders that hold the machine's programs, the task's environment, its tests or what a sandbox needs."""
_OF_AGENTS = frozenset({"/logs/agent", "/logs/artifacts"})
"""Folders beside the one in which tests write, in which tasks made for containers let agents leave something."""
_DEEPER = frozenset({"etc", "home", "var"})
"""Top folders that a sandbox lays out itself, so that a place is a folder in them."""


def _absolute(value: str) -> str:
    """Accept an absolute path that nobody can read in two ways.

    Raises:
        ValueError: When it is anything else.
    """
    path = PurePosixPath(value)
    if str(path) != value or not path.is_absolute() or ".." in path.parts or value == "/" or value.startswith("//"):
        raise ValueError("must be an absolute path such as '/workspace', without '..' or a slash at its end")
    if not re.fullmatch(r"[\w./+@ ,=~-]{2,500}", value):
        raise ValueError("must have at most 500 letters, digits and plain signs")
    return value


def _place(value: str) -> str:
    """Accept the path of a folder that an agent may change and tests may look at.

    Raises:
        ValueError: When it is no absolute path, or belongs to the machine, the environment or the tests.
    """
    parts = PurePosixPath(_absolute(value)).parts[1:]
    if parts[0] in _OURS and value not in _OF_AGENTS:
        raise ValueError(f"lies in /{parts[0]}, which no agent can change; name a folder such as '/workspace'")
    if parts[0] in _DEEPER and len(parts) == 1:
        raise ValueError(f"is /{parts[0]}, which sandboxes lay out themselves; name a folder in it")
    return value


AbsolutePath = Annotated[str, AfterValidator(_absolute)]
Place = Annotated[str, AfterValidator(_place)]


class WorkspaceState(Record):
    """The folders of a state task.

    `places` are absolute paths of folders that an agent may change. They start with what the task's repository holds at
    the same paths (its `app/data.csv` is `/app/data.csv`), and cross to the sandbox of the tests as data. `work`, in
    one of them, is where the agent and the tests stand. `folders` are made where they are not there at the start.
    Where `artifacts` names files or folders in the places, these alone cross to the tests.
    """

    work: AbsolutePath
    places: Annotated[tuple[Place, ...], Field(min_length=1, max_length=30)]
    folders: Annotated[tuple[AbsolutePath, ...], Field(max_length=500)] = ()
    artifacts: Annotated[tuple[AbsolutePath, ...], Field(max_length=200)] = ()

    @model_validator(mode="after")
    def _inside(self) -> Self:
        places = [PurePosixPath(place) for place in self.places]
        for one in places:
            if any(one != other and one.is_relative_to(other) for other in places) or places.count(one) > 1:
                raise ValueError(f"places: {one} lies in another place or is named twice; keep the outer one")
        for name in (self.work, *self.folders, *self.artifacts):
            if not any(PurePosixPath(name).is_relative_to(place) for place in places):
                raise ValueError(f"work, folders, artifacts: {name} lies in none of the places; add its folder there")
        return self
