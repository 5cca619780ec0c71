"""Apptainer as tests can have it: its own program where there is one, else one that reads the same command line.

The latter shows a folder of this machine's programs through bubblewrap as `apptainer exec` would; that our options
mean to Apptainer what its manual says is then not tested.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from podman_here import fill_image

__all__ = ["make_apptainer"]

_PROGRAM = """#!{python} -IS
import os, sys
words, mounts, alone = sys.argv[1:], [], set()
assert words[:2] == ["--silent", "exec"], words
words = words[2:]
while words[0].startswith("--"):
    option = words.pop(0)
    if option == "--mount":
        mounts.append(dict((part + "=").split("=")[:2] for part in words.pop(0).split(",")))
    elif option in ("--no-mount", "--pwd"):
        words.pop(0)
    else:
        alone.add(option)
assert {{"--containall", "--no-home", "--no-init", "--no-eval", "--keep-privs"}} == alone, alone
assert os.geteuid() == 0 and not any(name.startswith("APPTAINER") for name in os.environ)
image, *command = words
options = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--as-pid-1", "--cap-add", "ALL", "--clearenv"]
for name in sorted(os.listdir(image)):
    path = os.path.join(image, name)
    if os.path.islink(path):
        options += ["--symlink", os.readlink(path), "/" + name]
    elif name not in ("dev", "proc", "etc", "tmp", "run", "var", "home", "root"):
        options += ["--ro-bind", path, "/" + name]
options += ["--dir", "/etc", "--ro-bind", os.path.join(image, "etc/passwd"), "/etc/passwd"]
options += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
made = {{"/", "/etc"}}
for mount in mounts:
    target = mount["destination"]
    parts = target.split("/")[1:-1]
    for end in range(1, len(parts) + 1):
        parent = "/" + "/".join(parts[:end])
        if parent not in made:
            made.add(parent)
            options += ["--dir", parent]
    made.add(target)
    options += ["--ro-bind" if "ro" in mount else "--bind", mount["source"], target]
os.execv({bwrap!r}, ["bwrap", *options, "--remount-ro", "/", "--chdir", "/", *command])
"""


def make_apptainer(folder: Path) -> tuple[str, Path] | None:
    """Folders to put in front of `PATH`, empty for the program that is installed, and an image; None without either."""
    image = folder / "image"
    fill_image(image)
    folder.chmod(0o755)
    if shutil.which("apptainer"):
        return "", image
    bwrap = shutil.which("bwrap")
    if bwrap is None or os.geteuid():
        return None
    programs = folder / "bin"
    programs.mkdir()
    (programs / "apptainer").write_text(_PROGRAM.format(python=sys.executable, bwrap=bwrap))
    (programs / "apptainer").chmod(0o755)
    return str(programs), image
