"""The two programs we start on the host: uv, which our own installation brings, and the system's git."""

from __future__ import annotations

import functools
import shutil

from repoassay.errors import Unavailable

__all__ = ["git_program", "uv_program"]


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
