"""Environments of one release line of Python: an installation of its own, interpreter and packages in one tree.

Built from a private copy of the interpreter, into which a hostile package may write what it likes; what is the same
afterwards becomes one file on disk again.
"""

from __future__ import annotations

import hashlib
import platform
import re
from pathlib import Path

from repoassay.errors import Unavailable
from repoassay.sandbox import Cache, Command, Mount, Sandbox, settle, uv_program
from repoassay.tasks import TaskFolder
from repoassay.types import Limits
from repoassay.workspace.apt_layer import SHOWN, apt_layer
from repoassay.workspace.build_index.rules import IndexRules
from repoassay.workspace.build_output import intact_entry, manifest_place, take_over
from repoassay.workspace.building import run_build
from repoassay.workspace.interpreters import find_interpreter, interpreter_tree
from repoassay.workspace.sharing import copy_tree, file_states, share_files
from repoassay.workspace.variables import search_paths

__all__ = ["build_installation"]

_FORMAT = "2"
_SCRIPT = """\
set -e
install() {
    /run/uv pip install --quiet --python /env/bin/python --link-mode hardlink "$@"
}
if [ -s /run/requirements.txt ]; then
    install --require-hashes --only-binary :all: --no-deps --requirements /run/requirements.txt
fi
if [ -e /run/resolve.txt ]; then
    printf '%s\\n' "$BUILT_WITH" >/tmp/built-with.txt
    if [ -n "$FROZEN" ]; then
        install --no-deps --requirements /run/resolve.txt --build-constraints /tmp/built-with.txt
        [ -z "$PYTEST" ] || install --constraints /run/resolve.txt $PYTEST
    else
        install --requirements /run/resolve.txt --build-constraints /tmp/built-with.txt $PYTEST
    fi
fi
# uv compiles for no Python before 3.7; packages may hold what is no Python of this release line.
/env/bin/python -I -m compileall -qq -j 0 /env/lib >/dev/null || true
"""
_PYTEST = re.compile(rb"(?im)^\s*pytest\s*(?:[<>=!~\[;@#\s]|$)")
_SETUPTOOLS = re.compile(rb"(?im)^\s*setuptools\s*==\s*(\d+)\.(\d+)")
_FIRST_OF_PEP_517 = (40, 8)


def build_installation(folder: TaskFolder, line: str, cache: Cache, sandbox: Sandbox) -> Path:
    """Return the environment of a task that names a release line, to be mounted read-only at /env.

    Raises:
        InfraFault: When it cannot be built; the reason is uv's. Never cached.
        Unavailable: When this machine has no such Python or Debian package, or nothing is isolated.
    """
    wanted = folder.task.environment
    if sandbox.name == "none":  # its paths would be those of one run
        raise Unavailable(
            f"The task {folder.task.id} brings a Python of its own at /env, which no run without isolation has.",
            "Run it with --isolation namespaces.",
        )
    interpreter = interpreter_tree(find_interpreter(line), cache, sandbox)
    file = wanted.requirements or wanted.resolve
    requirements = (folder.path / file).read_bytes() if file else b""
    kind = "frozen" if wanted.frozen else "resolve" if wanted.resolve else "pinned"
    apt = apt_layer(wanted.apt, cache, sandbox) if wanted.apt else None
    rules = IndexRules.until(wanted.exclude_newer) if wanted.exclude_newer else None
    parts = [_FORMAT, platform.machine(), interpreter.name, kind, rules.identity if rules else "-"]
    identity = " ".join([*parts, apt.name] if apt else parts)
    key = hashlib.sha256(identity.encode() + b"\n" + requirements).hexdigest()[:32]

    def build(part: Path) -> None:
        copy_tree(interpreter, part)
        if apt:
            copy_tree(apt, part / "apt")
        settle(part)
        copied = file_states(part)
        if requirements or wanted.resolve:
            _install(part, folder, requirements, cache, sandbox, rules)
        share_files(part, interpreter, copied=copied)
        if apt:
            share_files(part / "apt", apt)
        take_over(part, manifest_place(part), leads_to=SHOWN if apt else (), shared_with=interpreter)

    return intact_entry(cache, "environments", key, build)


def _install(
    part: Path, folder: TaskFolder, requirements: bytes, cache: Cache, sandbox: Sandbox, rules: IndexRules | None
) -> None:
    wanted = folder.task.environment
    listing = part.with_suffix(".requirements")
    listing.write_bytes(requirements)
    listing.chmod(0o644)
    build = Command(
        argv=("/bin/sh", "-c", _SCRIPT),
        env={
            **search_paths(part),
            "PYTEST": "" if _PYTEST.search(requirements) else "pytest",
            "FROZEN": "yes" if wanted.frozen else "",
            "BUILT_WITH": _built_with(requirements),
        },
        mounts=(
            Mount(Path(uv_program()), "/run/uv"),
            Mount(listing, "/run/resolve.txt" if wanted.resolve else "/run/requirements.txt"),
        ),
        limits=Limits(seconds=1800, memory=8 * 2**30, disk=4 * 2**30, processes=512),
    )
    try:
        run_build("The environment could not be built", part, "/env", build, cache, sandbox, rules=rules)
    finally:
        listing.unlink()


def _built_with(requirements: bytes) -> str:
    """What source distributions are built with: no setuptools that is younger than the one the task pins.

    Old ones need what later ones dropped, and pip built them with what the environment had.
    """
    found = _SETUPTOOLS.search(requirements)
    if found is None:
        return ""
    major, minor = max((int(found[1]), int(found[2])), _FIRST_OF_PEP_517)
    return f"setuptools<={major}.{minor}.999"
