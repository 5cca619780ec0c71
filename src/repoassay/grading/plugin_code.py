"""Where the code of plug-ins' metrics lies on this machine, and how the grading sandbox sees it."""

from __future__ import annotations

import importlib.util
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from repoassay.errors import Unavailable
from repoassay.plugins import Plugin
from repoassay.sandbox import Mount

__all__ = ["plugin_code"]

_PLACE = "/plugins"


def plugin_code(plugins: Iterable[Plugin]) -> tuple[list[Mount], list[str]]:
    """Return read-only mounts of the code of plug-ins, and the folders that Python searches for it inside.

    What lies in our own site-packages is mounted already. Elsewhere the folder that a distribution was installed to is
    mounted, with what else was installed there; of an editable installation, only the plug-in's own top package.

    Raises:
        Unavailable: When a plug-in's code cannot be found.
    """
    ours = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    mounts: list[Mount] = []
    folders: dict[Path, str] = {}
    for plugin in plugins:
        location = Path(plugin.location).resolve()
        for source in _sources(plugin):
            if source.parent in ours:
                continue
            whole = source.parent == location
            folder = location if whole else source
            if folder not in folders:
                target = f"{_PLACE}/{len(folders)}"
                folders[folder] = target
                mounts.append(Mount(folder, target if whole else f"{target}/{source.name}"))
    return mounts, list(folders.values())


def _sources(plugin: Plugin) -> list[Path]:
    """Folders of the top package of a plug-in, several for a namespace package, or the file of its module."""
    top = plugin.value.partition(":")[0].partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None or not (spec.submodule_search_locations or spec.has_location):
        raise Unavailable(
            f"The code of the {plugin.title} cannot be found: there is no module {top!r}.",
            f"Install {plugin.distribution or top} again.",
        )
    if spec.submodule_search_locations:
        return [Path(place).resolve() for place in spec.submodule_search_locations]
    return [Path(str(spec.origin)).resolve()]
