"""An environment that is part of a container image: a folder that is shown at /env and says where in the image it lies.

Whoever shows it runs in that image, so that a task's repository and environment cannot meet another one.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.sandbox.protocol import Mount

__all__ = ["ImageEnvironment", "image_environment", "shown_image"]

_FILE = "image.json"
_ENVIRONMENT = "/env"


@dataclass(frozen=True, slots=True)
class ImageEnvironment:
    """Where things are in an image.

    Attributes:
        image: What the engine identifies it by, whatever its names lead to later.
        name: The name it was found under.
        repository: Folder of the repository.
        python: The environment's interpreter; empty before it is known.
        variables: What the environment is activated by.
        packages: Packages outside of the environment, and of what its packages took along.
    """

    image: str
    name: str
    repository: str = "/testbed"
    python: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write it into the folder that is to be shown, with the interpreter where built environments have theirs."""
        (folder / _FILE).write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")
        if self.python:
            (folder / "bin").mkdir()
            (folder / "bin/python").symlink_to(self.python)


def image_environment(folder: Path) -> ImageEnvironment | None:
    """What an environment's folder says of the image that it lies in; None of one that was built."""
    file = folder / _FILE
    if not file.is_file():
        return None
    document = json.loads(file.read_text("utf-8"))
    return ImageEnvironment(**{**document, "packages": tuple(document["packages"])})


def shown_image(mounts: Iterable[Mount]) -> ImageEnvironment | None:
    """The image of the environment that some mounts show; None where they show none, or one that was built."""
    return next((image_environment(each.source) for each in mounts if each.target == _ENVIRONMENT), None)
