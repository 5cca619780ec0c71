"""Copies of a task's project that this machine happens to have where sandboxes show it: covered for its agents.

The interpreter's installation and the system's folders are shown whole. Whoever has `click` installed there would give
every agent that is to change click a later release to copy, whatever the network policy.
"""

from __future__ import annotations

import os
import re
import sys
import zipfile
from functools import lru_cache
from pathlib import Path

from repoassay.sandbox import Cache, ImageEnvironment, Mount, image_environment, settle
from repoassay.text import normalize_name
from repoassay.workspace.preparation import PreparedTask
from repoassay.workspace.project_names import project_names

__all__ = ["cover_installed_copies"]

_TAKEN_ALONG = frozenset({"_vendor", "vendor", "vendored", "_vendored", "third_party", "_third_party", "extern"})
_HOLDERS = frozenset({"site-packages", "dist-packages", *_TAKEN_ALONG})
"""Folders whose every entry is a package of somebody, whatever they are in themselves."""
_PASSED_OVER = frozenset(
    ("doc", "man", "info", "locale", "icons", "fonts", "zoneinfo", "mime", "include", "src", "__pycache__")
)
"""Folders of a system that hold no packages, or no code."""
_EMPTY = "nothing"
_VERSION = re.compile(r"-\d|\.")


def cover_installed_copies(layout: PreparedTask, cache: Cache) -> tuple[Mount, ...]:
    """Mounts of nothing over every such copy.

    What its environment was given stays, save what pip and the like took along in it: that is of their day, not of the
    task's. Where it is covered they no longer work, which only tasks about what they took along meet.
    """
    task = layout.folder.task
    names = frozenset(map(normalize_name, project_names(layout.base, task.repository, task.environment.path)))
    if image := image_environment(layout.environment):
        return _covers_in(image, names, cache)
    found = [(place, str(place)) for prefix in _prefixes() for place in _copies(prefix, names)]
    own = [place for place in _copies(layout.environment, names) if place.parent.name != "site-packages"]
    found = [(place, target) for place, target in found if os.path.exists(place)]  # since they were looked for
    found += [(place, str(Path("/env", place.relative_to(layout.environment)))) for place in own]
    if not found:
        return ()
    empty, nothing = _covers(cache)
    return tuple(Mount(empty if os.path.isdir(place) else nothing, target) for place, target in dict(found).items())


def _covers_in(image: ImageEnvironment, names: frozenset[str], cache: Cache) -> tuple[Mount, ...]:
    """Mounts of nothing over copies in an image; of archives there, such as conda's, the name alone is known."""
    empty, nothing = _covers(cache)
    found = [place for place in image.packages if normalize_name(_VERSION.split(Path(place).name)[0]) in names]
    return tuple(Mount(empty if place.endswith("/") else nothing, place.rstrip("/")) for place in found)


def _covers(cache: Cache) -> tuple[Path, Path]:
    """An empty folder and an empty file."""
    return cache.entry("checkouts", "empty", settle), cache.entry("inputs", _EMPTY, _write_nothing) / _EMPTY


def _prefixes() -> tuple[Path, ...]:
    """Installations that sandboxes show, by every name they are shown under."""
    base = Path(sys.base_prefix)
    return tuple(dict.fromkeys((base, base.resolve(), Path("/usr"))))


def _copies(prefix: Path, names: frozenset[str]) -> tuple[Path, ...]:
    found = [place for place in _packages(prefix) if _is_copy(place, names)]
    return tuple(place for place in found if not any(other in place.parents for other in found))


def _is_copy(place: Path, names: frozenset[str]) -> bool:
    return _holds(place, names) if place.suffix == ".whl" else normalize_name(place.name.partition(".")[0]) in names


@lru_cache(maxsize=16)
def _packages(prefix: Path) -> tuple[Path, ...]:
    """Every wheel, and package at the top of something (`third_party` of a program); not the standard library's.

    Looked for once, since a system's folders are large.
    """
    found = []
    for top, folders, files in os.walk(prefix):
        place = Path(top)
        folders[:] = [name for name in folders if name not in _PASSED_OVER and not os.path.islink(place / name)]
        holder = place.name in _HOLDERS
        inner, standard = "__init__.py" in files, "encodings" in folders
        if holder or not (inner or standard):
            # os.path asks without an error what this account may not look into; sandboxes may not either.
            found += [place / name for name in folders if holder or os.path.isfile(place / name / "__init__.py")]
        if holder:
            found += [place / name for name in files if name.endswith(".py")]
        found += [place / name for name in files if name.endswith(".whl")]
    return tuple(found)


def _holds(wheel: Path, names: frozenset[str]) -> bool:
    """Whether a wheel holds a package of one of the names, at its top or among what it took along."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            held = {normalize_name(Path(part).stem) for name in archive.namelist() for part in name.split("/")[:4]}
    except (OSError, zipfile.BadZipFile):
        return False
    return not held.isdisjoint(names)


def _write_nothing(part: Path) -> None:
    (part / _EMPTY).touch()
    settle(part)
