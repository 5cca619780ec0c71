"""Interpreters of this machine by release line, and copies of them that environments are made from.

Any CPython that uv manages, that pyenv built, or that lies on the path will do, but the system's own: what its packages
are is the distribution's affair. Of an installation only the interpreter is copied, not what somebody added to it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import InfraFault, Unavailable
from repoassay.sandbox import Access, Cache, Command, HostFinding, Mount, Sandbox, settle, uv_program
from repoassay.types import Ended, Limits
from repoassay.workspace.build_output import intact_entry, manifest_place, take_over

__all__ = [
    "RELEASE_LINES",
    "CPython",
    "find_interpreter",
    "how_to_get",
    "interpreter_findings",
    "interpreter_tree",
    "release_lines",
]

RELEASE_LINES = tuple(f"3.{minor}" for minor in range(6, 15))
"""What tasks may ask for, oldest first."""
_FORMAT = "2"
_PROBE = """
import sys, platform
print(sys.implementation.name, platform.machine(), "%d.%d.%d" % sys.version_info[:3])
print(sys.base_prefix)
print(" ".join(sys.version.split()))
"""
_LEFT_OUT = frozenset(
    ("__pycache__", "site-packages", "dist-packages", "test", "tests", "idle_test", "idlelib", "turtledemo",
     "EXTERNALLY-MANAGED")
)  # fmt: skip
_SCRIPT = """\
set -e
/env/bin/python -I -c 'import hashlib, json, zlib'
/env/bin/python -I -m ensurepip --default-pip >&2
/env/bin/python -I -m compileall -q -j 2 /env/lib || true
"""
_SECONDS = 30


@dataclass(frozen=True, slots=True)
class CPython:
    """A CPython of this machine: its program, the folder of its installation, its version, and what it says it is."""

    program: Path
    base: Path
    version: tuple[int, int, int]
    build: str

    @property
    def line(self) -> str:
        """Its release line, such as `3.9`."""
        return "{}.{}".format(*self.version)

    @property
    def key(self) -> str:
        """Its identity: equal only for equal builds."""
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in self._binaries()]
        return hashlib.sha256("\0".join((_FORMAT, self.build, *digests)).encode()).hexdigest()[:32]

    def _binaries(self) -> list[Path]:
        return [self.program.resolve(), *sorted(self.base.glob(f"lib/libpython{self.line}*.so.*"))]


def find_interpreter(line: str) -> CPython:
    """The newest CPython of a release line that this machine has.

    Raises:
        Unavailable: It has none; the remedy is the command that gets it.
    """
    found = _installed(line)
    if found is None:
        raise Unavailable(f"This machine has no Python {line} that an environment can be made from.", how_to_get(line))
    return found


def release_lines() -> tuple[str, ...]:
    """Release lines that this machine has an interpreter of, oldest first."""
    return tuple(line for line in RELEASE_LINES if _installed(line))


def how_to_get(line: str) -> str:
    """The command that installs an interpreter of a release line."""
    return f"Run: {_command(line)}"


def _command(line: str) -> str:
    return f"pyenv install {line}" if line in ("3.5", "3.6", "3.7") else f"uv python install {line}"


@functools.cache
def _installed(line: str) -> CPython | None:
    probed = (_probe(program) for program in dict.fromkeys(_candidates(line)))
    fit = [each for each in probed if each is not None and each.line == line]
    return max(fit, key=lambda each: each.version, default=None)


def _candidates(line: str) -> Iterator[Path]:
    name = f"python{line}"
    yield from (path for path in _managed() if path.name == name or f"-{line}." in str(path))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    with contextlib.suppress(OSError):  # somebody else's, who does not let this account look
        yield from sorted(pyenv.glob(f"versions/{line}.*/bin/{name}"), reverse=True)
    for folder in map(Path, os.get_exec_path()):
        if folder != pyenv / "shims" and os.access(program := folder / name, os.X_OK):
            yield program


@functools.cache
def _managed() -> tuple[Path, ...]:
    command = [uv_program(), "python", "list", "--only-installed", "--managed-python", "--output-format", "json"]
    try:
        return tuple(Path(each["path"]) for each in json.loads(_say(command)) if each.get("path"))
    except (ValueError, LookupError, TypeError):
        return ()


def _probe(program: Path) -> CPython | None:
    """None for what does not run, another implementation, another machine's, and the system's own."""
    lines = _say([str(program), "-I", "-S", "-c", _PROBE]).split("\n")
    about = lines[0].split()
    if len(lines) != 3 or len(about) != 3 or about[0] != "cpython" or about[1] != os.uname().machine:
        return None
    base = Path(lines[1])
    if base == Path("/usr") or re.fullmatch(r"\d+\.\d+\.\d+", about[2]) is None:
        return None
    major, minor, patch = (int(part) for part in about[2].split("."))
    real = base / "bin" / f"python{major}.{minor}"
    return CPython(real, base, (major, minor, patch), lines[2]) if real.is_file() else None


def _say(argv: list[str]) -> str:
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def interpreter_findings() -> list[HostFinding]:
    """Which release lines environments can be made for, as findings for `repoassay doctor`."""
    found = {line: _installed(line) for line in RELEASE_LINES}
    versions = ", ".join(".".join(map(str, each.version)) for each in found.values() if each) or "none"
    missing = [line for line, each in found.items() if each is None]
    remedy = f"For tasks that need others: {'; '.join(map(_command, missing))}" if missing else ""
    return [HostFinding("interpreters", "degraded" if missing else "ok", versions, remedy)]


def interpreter_tree(interpreter: CPython, cache: Cache, sandbox: Sandbox) -> Path:
    """The interpreter as an installation that works at /env, with its byte code and its own pip; read-only.

    Raises:
        InfraFault: It does not run away from where it was installed.
    """

    def build(part: Path) -> None:
        _copy(interpreter, part)
        settle(part)
        _complete(interpreter, part, sandbox)
        take_over(part, manifest_place(part))

    return intact_entry(cache, "interpreters", interpreter.key, build)


def _copy(interpreter: CPython, part: Path) -> None:
    line, base = interpreter.line, interpreter.base
    for name in ("bin", "include", "lib"):
        (part / name).mkdir()
    program = part / "bin" / f"python{line}"
    program.write_bytes(_at_home(interpreter.program.resolve().read_bytes(), base))
    program.chmod(0o755)
    for name in ("python", "python3"):
        (part / "bin" / name).symlink_to(program.name)
    wanted = [*base.glob(f"include/python{line}*"), *base.glob(f"lib/libpython{line}*.so*"), *_graphics(base)]
    for source in [base / "lib" / f"python{line}", *wanted]:
        target = part / source.relative_to(base)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=False, ignore=_ignored)
        else:
            shutil.copy2(source, target, follow_symlinks=False)
    (part / "lib" / f"python{line}" / "site-packages").mkdir()
    for file in part.glob(f"lib/python{line}/**/_sysconfigdata*.py"):
        file.write_text(file.read_text("utf-8").replace(str(base), "/env"), "utf-8")


def _graphics(base: Path) -> list[Path]:
    """Tcl and Tk, where they came with the interpreter."""
    return [path for pattern in ("tcl", "tk", "libtcl", "libtk") for path in base.glob(f"lib/{pattern}[0-9]*")]


def _ignored(folder: str, names: list[str]) -> set[str]:
    place = Path(folder)
    if place.name == "test" and place.parent.name.startswith("python3."):  # test suites of others import its helpers
        return set(names) - {"__init__.py", "support"}
    kept = {"test"} if place.name.startswith("python3.") else set()
    return {name for name in names if name in _LEFT_OUT - kept or name.endswith((".a", ".pyc", ".exe"))}


def _at_home(binary: bytes, base: Path) -> bytes:
    """A program whose run path, where it has one, is the `lib` beside its own folder."""
    old, new = f"{base}/lib".encode() + b"\0", b"$ORIGIN/../lib\0"
    return binary.replace(b"\0" + old, b"\0" + new.ljust(len(old), b"\0")) if len(new) <= len(old) else binary


def _complete(interpreter: CPython, part: Path, sandbox: Sandbox) -> None:
    done = sandbox.run(
        Command(
            argv=("/bin/sh", "-c", _SCRIPT),
            env={"LD_LIBRARY_PATH": "/env/lib", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            mounts=(Mount(part, "/env", Access.WRITE),),
            limits=Limits(seconds=300, memory=2 * 2**30, disk=2**30),
        )
    )
    if done.exit.ended is not Ended.EXITED or done.exit.code:
        text = done.stderr.decode(errors="replace").strip()[-300:]
        raise InfraFault(
            f"The Python {interpreter.line} at {interpreter.base} does not work as a copy: {text or done.exit.ended}.",
            f"Get another one. {how_to_get(interpreter.line)}",
        )
