"""From an agent's recipe to what is mounted at /agent: availability on this machine, and the install itself."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from repoassay.agents.spec import AgentSpec, Install
from repoassay.errors import Unavailable
from repoassay.sandbox import Cache, Sandbox
from repoassay.workspace import AgentInterpreter, Installed, Recipe, find_node, find_python, install_agent, installed_at

__all__ = ["Availability", "availability", "installed", "obtain"]

_FORMAT = "2"
_BUILT = {".git", ".venv", "__pycache__", "node_modules", "build", "dist"}
_SHOWN = "/usr/local/bin:/usr/bin:/bin"
"""Where programs of the machine are that the sandbox shows."""
_NODE = "Install it with your system's package manager, or from nodejs.org."


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an agent can run here: `installed`, `available` (can be installed), or `missing` something."""

    state: str
    why: str = ""
    remedy: str = ""


def availability(spec: AgentSpec, cache: Cache) -> Availability:
    """What `repoassay agents list` says of an agent; installs nothing and needs no network."""
    try:
        found = installed(spec, cache)
        if found is None:
            _published(spec)
    except Unavailable as error:
        return Availability("missing", error.message, error.remedy)
    return Availability("installed" if found is not None else "available")


def installed(spec: AgentSpec, cache: Cache) -> Installed | None:
    """The agent when it is in the cache or needs no install, else None.

    Raises:
        Unavailable: This machine lacks something it needs.
    """
    _check_needs(spec.install)
    if spec.install.kind == "none":
        if spec.install.unpublished and shutil.which(spec.run.command[0], path=_SHOWN) is None:
            raise Unavailable(
                f"{spec.run.command[0]} is not here: {spec.install.unpublished}.",
                "Install it below /usr/local, which the sandbox shows.",
            )
        return Installed(Path("/nonexistent"))
    if spec.install.kind == "folder":
        return _folder(spec)
    return installed_at(_key(spec.install, _interpreter(spec.install)), cache)


def _folder(spec: AgentSpec) -> Installed:
    folder = Path(spec.install.folder)
    if not folder.exists():
        raise Unavailable(
            f"{folder}, which {spec.name} is made of, is not there.", "Correct install.folder in its file."
        )
    return Installed(folder)


def obtain(spec: AgentSpec, cache: Cache, sandbox: Sandbox) -> Installed:
    """The agent, installed when it is not in the cache.

    Raises:
        Unavailable: This machine lacks something it needs.
        InfraFault: It could not be installed.
    """
    try:
        found = installed(spec, cache)
        if found is not None:
            return found
        _published(spec)
        interpreter = _interpreter(spec.install)
    except Unavailable as error:
        raise Unavailable(f"The agent {spec.name} cannot run here: {error.message}", error.remedy) from error
    key = _key(spec.install, interpreter)
    recipe = Recipe(spec.install.kind, spec.install.requirements, spec.install.scripts, spec.name)
    return install_agent(key, recipe, interpreter, cache, sandbox)


def _published(spec: AgentSpec) -> None:
    if spec.install.unpublished:
        raise Unavailable(
            f"{spec.name} cannot be installed from a registry: {spec.install.unpublished}",
            "Copy its file, give the requirement's place as `name @ URL or file:///path`, and use --agent FILE.",
        )


def _interpreter(install: Install) -> AgentInterpreter:
    if install.kind == "pip":
        return find_python(install.python)
    node = find_node()
    if node is None:
        raise Unavailable("It needs Node with npm, which is not on the path.", _NODE)
    return node


def _check_needs(install: Install) -> None:
    for need in install.needs:
        name, _, lowest = need.partition(">=")
        if name == "node":
            node = find_node()
            if node is None:
                raise Unavailable("It needs Node with npm, which is not on the path.", _NODE)
            if node.version < tuple(int(part) for part in lowest.split(".")):
                here = ".".join(map(str, node.version))
                raise Unavailable(f"It needs Node {lowest} or newer, and this is {here}.", _NODE)
        elif name == "python":
            find_python(f">={lowest}" if "." in lowest else f">={lowest}.0")
        elif name == "docker":
            if shutil.which("docker") is None or not Path("/var/run/docker.sock").exists():
                raise Unavailable("It needs Docker, which does not run here.", "Install and start Docker.")
        elif name != "network" and shutil.which(name) is None:
            raise Unavailable(f"It needs {name}, which is not on the path.", f"Install {name}.")


def _key(install: Install, interpreter: AgentInterpreter) -> str:
    """Identity of an install: the recipe, the machine, and the interpreter it is for (a Node's minor may change)."""
    version = interpreter.version if install.kind == "pip" else interpreter.version[:1]
    recipe = [
        _FORMAT,
        platform.machine(),
        install.kind,
        str(install.scripts),
        *install.requirements,
        str(interpreter.base),
        *map(str, version),
    ]
    files = [_content(requirement) for requirement in install.requirements]
    return hashlib.sha256(json.dumps([recipe, files]).encode()).hexdigest()[:32]


def _content(requirement: str) -> str:
    """The digest of a package that is a file or folder of this machine, which may change under its name."""
    found = re.search(r"file:(?://)?(/\S+)", requirement)
    if found is None:
        return ""
    place = Path(found[1])
    files = [place] if place.is_file() else _sources(place)
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(place)}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest() if files else ""


def _sources(folder: Path) -> list[Path]:
    """The files of a source folder that a build may look at, in order."""
    found = []
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(set(inner) - _BUILT)
        found += [path for name in sorted(names) if (path := Path(place, name)).is_file() and not path.is_symlink()]
    return found
