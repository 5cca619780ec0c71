"""Docker as tests can have it: a daemon of their own, with folders of its own, and an image of this machine's programs.

It takes root and the program `dockerd`. The daemon has no bridge and sets no rules of a firewall; control groups are
the machine's, so that limits of memory and processes are real.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from podman_here import IMAGE, fill_image

__all__ = ["IMAGE", "docker_daemon"]

_PATIENCE = 30.0
_OPTIONS = ("--bridge=none", "--iptables=false", "--ip6tables=false")


@contextlib.contextmanager
def docker_daemon(folder: Path) -> Iterator[str | None]:
    """The address (`DOCKER_HOST`) of a daemon that has `IMAGE`, until the end; None where there can be none."""
    program, client = shutil.which("dockerd"), shutil.which("docker")
    if program is None or client is None or os.geteuid() != 0:
        yield None
        return
    address = f"unix://{folder}/socket"
    own = [
        "-H",
        address,
        "--data-root",
        f"{folder}/data",
        "--exec-root",
        f"{folder}/exec",
        "--pidfile",
        f"{folder}/pid",
    ]
    with (folder / "log").open("wb") as log:
        daemon = subprocess.Popen([program, *own, *_OPTIONS], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield address if _answers(client, address, daemon) and _import(client, address, folder) else None
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)


def _answers(client: str, address: str, daemon: subprocess.Popen[bytes]) -> bool:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and daemon.poll() is None:
        if subprocess.run([client, "-H", address, "info"], capture_output=True, check=False).returncode == 0:
            return True
        time.sleep(0.2)
    return False


def _import(client: str, address: str, folder: Path) -> bool:
    fill_image(folder / "image")
    docker = f"{client} -H {address}"
    made = (
        f"tar -C {folder / 'image'} -c . | {docker} import - {IMAGE} && {docker} run --rm --network none {IMAGE} true"
    )
    done = subprocess.run(["/bin/sh", "-c", made], capture_output=True, timeout=120, check=False)
    return done.returncode == 0
