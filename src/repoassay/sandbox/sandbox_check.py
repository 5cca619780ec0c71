"""Trying every bundled kind of sandbox besides the default one: `repoassay doctor`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from repoassay.errors import BadInput, RepoAssayError
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.capabilities import capabilities_of
from repoassay.sandbox.finding import HostFinding
from repoassay.sandbox.pods.cluster import CLUSTER
from repoassay.sandbox.protocol import Mount, Sandbox, SandboxSetup
from repoassay.sandbox.remote.client import URL
from repoassay.sandbox.sandbox import (
    open_apptainer,
    open_bubblewrap,
    open_docker,
    open_http,
    open_kubernetes,
    open_podman,
)
from repoassay.sandbox.scratch import temporary_folder
from repoassay.types import Limits

__all__ = ["examine_sandboxes"]

_KINDS: dict[str, tuple[str, Callable[[Cache], Sandbox]]] = {
    "bubblewrap": ("bwrap", open_bubblewrap),
    "podman": ("podman", open_podman),
    "docker": ("docker", open_docker),
    "apptainer": ("apptainer", open_apptainer),
}
_NAMED: dict[str, tuple[str, str, Callable[[Cache], Sandbox]]] = {
    "kubernetes": (CLUSTER, "cluster", open_kubernetes),
    "http": (URL, "server", open_http),
}
"""Those that work elsewhere, which is done only where a variable says where."""
_NETWORK_IS_SEEN = ("kubernetes",)
"""Those whose sessions have an interface, and open only after it was seen to lead nowhere."""
_LIMITS = Limits(seconds=10)
_INTERFACES = "cat /proc/net/dev"


def examine_sandboxes(cache: Cache) -> list[HostFinding]:
    """A finding for each, made by opening a session; none is needed, so that none is `missing`."""
    installed = [_examine(name, program, make, cache) for name, (program, make) in _KINDS.items()]
    return [*installed, *(_examine_named(name, *arguments, cache) for name, arguments in _NAMED.items())]


def _examine_named(
    name: str, variable: str, thing: str, make: Callable[[Cache], Sandbox], cache: Cache
) -> HostFinding:  # fmt: skip
    if not os.environ.get(variable):
        return HostFinding(name, "ok", f"not set: the variable {variable} names no {thing}; nothing needs it")
    return _tried(name, make, cache)


def _examine(name: str, program: str, make: Callable[[Cache], Sandbox], cache: Cache) -> HostFinding:
    if shutil.which(program) is None:
        return HostFinding(name, "ok", f"not installed: there is no program {program}; nothing needs it")
    return _tried(name, make, cache)


def _tried(name: str, make: Callable[[Cache], Sandbox], cache: Cache) -> HostFinding:
    try:
        sandbox = make(cache)
        fault = _fault_of(sandbox, has_loopback_alone=name not in _NETWORK_IS_SEEN)
    except BadInput as error:  # installed, and nobody has said which image
        return HostFinding(name, "ok", f"installed, not tried: {error.message}", error.remedy)
    except (RepoAssayError, OSError) as error:
        message = error.message if isinstance(error, RepoAssayError) else str(error)
        return HostFinding(name, "degraded", f"installed, but cannot: {message}", "Nothing needs it.")
    if fault:
        return HostFinding(name, "degraded", f"installed, but does not isolate: {fault}", "Do not use it.")
    grade = capabilities_of(sandbox).grade.value
    return HostFinding(name, "ok", f"usable: a session ran, without network or files of this machine; grade {grade}")


def _fault_of(sandbox: Sandbox, *, has_loopback_alone: bool) -> str:
    """What a session could reach and should not; empty for nothing."""
    with temporary_folder("doctor") as folder:
        outside = Path(folder, "outside")
        outside.write_text("not to be seen")
        mounted = Path(folder, "mounted")
        mounted.mkdir()
        mounted.chmod(0o777)  # so that nothing but the sandbox is in the way
        with sandbox.open(SandboxSetup(limits=_LIMITS, mounts=(Mount(mounted, "/mounted"),))) as session:
            if session.exec(["true"]).exit.code != 0:
                return "a command in it failed"
            output = session.exec(["/bin/sh", "-c", _INTERFACES]).stdout.decode(errors="replace")
            names = [line.split(":")[0].strip() for line in output.splitlines() if ":" in line]
            if has_loopback_alone and names != ["lo"]:
                return f"it sees the network interfaces {names}"
            if session.exec(["/bin/sh", "-c", 'test -e "$1"', "sh", str(outside)]).exit.code == 0:
                return "it sees files of this machine"
            session.exec(["/bin/sh", "-c", "echo changed > /mounted/file; echo changed > /usr/repoassay-doctor"])
            if list(mounted.iterdir()):
                return "what is written in a read-only mount reaches this machine"
            if session.exec(["/bin/sh", "-c", "test -e /usr/repoassay-doctor"]).exit.code == 0:
                return "the operating system's files can be written"
    return ""
