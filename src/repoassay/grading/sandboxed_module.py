"""Running a module of ours in a sandbox, for files that nobody trusts: what opens them has no network and an end."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import repoassay
from repoassay.sandbox import Command, ExportSpec, Mount
from repoassay.types import Ended, Exit, Limits

__all__ = ["hit_limit", "run_sandboxed"]

_PACKAGE = Path(repoassay.__file__).resolve().parent
_START = (
    "import sys; from importlib import import_module; name, sys.path[:0] = sys.argv[1], sys.argv[2:];"
    " import_module(name).main()"
)
# One thread a library: workers run side by side.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")
_NO_ENV: Mapping[str, str] = MappingProxyType({})


def run_sandboxed(
    module: str,
    *,
    stdin: bytes,
    mounts: Sequence[Mount],
    limits: Limits,
    env: Mapping[str, str] = _NO_ENV,
    scratch: Sequence[str] = (),
    collect: Sequence[ExportSpec] = (),
    path: Sequence[str] = (),
    channel: bool = False,
    on_channel: Callable[[bytes], None] | None = None,
) -> Command:
    """A command that calls `main()` of one of our modules, which sees our libraries and what is mounted.

    Args:
        module: Its full name.
        stdin: What it is told.
        mounts: What it sees beside the libraries.
        limits: What it may use in all.
        env: Further variables.
        scratch: Empty folders it may write to.
        collect: What of these crosses out.
        path: Folders inside that modules are searched in beside the libraries.
        channel: Whether it has a channel (see `Command`).
        on_channel: Called with what comes by the channel.
    """
    # The interpreter itself, not a link of our environment to it, which may lead through folders nobody sees there.
    libraries = list(dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib")))
    return Command(
        argv=(os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", _START, module, str(_PACKAGE.parent),
              *libraries, *path),
        env={**dict.fromkeys(_THREADS, "1"), **env},
        stdin=stdin,
        mounts=(*(Mount(Path(path), path) for path in [*libraries, str(_PACKAGE)]), *mounts),
        scratch=tuple(scratch),
        limits=limits,
        channel=channel,
        on_channel=on_channel,
        collect=tuple(collect),
    )  # fmt: skip


def hit_limit(exit_: Exit) -> str:
    """What ended a program while it was at a file."""
    if exit_.ended is Ended.TIMED_OUT or exit_.signal == 24:  # SIGXCPU
        return "opening it takes more time than is allowed"
    if exit_.ended is Ended.OUT_OF_MEMORY or exit_.signal == 9:
        return "opening it takes more memory than is allowed"
    return f"the program that opens it crashed ({exit_.ended.value}, {exit_.code or exit_.signal})"
