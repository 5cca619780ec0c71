"""Sandboxes of container engines, Docker and Podman, by their command lines: the operating system is an image's.

The server is the container's first process and its root, with the few capabilities that making another account of
commands takes. Images are used as they are; the interpreter that the server and environments need is mounted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput, InfraFault, NoIsolation
from repoassay.sandbox.box.boot import boot_arguments
from repoassay.sandbox.box.box import BoxSandbox, start_process
from repoassay.sandbox.box.plan import BoxFolder, BoxMount, BoxPlan
from repoassay.sandbox.box.process import RunningBox
from repoassay.sandbox.cache import SANDBOX_UID
from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.launcher.identity import INSIDE
from repoassay.sandbox.namespaces import BASE_ENV
from repoassay.sandbox.protocol import SandboxNetwork
from repoassay.types import IsolationGrade

__all__ = ["ContainerSandbox", "box_interpreter", "named_image"]

IMAGE = "REPOASSAY_IMAGE"
"""The environment variable that names the image where `--isolation` does not."""
_EXAMPLES = {"apptainer": "python.sif"}
_RIGHTS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETPCAP", "SETUID")
_FILES, _PROCESSES, _UNLIMITED = 4096, 16_384, 16_384
_SERVER = 64 * 2**20
"""Bytes of memory for our server beside what commands may have."""
_REMOVING = 60.0


class ContainerSandbox(BoxSandbox):
    """Runs commands in containers of one image.

    Args:
        engine: `docker` or `podman`, which is also the program's name.
        image: What the engine knows the image by; the variable `REPOASSAY_IMAGE` where empty.
        pulls: Whether an image that the engine does not have may be fetched.

    Raises:
        NoIsolation: When the engine is not installed.
        BadInput: When no image is named.
    """

    capabilities = SandboxCapabilities(
        grade=IsolationGrade.CONTAINER, network_phases=True, port_forwards=True, image=True
    )

    def __init__(self, engine: str, image: str = "", *, pulls: bool = True) -> None:
        found = shutil.which(engine)
        if found is None:
            raise NoIsolation(
                f"{engine} is not installed: there is no program {engine}.",
                "Install it, or use --isolation namespaces, which needs no container engine.",
            )
        self._engine, self._program, self._image = engine, found, named_image(engine, image)
        self.name, self._pulls = f"{engine}@{self._image}", pulls

    def start(self, plan: BoxPlan, folder: Path, stack: contextlib.ExitStack) -> tuple[RunningBox, dict[str, Any]]:
        """Start a box; see `BoxSandbox`."""
        name = f"repoassay-{uuid.uuid4().hex[:16]}"
        started: list[subprocess.Popen[bytes]] = []

        def remove() -> None:
            if started and started[0].poll() != 0:  # else the engine has removed it
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                    call = [self._program, "rm", "--force", name]
                    subprocess.run(call, capture_output=True, timeout=_REMOVING, check=False, stdin=subprocess.DEVNULL)

        stack.callback(remove)
        more = ("--read-only-tmpfs=false",) if self._engine == "podman" else ()  # or /run were without a limit
        more = more if self._pulls else ("--pull=never", *more)
        run = ["run", *more, *_arguments(plan, name, self._image, self._engine)]
        started.append(start_process(stack, [self._program, *run]))
        # Without user namespaces an account is the host's: what commands write to a mount must be their own there.
        account = SANDBOX_UID if os.geteuid() == 0 else os.geteuid() if self._engine == "docker" else INSIDE
        spec = plan.server_spec(env=BASE_ENV, uid=account, nested=False, memory_is_counted=True)
        spec["processes"] = _UNLIMITED  # the account's processes are counted with the host's; the engine has a limit
        spec["container_memory"] = _memory(plan)
        spec["entered"] = [place.target for place in box_interpreter()[1] if isinstance(place, BoxFolder)]
        return RunningBox(started[0]), spec


def named_image(kind: str, image: str) -> str:
    """The image to use: the one named, or that of `REPOASSAY_IMAGE`; raises `BadInput` where neither names one."""
    found = image or os.environ.get(IMAGE, "")
    if not found or found.startswith("-"):
        raise BadInput(
            f"The isolation {kind} needs an image.",
            f"Name it, as in --isolation {kind}@{_EXAMPLES.get(kind, 'python:3.11')}, or in the variable {IMAGE}.",
        )
    return found


def _arguments(plan: BoxPlan, name: str, image: str, engine: str) -> list[str]:
    """Arguments of `docker run` and `podman run`: no network, few rights, nothing of the host but mounts."""
    limits, private = plan.setup.limits, plan.setup.network is SandboxNetwork.NONE
    memory = _memory(plan)
    arguments = [
        "--rm", "--interactive", "--name", name, "--hostname", "workspace", "--user", "0:0", "--workdir", "/",
        "--read-only", "--cap-drop", "ALL", *(f"--cap-add={right}" for right in _RIGHTS),
        "--security-opt", "no-new-privileges", "--network", "none" if private else "host", "--ipc", "private",
        "--memory", str(memory), "--memory-swap", str(memory), "--pids-limit", str(limits.processes + 8),
        "--ulimit", f"nofile={_FILES}:{_FILES}", "--ulimit", f"nproc={_PROCESSES}:{_PROCESSES}",
        "--shm-size", str(limits.disk), "--log-driver", "none",
    ]  # fmt: skip
    if private and plan.setup.hosts:
        arguments += ["--sysctl", "net.ipv4.ip_unprivileged_port_start=0"]
        arguments += [f"--add-host={host}:127.0.0.1" for host in plan.setup.hosts]
    python, shown = box_interpreter()
    for place in (*shown, *plan.places):
        arguments += _place(place, engine)
    program, *rest = boot_arguments(python)
    return [*arguments, "--entrypoint", program, image, *rest]


def _memory(plan: BoxPlan) -> int:
    """Bytes that the engine holds a container to."""
    return plan.setup.limits.memory + plan.setup.limits.disk + _SERVER


def box_interpreter() -> tuple[str, list[BoxFolder | BoxMount]]:
    """The server's interpreter, and what shows it: this process's own, or the image's where that is the system's."""
    base = os.path.realpath(sys.base_prefix)
    if base.startswith("/usr/") or base == "/usr":
        return "python3", []
    shown: list[BoxFolder | BoxMount] = [BoxMount(base, base)]
    if base.startswith("/root/"):  # which nobody but root may enter in most images
        shown.insert(0, BoxFolder("/root", 2**20))
    return os.path.realpath(sys._base_executable), shown  # type: ignore[attr-defined]


def _place(place: BoxFolder | BoxMount, engine: str) -> list[str]:
    if isinstance(place, BoxFolder):
        if place.target == "/dev/shm":  # noqa: S108 - the container's, which the engine makes
            return []
        # Podman would fill it with what the image has there: the history of a repository that is covered, say.
        empty = ",notmpcopyup" if engine == "podman" else ""
        return ["--tmpfs", f"{place.target}:rw,exec,nosuid,nodev,mode=0755,size={place.size}{empty}"]
    if any(letter in part for part in (place.source, place.target) for letter in ',"\n'):
        raise InfraFault(f"The sandbox could not be set up: an engine cannot mount a path such as {place.source!r}.")
    access = "" if place.writable else ",readonly"
    return ["--mount", f"type=bind,source={place.source},target={place.target}{access}"]
