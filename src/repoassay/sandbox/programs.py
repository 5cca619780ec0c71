"""Programs we start: uv, which our own installation brings, and the system's git; inside sandboxes its node too."""

from __future__ import annotations

import functools
import shutil

from repoassay.errors import Unavailable

__all__ = ["git_program", "node_program", "uv_program"]


@functools.cache
def uv_program() -> str:
    """Path of uv; the one installed with us, else the one on the path."""
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise Unavailable("uv is not installed.", "Install it with: pip install uv")
    return found


@functools.cache
def git_program() -> str:
    """Path of git."""
    found = shutil.which("git")
    if found is None:
        raise Unavailable("git is not installed.", "Install it with your system's package manager.")
    return found


@functools.cache
def node_program() -> str:
    """Path of node, where sandboxes see it too."""
    found = shutil.which("node", path="/usr/local/bin:/usr/bin:/bin") or shutil.which("nodejs", path="/usr/bin:/bin")
    if found is None:
        raise Unavailable("node is not installed, and the hidden tests are for node.", "Install nodejs 18.19 or later.")
    return found
