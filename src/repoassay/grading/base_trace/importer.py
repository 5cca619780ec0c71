"""Lets Python's importer look up single names in the traced fork, where it would read whole folders.

Laid beside the tracer's program and loaded by its fork before the filter is on; `look_up_names` is what it calls.
"""

from __future__ import annotations

import fcntl
import importlib.machinery
import os
import sys
from typing import Any

_DISTRIBUTIONS = (".dist-info", "egg-info")
_KNOWN_METADATA = ((3, 10), (3, 11), (3, 12), (3, 13))
"""Pythons whose `importlib.metadata` is known to look at nothing but these."""
_lstat = os.lstat  # tests may put something else in its place


def look_up_names(roots: list[str], lowest: int) -> None:
    """Change the importer of this process.

    Args:
        roots: Import folders of the repository.
        lowest: The lowest descriptor that they may be held open by.
    """
    _hold_distributions(roots, lowest)
    setattr(importlib.machinery.FileFinder, "_fill_cache", _fill_cache)  # noqa: B010 - its type is nobody's business


class FolderNames:
    """Names in a folder, each looked up when it is asked for: Python's importer asks for few of those it lists.

    So a name that no import could find is one that the tests do not look at, though the importer read the folder.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __contains__(self, name: str) -> bool:
        try:
            _lstat(f"{self._folder}/{name}")
        except OSError:
            return False
        return True


def _fill_cache(finder: Any) -> None:
    finder._path_cache = finder._relaxed_path_cache = FolderNames(finder.path or os.getcwd())


def _hold_distributions(roots: list[str], lowest: int) -> None:
    """Let the standard library find installed distributions in import folders without that their names count as read.

    It reads all names of a folder, and passes over those that do not end as a distribution's do. A patch that makes
    such a name is never decided by a trace; where there are several, their order may matter, and the folder is read.
    """
    if sys.version_info[:2] not in _KNOWN_METADATA:
        return
    import importlib.metadata

    held = {}
    for root in roots:
        try:
            opened = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        held[root] = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, lowest)
        os.close(opened)
    paths: Any = importlib.metadata.FastPath  # type: ignore[attr-defined]
    seeker = importlib.metadata.Lookup.__init__.__code__  # type: ignore[attr-defined]
    read = paths.children

    def children(path: Any) -> Any:
        if path.root in held and sys._getframe(1).f_code is seeker:
            names = [name for name in os.listdir(held[path.root]) if name.lower().endswith(_DISTRIBUTIONS)]
            if len(names) < 2:
                return names
        return read(path)

    paths.children = children
