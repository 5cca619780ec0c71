"""Where the cache lies: what can be made again at any time, and notes of this account's own."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_path"]


def cache_path() -> Path:
    """`REPOASSAY_CACHE`, else `$XDG_CACHE_HOME/repoassay`, else `~/.cache/repoassay`; it need not exist.

    Raises:
        RuntimeError: When there is no home folder to be found.
    """
    value = os.environ.get("REPOASSAY_CACHE")
    base = os.environ.get("XDG_CACHE_HOME")
    if value:
        return Path(value).absolute()
    return Path(base or Path.home() / ".cache", "repoassay").absolute()
