"""Containers whose image is the task's own: each command runs in the image that its environment lies in."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from repoassay.errors import BadInput, InfraFault, NoIsolation, Unavailable
from repoassay.sandbox.containers import ContainerSandbox
from repoassay.sandbox.protocol import Command, Completed, Sandbox, SandboxSession, SandboxSetup
from repoassay.sandbox.shown_environment import shown_image
from repoassay.text import printable

__all__ = ["FoundImage", "TaskImageSandbox", "is_image_template", "refuse_task_images"]

_FIELDS = ("{image}", "{name}")
_ASKING, _PULLING = 60.0, 4 * 3600.0


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image that the engine has: its id, the name it was asked for by, and variables that it sets."""

    id: str
    name: str
    variables: dict[str, str]


def is_image_template(image: str) -> bool:
    """Whether a name of an image is to be filled in for each task."""
    return "{" in image


class TaskImageSandbox:
    """Runs what belongs to a task in a container of that task's image, and everything else in the default sandbox.

    Args:
        engine: `docker` or `podman`.
        template: What images are called: `{image}` is the task's, `{name}` its last part.
        beside: Opens the sandbox of what belongs to no task's image, such as the installation of an agent.

    Raises:
        BadInput: When the template has neither field, or another.
        NoIsolation: When the engine is not installed, or does not answer.
    """

    capabilities = ContainerSandbox.capabilities
    network_is_private = True

    def __init__(self, engine: str, template: str, beside: Callable[[], Sandbox]) -> None:
        rest = template
        for each in _FIELDS:
            rest = rest.replace(each, "")
        if rest == template or "{" in rest or "}" in rest:
            raise BadInput(
                f"The images of --isolation {engine}@{printable(template, 200)} cannot be told.",
                f"Write {engine}@{{image}} for each task's own image, or REGISTRY/{{name}} for those of a registry.",
            )
        found = shutil.which(engine)
        if found is None:
            raise NoIsolation(f"{engine} is not installed: there is no program {engine}.", "Install it.")
        self._engine, self._program, self._template, self._beside = engine, found, template, beside
        self._default: Sandbox | None = None
        self._lock = threading.Lock()
        self.name = f"{engine}@{template}"
        done = self._ask("version")
        if done.returncode != 0:
            raise NoIsolation(f"{engine} does not answer: {_last_line(done)}.", f"See what `{engine} version` says.")

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        return self._of(command).run(command, cancel)

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        """Open a session; see `Sandbox`."""
        return self._of(setup).open(setup, cancel)

    def named(self, image: str) -> str:
        """What the image of a task is called here."""
        return self._template.replace("{image}", image).replace("{name}", image.rpartition("/")[2])

    def find(self, name: str) -> FoundImage:
        """Look an image up; nothing is fetched.

        Raises:
            InfraFault: When the engine does not have it.
        """
        done = self._ask("image", "inspect", name)
        if done.returncode != 0:
            raise InfraFault(
                f"{self._engine} does not have the image {name}: {_last_line(done)}.",
                f"Get it with: {self._engine} pull {_full_name(name)}",
            )
        try:
            (image,) = json.loads(done.stdout)
            pairs = (pair.partition("=") for pair in image["Config"].get("Env") or ())
            return FoundImage(image["Id"].rpartition(":")[2], name, {name: value for name, _, value in pairs})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InfraFault(f"{self._engine} says of the image {name} what cannot be read: {error!r}.") from error

    def pull_missing(self, name: str) -> bool:
        """Fetch an image from its registry unless it is here, and say whether it was fetched.

        Raises:
            Unavailable: When it cannot be had.
        """
        if self._ask("image", "inspect", name).returncode == 0:
            return False
        done = self._ask("pull", "--quiet", _full_name(name), seconds=_PULLING)
        if done.returncode != 0:
            raise Unavailable(f"The image {_full_name(name)} cannot be pulled: {_last_line(done)}.")
        return True

    def _of(self, setup: SandboxSetup) -> Sandbox:
        shown = shown_image(setup.mounts)
        if shown is not None:
            return ContainerSandbox(self._engine, shown.image, pulls=False)
        with self._lock:
            self._default = self._default or self._beside()
            return self._default

    def _ask(self, *words: str, seconds: float = _ASKING) -> subprocess.CompletedProcess[Any]:
        try:
            return subprocess.run(
                [self._program, *words], capture_output=True, text=True, errors="replace", check=False,
                stdin=subprocess.DEVNULL, timeout=seconds,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InfraFault(f"{self._engine} {words[0]} failed: {error}.") from error


def refuse_task_images(sandbox: Sandbox, who: str) -> None:
    """Raise `BadInput` where `who`, which looks for repositories at their usual place, is given images of tasks."""
    if isinstance(sandbox, TaskImageSandbox):
        raise BadInput(f"{who} cannot use each task's own image.", "Give another isolation, such as namespaces.")


def _full_name(name: str) -> str:
    """A name with its registry, which Podman does not guess: Docker's own where it says none."""
    first, slash, _ = name.partition("/")
    return name if slash and (first == "localhost" or "." in first or ":" in first) else f"docker.io/{name}"


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"it ended with {done.returncode}"]
    return printable(lines[-1].strip(), 300).rstrip(".")
