"""The sandbox that bubblewrap (`bwrap`) sets up, for machines where it may make namespaces and Python may not.

Namespaces, root and mounts are bubblewrap's; the server inside, the system-call filter, limits and collection are ours.
Copy-on-write mounts are copies in memory, which makes it slower than the default.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from repoassay.errors import NoIsolation
from repoassay.sandbox.box.boot import boot_arguments
from repoassay.sandbox.box.box import BoxSandbox, start_process
from repoassay.sandbox.box.plan import BoxFolder, BoxMount, BoxPlan
from repoassay.sandbox.box.process import RunningBox
from repoassay.sandbox.cache import SANDBOX_UID, Cache
from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups, sweep_cgroups
from repoassay.sandbox.launcher.identity import INSIDE
from repoassay.sandbox.launcher.root import ETC, ETC_SHOWN
from repoassay.sandbox.namespaces import BASE_ENV, system_binds
from repoassay.sandbox.protocol import SandboxNetwork, SandboxSetup
from repoassay.sandbox.supervisor import PACKAGE
from repoassay.types import IsolationGrade

__all__ = ["BubblewrapSandbox"]

_START = "import sys; sys.path.insert(0, sys.argv[1]); from repoassay.sandbox.bubblewrap_start import main; main()"
_FOLDERS = ("/etc", "/sys", "/run", "/var", "/var/tmp", "/workspace")  # noqa: S108 - places inside the box
_Option = tuple[str, ...]
"""An option of bubblewrap with its values, of which the last is a place inside."""
_NAMESPACES = (
    "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "workspace", "--as-pid-1",
    "--cap-add", "ALL", "--clearenv",
)  # fmt: skip


class BubblewrapSandbox(BoxSandbox):
    """Runs commands in boxes of bubblewrap.

    Args:
        cache: Hidden from commands.
        control_groups: Whether to use control groups where this account may make them.

    Raises:
        NoIsolation: When bubblewrap is not installed.
    """

    name = "bubblewrap"
    capabilities = SandboxCapabilities(
        grade=IsolationGrade.KERNEL, network_phases=True, port_forwards=True, attests=True,
    )  # fmt: skip

    def __init__(self, cache: Cache, *, control_groups: bool = True) -> None:
        found = shutil.which("bwrap")
        if found is None:
            raise NoIsolation(
                "bubblewrap is not installed: there is no program bwrap.",
                "Install it (apt install bubblewrap), or use --isolation namespaces.",
            )
        self._program, self._cache, self._control_groups = found, cache, control_groups
        sweep_cgroups()

    def start(self, plan: BoxPlan, folder: Path, stack: contextlib.ExitStack) -> tuple[RunningBox, dict[str, Any]]:
        """Start a box; see `BoxSandbox`."""
        limits = plan.setup.limits
        cgroups = make_cgroups(limits.memory + limits.disk, limits.processes + 8) if self._control_groups else []
        stack.callback(remove_cgroups, cgroups)
        inside = stack.enter_context(contextlib.ExitStack())  # the box's first process, once it is there
        places = [*self._system(), *_etc(folder, plan.setup), *map(_place, plan.places), ("--remount-ro", "/")]
        network = () if plan.setup.network is SandboxNetwork.HOST else ("--unshare-net",)
        python = boot_arguments(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
        start = [sys.executable, "-I", "-S", "-c", _START, str(PACKAGE.parent), str(SANDBOX_UID), ":".join(cgroups)]
        options = [*_NAMESPACES, *network, *_with_parents(places)]
        process = start_process(stack, [*start, self._program, *options, *python], env={})
        spec = plan.server_spec(env=BASE_ENV, uid=INSIDE, nested=True, memory_is_counted=bool(cgroups))
        return RunningBox(process, cgroups, lambda: _end_with(inside, process.pid)), spec

    def _system(self) -> list[_Option]:
        """What every box shows: the host's programs without our own, devices, and a few empty folders."""
        options: list[_Option] = []
        shown: list[str] = []
        for bind in system_binds():
            if Path(bind.source).is_symlink():
                options.append(("--symlink", str(Path(bind.source).readlink()), bind.target))
            elif Path(bind.source).exists():
                options.append(("--ro-bind", bind.source, bind.target))
                shown.append(bind.target)
        options += [("--proc", "/proc"), ("--dev", "/dev"), ("--remount-ro", "/dev")]
        options += [("--dir", folder) for folder in _FOLDERS]
        for path in (str(PACKAGE), os.path.realpath(self._cache.path)):
            if any(path.startswith(f"{folder}/") for folder in shown) and Path(path).is_dir():
                options += [("--size", "65536", "--tmpfs", path), ("--remount-ro", path)]
        return options


def _end_with(stack: contextlib.ExitStack, bubblewrap: int) -> None:
    """Make sure that the box's first process ends with `stack`: should bubblewrap be killed, it would go on."""
    for number in Path(f"/proc/{bubblewrap}/task/{bubblewrap}/children").read_text().split():
        first = os.pidfd_open(int(number))
        stack.callback(os.close, first)
        stack.callback(_kill, first)


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, signal.SIGKILL)


def _etc(folder: Path, setup: SandboxSetup) -> list[_Option]:
    """Write the box's own /etc to a folder of the host, and show it and a few of the host's files."""
    hosts = f"127.0.0.1 {' '.join(setup.hosts)}\n" if setup.hosts else ""
    options: list[_Option] = []
    for name, content in ETC.items():
        (folder / name).write_text(content + (hosts if name == "hosts" else ""))
    if setup.network is SandboxNetwork.HOST:
        shutil.copyfile("/etc/hosts", folder / "hosts")
        resolver = os.path.realpath("/etc/resolv.conf")
        if Path(resolver).exists():
            options.append(("--ro-bind", resolver, "/etc/resolv.conf"))
    for name in ETC:
        (folder / name).chmod(0o644)
        options.append(("--ro-bind", str(folder / name), f"/etc/{name}"))
    for name in ETC_SHOWN:
        source = os.path.realpath(f"/etc/{name}")
        if Path(source).exists():
            options.append(("--ro-bind", source, f"/etc/{name}"))
    return options


def _place(place: BoxFolder | BoxMount) -> _Option:
    if isinstance(place, BoxFolder):
        return ("--perms", "0755", "--size", str(place.size), "--tmpfs", place.target)
    return ("--bind" if place.writable else "--ro-bind", place.source, place.target)


def _with_parents(options: list[_Option]) -> list[str]:
    """Make the folders above every target first: those that bubblewrap makes by itself nobody but root may enter."""
    folders, words = {"/"}, []
    for option in options:
        for parent in reversed(Path(option[-1]).parents):
            if str(parent) not in folders:
                folders.add(str(parent))
                words += ["--dir", str(parent)]
        folders.add(option[-1])
        words += option
    return words
