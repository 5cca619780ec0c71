"""The recipe of a task's environment."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import Field, model_validator

from repoassay.types.base import Record
from repoassay.types.fields import InnerPath

__all__ = ["Environment"]


class Environment(Record):
    """The recipe of a task's environment, and folders of the repository put on the import path.

    `python` is a lower bound (`>=3.11`) that the interpreter of RepoAssay itself must meet, or one release line (`3.9`)
    whose interpreter is looked for on this machine; its environment is then an installation of its own. `node` is the
    oldest major version of Node that will do, as `>=20`; what its packages need is installed by `build`.
    `requirements` is a file of wheels pinned by hash. `resolve` is one that is not pinned, as data sets of others have
    it: uv resolves it when the environment is first built, from what was released by the day `exclude_newer`
    (`YYYY-MM-DD`), and adds pytest. With `frozen` that file fixes the version of every package and is installed as it
    stands, without what its packages ask for. `apt` names Debian packages whose files the build and the tests see.
    `build` are shell commands run in the repository's root once all that is installed, with the package indexes in
    reach; what they leave in the repository belongs to it. `hosts` (`NAME` or `NAME:PORT`) are those they fetch from
    besides: without the user's leave for each, nothing is built. `variables` are set for the build, agent and tests.
    `checks` are commands that contributors run in the repository's root before they ask for a merge; they are named to
    agents of pull-request tasks. `image` names a container image that has the repository at /testbed and its
    environment: where a sandbox is asked for that runs tasks in their images, it takes the place of all that is built.
    """

    python: str = ">=3.11"
    node: Annotated[str, Field(pattern=r"^>=\d{1,3}$")] | None = None
    requirements: InnerPath | None = None
    resolve: InnerPath | None = None
    frozen: bool = False
    exclude_newer: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    apt: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]{1,99}$")], ...], Field(max_length=100)
    ] = ()
    build: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=20_000)], ...], Field(max_length=50)] = ()
    hosts: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9_.-]{1,253}(:\d{1,5})?$")], ...], Field(max_length=64)
    ] = ()
    variables: Annotated[
        dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")], Annotated[str, Field(max_length=2000)]],
        Field(max_length=50),
    ] = Field(default_factory=dict)
    image: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,399}$")] | None = None
    path: tuple[str, ...] = (".",)
    checks: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=400)], ...], Field(max_length=20)] = ()

    @model_validator(mode="after")
    def _one_file(self) -> Self:
        if self.requirements is not None and self.resolve is not None:
            raise ValueError("has both requirements and resolve; keep one")
        if self.frozen and self.resolve is None:
            raise ValueError("has frozen, which only a file under resolve can be; remove it")
        return self

    @property
    def lies_in_image_alone(self) -> bool:
        """Whether there is an image, and nothing that an environment could be built of."""
        return self.image is not None and not (self.requirements or self.resolve or self.build)

    @property
    def release_line(self) -> str | None:
        """The release line of Python it asks for, such as `3.9`; None where a lower bound is enough."""
        found = re.fullmatch(r"(3\.\d{1,2})(?:\.\d+)?", self.python.strip())
        return found[1] if found else None
