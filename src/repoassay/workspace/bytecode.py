"""The byte code of a checkout, as a layer above it, so that a submission's tests do not compile a repository anew.

Python takes a compiled file only when the source beside it has the time and size it was compiled from; what a patch
changed is compiled again. That time is in whole seconds, so the layer is finished only when the second of the newest
source is over: else a patch of the same size, applied within it, would be taken for the base. The layer is seen by
hidden tests alone: an agent's `git status` stays clean.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox import Cache, Command, ExportSpec, Mount, Sandbox, settle
from repoassay.types import Ended, Limits
from repoassay.workspace.interpreters import find_interpreter, interpreter_tree
from repoassay.workspace.variables import search_paths

__all__ = ["bytecode_of"]

_FORMAT = "3"
_PROGRAM = """
import importlib._bootstrap_external, importlib.util, os, sys, time
tree, out = sys.argv[1:]
newest = 0
own = importlib._bootstrap_external
written = getattr(own, "_code_to_timestamp_pyc", None) or own._code_to_bytecode  # the latter before 3.7
for folder, folders, files in os.walk(tree):
    folders[:] = [name for name in folders if name not in (".git", "__pycache__")]
    for name in files:
        source = os.path.join(folder, name)
        if not name.endswith(".py") or os.path.islink(source):
            continue
        target = os.path.join(out, os.path.relpath(importlib.util.cache_from_source(source), tree))
        try:
            status, data = os.stat(source), open(source, "rb").read()
            code = compile(data, source, "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # whoever imports it will see what is wrong
        os.makedirs(os.path.dirname(target), exist_ok=True)
        pyc = written(code, int(status.st_mtime), status.st_size)
        with open(target, "wb") as stream:
            stream.write(pyc)
        if status.st_mtime < time.time() + 1:  # later ones are of an archive
            newest = max(newest, int(status.st_mtime))
time.sleep(max(0, newest + 1.05 - time.time()))  # files have the time of the last tick
"""
_LIMITS = Limits(seconds=300, memory=2 * 2**30, disk=2**30)


def bytecode_of(base: Path, cache: Cache, sandbox: Sandbox, line: str | None = None) -> Path:
    """Return a folder of nothing but `__pycache__` folders, to be laid over a checkout at /workspace/repo.

    Compiling runs nothing of the repository, and is done in the sandbox nevertheless. It is done by the interpreter
    that environments are made from, never by one of them: what a task's packages left there must not write byte code
    that other tasks of the same checkout run.

    Args:
        base: The checkout.
        cache: Where it is kept.
        sandbox: Where it is compiled.
        line: The release line of Python that the task names, if it does.

    Raises:
        InfraFault: When it could not be done.
    """
    python = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    release, mounts, env = f"{sys.version} {sys.base_prefix}", [Mount(base, "/workspace/repo")], {}
    if line is not None:
        tree = interpreter_tree(find_interpreter(line), cache, sandbox)
        python, release, env = "/env/bin/python", tree.name, search_paths(tree)
        mounts.append(Mount(tree, "/env"))
    name = base.parent.name if base.name == "repo" else base.name  # of a build, or of a checkout
    identity = f"{_FORMAT} {name} {(base / '.git').stat().st_mtime_ns} {release}"

    def build(part: Path) -> None:
        done = sandbox.run(
            Command(
                argv=(python, "-I", "-S", "-c", _PROGRAM, "/workspace/repo", "/compiled"),
                env=env,
                mounts=tuple(mounts),
                scratch=("/compiled",),
                limits=_LIMITS,
                collect=(ExportSpec("/compiled", part, max_bytes=_LIMITS.disk, max_files=200_000),),
            )
        )
        if done.exit.ended is not Ended.EXITED or done.exit.code:
            message = done.stderr.decode(errors="replace").strip()[-300:]
            raise InfraFault(f"The checkout {base} could not be compiled: {done.exit.ended}. {message}")
        settle(part)

    return cache.entry("bytecode", hashlib.sha256(identity.encode()).hexdigest()[:32], build)
