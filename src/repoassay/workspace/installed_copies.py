"""Copies of a task's project that this machine happens to have where sandboxes show it: covered for its agents.

The interpreter's installation and the system's folders are shown whole. Whoever has `click` installed there would give
every agent that is to change click a later release to copy, whatever the network policy.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from repoassay.sandbox import Cache, Mount, settle
from repoassay.workspace.preparation import PreparedTask
from repoassay.workspace.project_names import project_names

__all__ = ["cover_installed_copies"]

_SITES = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/*-packages")
_WHEELS = ("lib/python3*/ensurepip/_bundled/*.whl", "share/python-wheels/*.whl")
_INNER = ("*", "*/_vendor/*", "*/_vendor/*/*", "*/vendor/*")
"""Where in a folder of packages a project's own may lie: installed, or taken along by another."""
_EMPTY = "nothing"


def cover_installed_copies(layout: PreparedTask, cache: Cache) -> tuple[Mount, ...]:
    """Mounts of nothing over every such copy.

    What its environment holds stays, save in wheels that come with the interpreter.
    """
    task = layout.folder.task
    names = frozenset(map(_plain, project_names(layout.base, task.repository, task.environment.path)))
    found = [(place, str(place)) for prefix in _prefixes() for place in _copies(prefix, names)]
    held = _wheels(layout.environment, names)
    found += [(wheel, str(Path("/env", wheel.relative_to(layout.environment)))) for wheel in held]
    if not found:
        return ()
    empty = cache.entry("checkouts", "empty", settle)
    nothing = cache.entry("inputs", _EMPTY, _write_nothing) / _EMPTY
    return tuple(Mount(empty if place.is_dir() else nothing, target) for place, target in dict(found).items())


def _prefixes() -> tuple[Path, ...]:
    """Installations that sandboxes show, by every name they are shown under."""
    base = Path(sys.base_prefix)
    return tuple(dict.fromkeys((base, base.resolve(), Path("/usr"))))


@lru_cache(maxsize=64)
def _copies(prefix: Path, names: frozenset[str]) -> tuple[Path, ...]:
    sites = [site for pattern in _SITES for site in prefix.glob(pattern) if site.is_dir()]
    packages = (place for site in sites for pattern in _INNER for place in site.glob(pattern))
    found = [place for place in packages if _plain(place.name.partition(".")[0]) in names and not place.is_symlink()]
    tops = [place for place in found if not any(other in place.parents for other in found)]
    return (*tops, *_wheels(prefix, names))


def _wheels(prefix: Path, names: Iterable[str]) -> Iterator[Path]:
    """Wheels that hold a package of one of the names, at their top or among what they took along."""
    for file in (file for pattern in _WHEELS for file in sorted(prefix.glob(pattern))):
        try:
            with zipfile.ZipFile(file) as archive:
                held = {_plain(Path(part).stem) for name in archive.namelist() for part in name.split("/")[:4]}
        except (OSError, zipfile.BadZipFile):
            continue
        if not held.isdisjoint(names):
            yield file


def _write_nothing(part: Path) -> None:
    (part / _EMPTY).touch()
    settle(part)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()
