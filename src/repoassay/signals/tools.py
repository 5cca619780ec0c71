"""Where a tool comes from: the task's environment if it has it, else our own installation, shown read-only.

Of ours only the tool and what it needs is shown, so that a project's code does not find our packages instead of its.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from repoassay.sandbox import Mount

__all__ = ["CannotRun", "Tool", "base_python", "binary", "module", "python"]

_START = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); sys.argv = [sys.argv[2], *sys.argv[3:]];"
    " runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
_EXTRA = frozenset({"coverage", "lizard", "mypy", "pytest", "ruff"})
"""What our own extra `signals` brings."""
_TOOLS = "/signals-tools"
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class CannotRun(Exception):
    """A signal cannot be had; the message is the sentence that says why."""


@dataclass(frozen=True, slots=True)
class Tool:
    """How a tool is started inside, what must be mounted for it, whose it is, and folders to import it from."""

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    note: str = ""
    imports: str = ""


def base_python() -> str:
    """The interpreter that every sandbox shows, without packages."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


def python(environment: Path | None) -> str:
    """The interpreter that runs a project's code."""
    return "/env/bin/python" if environment else base_python()


def binary(name: str, environment: Path | None) -> Tool:
    """A program that needs no interpreter.

    Raises:
        CannotRun: When neither the environment nor our installation has it.
    """
    if environment and (environment / "bin" / name).is_file():
        return Tool((f"/env/bin/{name}",), note=f"{name} is the task environment's.")
    found = _distribution(name)
    for file in found.files or ():
        place = Path(str(found.locate_file(file)))
        if place.name == name and place.parent.name == "bin" and place.is_file():
            target = f"{_TOOLS}/bin/{name}"
            return Tool((target,), (Mount(place.resolve(), target),), _ours(name, found))
    raise _absent(name)


def module(name: str, environment: Path | None, *, alone: bool = True) -> Tool:
    """A tool that is a Python module; `alone` starts ours without the environment's packages.

    Raises:
        CannotRun: When neither the environment nor our installation has it.
    """
    if environment and next(environment.glob(f"lib/python*/site-packages/{name}/__init__.py"), None):
        return Tool(("/env/bin/python", "-P", "-m", name), note=f"{name} is the task environment's.")
    found = _distribution(name)
    folder = f"{_TOOLS}/{name}"
    mounts = tuple(Mount(place, f"{folder}/{place.name}") for place in _places(name))
    if alone:
        return Tool((base_python(), "-I", "-S", "-c", _START, folder, name), mounts, _ours(name, found), folder)
    return Tool((python(environment), "-P", "-m", name), mounts, _ours(name, found), folder)


def _ours(name: str, found: Distribution) -> str:
    return f"{name} {found.version} is RepoAssay's own; the task's environment has none."


def _absent(name: str) -> CannotRun:
    remedy = "; pip install 'repoassay[signals]'" if name in _EXTRA else ""
    return CannotRun(f"Neither the task's environment nor RepoAssay has {name}{remedy}.")


def _distribution(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise _absent(name) from None


@functools.cache
def _places(name: str) -> tuple[Path, ...]:
    """Top-level entries of a distribution of ours and of all that it requires."""
    seen: dict[str, None] = {}
    pending = [name]
    places: dict[Path, None] = {}
    while pending:
        wanted = pending.pop()
        if wanted in seen:
            continue
        seen[wanted] = None
        try:
            found = distribution(wanted)
        except PackageNotFoundError:
            continue  # a requirement of other systems or Pythons
        pending += _required(found)
        places |= dict.fromkeys(_entries(found))
    return tuple(places)


def _required(found: Distribution) -> Iterator[str]:
    for requirement in found.requires or ():
        name = _REQUIREMENT.match(requirement)
        if name and "extra ==" not in requirement.replace("extra==", "extra =="):
            yield name[0]


def _entries(found: Distribution) -> Iterator[Path]:
    for first in {file.parts[0] for file in found.files or ()}:
        # Metadata stay, as plugins are found by them; what starts with the interpreter or lies outside does not.
        if first not in ("..", "__pycache__") and not first.endswith(".pth"):
            yield Path(str(found.locate_file(first)))
