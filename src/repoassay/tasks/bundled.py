"""Suites by name: those that come with the package, and those that other distributions bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay import plugins
from repoassay.errors import BadInput, Unavailable

__all__ = ["bundled_suite", "bundled_suites", "named_suite", "named_suites"]

_GROUP = "repoassay.tasks"


def bundled_suites() -> list[str]:
    """Names of the suites that come with the package, sorted."""
    return sorted(plugins.bundled_plugins(_GROUP))


def bundled_suite(name: str) -> Path | None:
    """Folder of a suite that comes with the package; None when there is no such suite."""
    return _folder(plugins.bundled_plugins(_GROUP)[name]) if name in bundled_suites() else None


def named_suites() -> list[str]:
    """Names of the bundled suites and of those that plug-ins bring."""
    return [*bundled_suites(), *(name for name in plugins.installed_plugins(_GROUP) if name not in bundled_suites())]


def named_suite(name: str) -> Path | None:
    """Folder of a bundled suite or a plug-in's; None when no suite has this name.

    Raises:
        BadInput: When two distributions offer it, or a folder here has the name of a plug-in's suite.
        Unavailable: When the plug-in cannot be imported or names no folder.
    """
    if name in bundled_suites():
        return bundled_suite(name)
    if "/" in name or name not in plugins.installed_plugins(_GROUP):
        return None
    plugin = plugins.find(_GROUP, name)
    if Path(name).is_dir():
        raise BadInput(
            f"{name!r} is both a folder here and a suite of {plugin.origin}.", f"Write ./{name} for the folder."
        )
    return _folder(plugin)


def _folder(plugin: plugins.Plugin) -> Path:
    """What an entry gives: a path, a function that returns one, or a package whose folder it is."""
    found: Any = plugins.resolve(plugin)
    path = next(iter(getattr(found, "__path__", ())), None) or (found() if callable(found) else found)
    if not isinstance(path, str | Path) or not Path(path, "suite.toml").is_file():
        raise Unavailable(f"The {plugin.title} names no folder with suite.toml.", f"Repair {plugin.origin}.")
    return Path(path)
