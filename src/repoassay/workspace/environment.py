"""The Python environment of a task: by content, built once by uv in a sandbox of its own, read-only afterwards.

Of pinned requirements only wheels with a stated sha256 are installed, so that building runs nobody's code. Those still
to be resolved, as data sets of others have them, may bring a `setup.py`: see `building.py` for what it can reach.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from pathlib import Path

from repoassay.errors import BadInput, Unavailable
from repoassay.sandbox import Cache, Command, Mount, Sandbox, uv_program
from repoassay.tasks import TaskFolder
from repoassay.types import Limits
from repoassay.workspace.build_output import intact_entry, manifest_place, take_over
from repoassay.workspace.building import run_build
from repoassay.workspace.installation import build_installation
from repoassay.workspace.node import check_node

__all__ = ["build_environment"]

_FORMAT = "2"
_SCRIPT = """\
set -e
/run/uv venv --quiet --relocatable --allow-existing --no-project --python "$BASE_PYTHON" /env
if [ -s /run/requirements.txt ]; then
    /run/uv pip install --quiet --python /env/bin/python --require-hashes --only-binary :all: --no-deps \\
        --compile-bytecode --link-mode hardlink --requirements /run/requirements.txt
fi
if [ -e /run/resolve.txt ]; then
    /run/uv pip install --quiet --python /env/bin/python --compile-bytecode --link-mode hardlink \\
        --requirements /run/resolve.txt pytest
fi
"""


def build_environment(folder: TaskFolder, cache: Cache, sandbox: Sandbox) -> Path:
    """Return the environment of a task, to be mounted read-only at /env; built when it is not in the cache.

    Raises:
        BadInput: When the task has Debian packages for an environment that is no installation of its own.
        InfraFault: When uv cannot build it; the reason is uv's. Never cached.
        Unavailable: When this machine lacks the Python or Node that the task needs.
    """
    wanted = folder.task.environment
    if wanted.node is not None:
        check_node(wanted.node, f"The task {folder.task.id}")
    if wanted.release_line is not None:
        return build_installation(folder, wanted.release_line, cache, sandbox)
    _check_python(wanted.python, folder.task.id)
    if wanted.apt:
        raise BadInput(
            f"The task {folder.task.id} names Debian packages, but no release line of Python.",
            "Write environment.python as one, such as '3.11'.",
        )
    file = wanted.requirements or wanted.resolve
    requirements = (folder.path / file).read_bytes() if file else b""
    kind = "resolve " if wanted.resolve else ""
    identity = f"{_FORMAT} {platform.machine()} {sys.version} {sys.base_prefix} {kind}".encode() + requirements
    key = hashlib.sha256(identity).hexdigest()[:32]

    def build(part: Path) -> None:
        _build(part, requirements, cache, sandbox, resolve=bool(wanted.resolve))

    return intact_entry(cache, "environments", key, build)


def _check_python(wanted: str, task: str) -> None:
    found = re.fullmatch(r">=\s*(\d+)\.(\d+)", wanted.strip())
    if found is None or sys.version_info[:2] < (int(found[1]), int(found[2])):
        raise Unavailable(
            f"The task {task} needs Python {wanted}, and this is {platform.python_version()}.",
            "Run repoassay with such a Python.",
        )


def _build(part: Path, requirements: bytes, cache: Cache, sandbox: Sandbox, *, resolve: bool) -> None:
    listing = part.with_suffix(".requirements")
    listing.write_bytes(requirements)
    listing.chmod(0o644)
    base_python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    build = Command(
        argv=("/bin/sh", "-c", _SCRIPT),
        env={"BASE_PYTHON": str(base_python)},
        mounts=(
            Mount(Path(uv_program()), "/run/uv"),
            Mount(listing, "/run/resolve.txt" if resolve else "/run/requirements.txt"),
        ),
        limits=Limits(seconds=900, memory=4 * 2**30, disk=4 * 2**30, processes=512),
    )
    try:
        run_build("The environment could not be built", part, "/env", build, cache, sandbox)
    finally:
        listing.unlink()
    take_over(part, manifest_place(part), leads_to=(Path(sys.base_prefix),))
