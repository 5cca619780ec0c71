"""The sandbox of Apptainer, which many clusters have and no daemon is needed for: the operating system is an image's.

Namespaces of users, mounts and the network are made here; Apptainer adds those of processes, shows the image, and
starts our server as the first process. The image's own environment scripts run before that; nothing hostile runs yet.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput, InfraFault, NoIsolation
from repoassay.sandbox.box.boot import boot_arguments
from repoassay.sandbox.box.box import BoxSandbox, start_process
from repoassay.sandbox.box.plan import BoxMount, BoxPlan
from repoassay.sandbox.box.process import RunningBox
from repoassay.sandbox.cache import SANDBOX_UID, Cache
from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups, sweep_cgroups
from repoassay.sandbox.containers import box_interpreter, named_image
from repoassay.sandbox.launcher.identity import INSIDE
from repoassay.sandbox.namespaces import BASE_ENV
from repoassay.sandbox.protocol import SandboxNetwork
from repoassay.sandbox.supervisor import PACKAGE
from repoassay.types import IsolationGrade

__all__ = ["ApptainerSandbox"]

_START = "import sys; sys.path.insert(0, sys.argv[1]); from repoassay.sandbox.apptainer_start import main; main()"
_OPTIONS = (
    "--containall", "--no-home", "--no-mount", "home,tmp,hostfs,cwd,bind-paths,devpts", "--no-init", "--no-eval",
    "--keep-privs", "--pwd", "/",
)  # fmt: skip
"""Nothing of the host but what is bound; our server is process 1, and root of the user namespace it is started in."""
_PULLING = 3600.0


class ApptainerSandbox(BoxSandbox):
    """Runs commands in boxes of one Apptainer image.

    Args:
        cache: Keeps images that are pulled.
        image: A file (`.sif`), a folder with a root file system, or what Apptainer pulls, such as `docker://python:3.11`;
            the variable `REPOASSAY_IMAGE` where empty.

    Raises:
        NoIsolation: When Apptainer is not installed, or cannot pull the image.
        BadInput: When no image is named, or there is no such file.
    """

    capabilities = SandboxCapabilities(
        grade=IsolationGrade.CONTAINER, network_phases=True, port_forwards=True, image=True
    )

    def __init__(self, cache: Cache, image: str = "") -> None:
        found = shutil.which("apptainer")
        if found is None:
            raise NoIsolation(
                "Apptainer is not installed: there is no program apptainer.",
                "Install it, or use --isolation namespaces, which needs no container engine.",
            )
        self._program, named = found, named_image("apptainer", image)
        self.name = f"apptainer@{named}"
        self._image = self._pulled(cache, named) if "://" in named else str(Path(named).resolve())
        if not Path(self._image).exists():
            raise BadInput(f"There is no image {named!r}.", "Name a .sif file, a folder, or docker://NAME.")
        sweep_cgroups()

    def start(self, plan: BoxPlan, folder: Path, stack: contextlib.ExitStack) -> tuple[RunningBox, dict[str, Any]]:
        """Start a box; see `BoxSandbox`."""
        setup, limits = plan.setup, plan.setup.limits
        private = setup.network is SandboxNetwork.NONE
        cgroups = make_cgroups(limits.memory + limits.disk, limits.processes + 8)
        stack.callback(remove_cgroups, cgroups)
        python, shown = box_interpreter()
        binds, made = [], []
        for number, place in enumerate((*shown, *plan.places)):
            if isinstance(place, BoxMount):
                binds.append(_bind(place.source, place.target, place.writable))
                continue
            memory = folder / f"folder-{number}"
            memory.mkdir()
            made.append(f"{memory}={place.size}")
            binds.append(_bind(str(memory), place.target, True))
        if private:
            hosts = folder / "hosts"
            hosts.write_text(f"127.0.0.1 localhost {' '.join(setup.hosts)}\n")
            hosts.chmod(0o644)
            binds.append(_bind(str(hosts), "/etc/hosts", False))
        start = [
            sys.executable, "-I", "-S", "-c", _START, str(PACKAGE.parent), str(SANDBOX_UID), ":".join(cgroups),
            ":".join(made), "private" if private else "host",
        ]  # fmt: skip
        options = [*_OPTIONS, *(word for bind in binds for word in ("--mount", bind))]
        run = [self._program, "--silent", "exec", *options, self._image, *boot_arguments(python)]
        process = start_process(stack, [*start, *run], env=_environment())
        root = os.geteuid() == 0
        spec = plan.server_spec(env=BASE_ENV, uid=INSIDE if root else -1, nested=root, memory_is_counted=bool(cgroups))
        return RunningBox(process, cgroups), spec

    def _pulled(self, cache: Cache, name: str) -> str:
        """The file of an image that is pulled once and kept; whoever wants a newer one of the same name removes it."""

        def pull(place: Path) -> None:
            call = [self._program, "--silent", "pull", str(place / "image.sif"), name]
            done = subprocess.run(call, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PULLING, check=False)
            if done.returncode:
                message = done.stderr.decode(errors="replace").strip()[-500:]
                raise NoIsolation(f"Apptainer cannot pull {name!r}: {message}", "Name an image that can be had.")

        return str(cache.entry("apptainer", hashlib.sha256(name.encode()).hexdigest(), pull) / "image.sif")


def _environment() -> dict[str, str]:
    """What Apptainer is started with: none of the variables by which it would show or keep more."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


def _bind(source: str, target: str, writable: bool) -> str:
    if any(letter in part for part in (source, target) for letter in ',"\n:='):
        raise InfraFault(f"The sandbox could not be set up: Apptainer cannot mount a path such as {source!r}.")
    return f"type=bind,source={source},destination={target}{'' if writable else ',ro'}"
