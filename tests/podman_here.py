"""Podman as tests can have it: an engine with folders of its own, and an image of this machine's programs.

It works as root without systemd, inside another container for instance: without control groups, and in a mount
namespace in which these look as the runtime wants them. Limits of memory and processes are therefore not tested.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["IMAGE", "fill_image", "make_podman"]

IMAGE = "localhost/small:1"
_PROGRAMS = (
    "sh", "cat", "chmod", "chown", "dd", "echo", "env", "grep", "head", "id", "ln", "ls", "mkdir", "mkfifo", "mv", "rm",
    "seq", "sleep", "tail", "test", "touch", "true", "false", "kill", "yes",
)  # fmt: skip
_WRAPPER = """#!/bin/sh
exec unshare -m {python} -c '
import os, subprocess, sys
quiet = {{"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}}
subprocess.run("umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup", shell=True, **quiet)
words = sys.argv[1:]
if words[0] == "run":
    for option in ("--memory", "--memory-swap", "--pids-limit"):
        at = words.index(option)
        del words[at : at + 2]
    words.insert(1, "--cgroups=disabled")
own = ["--root", "{folder}/store", "--runroot", "{folder}/run", "--storage-driver", "vfs"]
os.execv("{podman}", ["podman", *own, "--cgroup-manager", "cgroupfs", *words])
' "$@"
"""


def make_podman(folder: Path) -> Path | None:
    """A folder with a program `podman` that can run `IMAGE`; None where that is not to be had."""
    podman = shutil.which("podman")
    if podman is None:
        return None
    programs = folder / "bin"
    programs.mkdir()
    wrapper = programs / "podman"
    wrapper.write_text(_WRAPPER.format(python=sys.executable, folder=folder, podman=podman))
    wrapper.chmod(0o755)
    root = folder / "image"
    fill_image(root)
    made = f"tar -C {root} -c . | {wrapper} import - {IMAGE} && {wrapper} run --memory 1 --memory-swap 1 --pids-limit 1"
    made += f" --rm --network none --ulimit nofile=64:64 --ulimit nproc=64:64 {IMAGE} true"
    done = subprocess.run(["/bin/sh", "-c", made], capture_output=True, timeout=120, check=False)
    return programs if done.returncode == 0 else None


def fill_image(root: Path, further: Sequence[str] = ()) -> None:
    """Copy programs, and some `further` ones, with the libraries they and Python need to where they lie here."""
    for name in ("dev", "etc", "home", "proc", "root", "run", "sys", "tmp", "usr/bin", "var/tmp"):
        (root / name).mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n")
    found = [Path(each) for each in map(shutil.which, (*_PROGRAMS, *further)) if each]
    needed = [*found, Path(sys.executable).resolve(), *Path(sys.base_prefix).glob("lib/python3*/lib-dynload/*.so")]
    said = subprocess.run(["ldd", *needed], capture_output=True, text=True, check=False).stdout
    for path in (*found, *map(Path, sorted(set(re.findall(r"(?<=[\s>])(/[^\s:]+)(?= \()", said))))):
        place = root / str(path).lstrip("/")
        if path in found:
            place = root / "usr/bin" / path.name
        elif path.is_relative_to(sys.base_prefix):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path.resolve(), place)
