"""Installing an agent: once per recipe, in a sandbox of its own, read-only afterwards.

An entry of the cache is `tree/`, which is mounted at /agent, `manifest`, which says what it must hold, and
`installed.json`, which says what came: the packages with their versions, and host folders the agent's interpreter lies
in.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput, Unavailable
from repoassay.sandbox import Access, Cache, Command, Mount, Sandbox, remove_tree, uv_program
from repoassay.types import Limits
from repoassay.workspace.build_output import is_intact, take_over
from repoassay.workspace.building import run_build

__all__ = ["AgentInterpreter", "Installed", "Recipe", "find_node", "find_python", "install_agent", "installed_at"]

_FILE = re.compile(r"file:(?://)?(/\S+)")
_PIP = """\
set -e
/run/uv venv --quiet --relocatable --allow-existing --no-project --no-python-downloads --python "$BASE_PYTHON" /agent
/run/uv pip install --quiet --python /agent/bin/python --compile-bytecode --link-mode hardlink -- "$@"
/run/uv pip freeze --python /agent/bin/python >/agent/.packages
"""
_NPM = """\
set -e
cd /agent
npm install --prefix /agent --install-links --no-audit --no-fund --no-update-notifier $FLAGS \\
    --loglevel error -- "$@"
npm ls --prefix /agent --all --parseable --long 2>/dev/null | sed 's/.*://' >/agent/.packages || true
"""


@dataclass(frozen=True, slots=True)
class AgentInterpreter:
    """A Python or Node of this machine: its program, the folder of its installation, and its version."""

    program: Path
    base: Path
    version: tuple[int, ...]

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What a sandbox must be shown besides the system's own folders."""
        return () if self.base.is_relative_to("/usr") else (Mount(self.base, str(self.base)),)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is installed: `kind` is pip or npm; `scripts` lets npm run the packages' own install scripts.

    `agent` is its name, for the sentence that says that it failed.
    """

    kind: str
    requirements: tuple[str, ...]
    scripts: bool = False
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Installed:
    """An agent in the cache: the folder for /agent, further mounts, folders for the path, and packages that came."""

    tree: Path
    mounts: tuple[Mount, ...] = ()
    path: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


def find_python(wanted: str) -> AgentInterpreter:
    """A Python of this machine: ours when it will do, else one that uv or the path knows.

    Args:
        wanted: `>=3.12` or `>=3.12,<3.13`.

    Raises:
        Unavailable: There is none.
    """
    if _within(sys.version_info[:2], wanted):
        base = Path(sys.base_prefix)
        program = base / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        return AgentInterpreter(program, base, tuple(sys.version_info[:3]))
    found = _other_python(wanted)
    if found is None:
        ours = ".".join(map(str, sys.version_info[:3]))
        raise Unavailable(
            f"It needs Python {wanted}, and this is {ours}.",
            f"Install such a Python beside it and put it on the path, or run: uv python install '{wanted}'",
        )
    return found


def _within(version: tuple[int, ...], wanted: str) -> bool:
    found = re.fullmatch(r">=(\d+)\.(\d+)(?:,<(\d+)\.(\d+))?", wanted)
    assert found is not None
    low = (int(found[1]), int(found[2]))
    return low <= version[:2] and (found[3] is None or version[:2] < (int(found[3]), int(found[4])))


@functools.cache
def _other_python(wanted: str) -> AgentInterpreter | None:
    found = _say([uv_program(), "python", "find", "--no-project", "--no-python-downloads", wanted])
    if not found:
        return None
    output = _say([found, "-I", "-c", "import sys; print(sys.base_prefix); print(*sys.version_info[:3])"])
    base, _, version = output.partition("\n")
    if not version:
        return None
    return AgentInterpreter(Path(found), Path(base), tuple(int(part) for part in version.split()))


@functools.cache
def find_node() -> AgentInterpreter | None:
    """The machine's Node, with npm beside it; None when it has none."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        return None
    program = Path(found).resolve()
    version = tuple(int(part) for part in re.findall(r"\d+", _say([str(program), "--version"]))[:3])
    return AgentInterpreter(program, program.parent.parent, version)


def _say(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def installed_at(key: str, cache: Cache) -> Installed | None:
    """The agent of a recipe's key when it is in the cache, else None."""
    entry = cache.path / "agents" / key
    if not entry.exists():
        return None
    with contextlib.suppress(OSError):  # when it was last of use, for collection by age
        os.utime(entry)
    return _read(entry) if is_intact(entry / "tree", entry / "manifest") else None


def install_agent(key: str, recipe: Recipe, interpreter: AgentInterpreter, cache: Cache, sandbox: Sandbox) -> Installed:
    """Return an agent of the cache, installing it when it is not there.

    Args:
        key: The recipe's identity.
        recipe: What is installed.
        interpreter: The Python or Node it is installed for.

    Raises:
        InfraFault: It could not be installed; the reason is uv's or npm's. Never cached.
        BadInput: A requirement names a file that is not there.
    """

    def build(part: Path) -> None:
        _build(part, recipe, interpreter, cache, sandbox)

    entry = cache.entry("agents", key, build)
    if not is_intact(entry / "tree", entry / "manifest"):
        remove_tree(entry)
        is_intact.cache_clear()
        entry = cache.entry("agents", key, build)
    return _read(entry)


def _read(entry: Path) -> Installed:
    document = json.loads((entry / "installed.json").read_text("utf-8"))
    return Installed(
        entry / "tree",
        tuple(Mount(Path(folder), folder) for folder in document["mounts"]),
        tuple(document["path"]),
        tuple(document["packages"]),
    )


def _build(part: Path, recipe: Recipe, interpreter: AgentInterpreter, cache: Cache, sandbox: Sandbox) -> None:
    tree = part / "tree"
    tree.mkdir()
    requirements, local = _local(recipe.requirements)
    build = Command(
        argv=("/bin/sh", "-c", _PIP if recipe.kind == "pip" else _NPM, "install", *requirements),
        env={
            "PATH": f"{interpreter.program.parent}:/usr/local/bin:/usr/bin:/bin",
            "BASE_PYTHON": str(interpreter.program),
            "FLAGS": "" if recipe.scripts else "--ignore-scripts",
        },
        mounts=(Mount(Path(uv_program()), "/run/uv"), *interpreter.mounts, *local),
        limits=Limits(seconds=1800, memory=6 * 2**30, disk=6 * 2**30, processes=1024),
    )
    run_build(
        f"The agent {recipe.agent} could not be installed".replace("  ", " "), tree, "/agent", build, cache, sandbox
    )
    take_over(tree, part / "manifest", leads_to=(interpreter.base,))
    packages = (tree / ".packages").read_text("utf-8", "replace").split("\n")
    (part / "installed.json").write_text(
        json.dumps(
            {
                "requirements": recipe.requirements,
                "interpreter": [str(interpreter.program), list(interpreter.version)],
                "mounts": [str(mount.source) for mount in interpreter.mounts],
                "path": [] if interpreter.program.parent == Path("/usr/bin") else [str(interpreter.program.parent)],
                "packages": sorted({line.strip() for line in packages if line.strip()}),
            },
            indent=2,
        )
    )


def _local(requirements: tuple[str, ...]) -> tuple[list[str], list[Mount]]:
    """Requirements with packages of this machine's disk (`file:///...`) where the sandbox sees them."""
    mounts: list[Mount] = []

    def moved(found: re.Match[str]) -> str:
        path = Path(found[1])
        if not path.exists():
            raise BadInput(f"There is no package {path}.", "Correct the agent's requirements.")
        target = f"/run/packages/{path.name}"
        # A build writes beside its sources; that is thrown away.
        mounts.append(Mount(path, target, Access.COPY_ON_WRITE if path.is_dir() else Access.READ))
        return f"file://{target}"

    return [_FILE.sub(moved, requirement) for requirement in requirements], mounts
