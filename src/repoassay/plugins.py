"""Plug-ins: metrics, agents, sandboxes and more that other distributions bring, found through their entry points.

A name is looked up in this order: what the package itself declares (`[project.entry-points]` of its pyproject.toml),
what other installed distributions declare, and, where the caller allows it, a dotted path `package.module:Name`.
Nothing is imported before it is asked for, and other distributions are looked at only when a name is not bundled.

Plug-ins are code that the user installed: they run with the user's rights, except metrics, which measure inside the
grading sandbox. What they print while they are imported goes to standard error.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput, Unavailable
from repoassay.text import normalize_name, printable, quote, suggest

__all__ = [
    "GROUPS",
    "Plugin",
    "bundled_plugins",
    "find",
    "installed_plugins",
    "is_dotted",
    "load",
    "load_all",
    "make",
    "offers",
    "plugin_version",
    "reason_of",
    "resolve",
    "warn",
]

GROUPS = {
    "repoassay.metrics": "metric",
    "repoassay.agents": "agent",
    "repoassay.readers": "transcript reader",
    "repoassay.sandboxes": "sandbox",
    "repoassay.executors": "executor",
    "repoassay.suites": "suite",
    "repoassay.rows": "row format",
    "repoassay.importers": "importer",
    "repoassay.exporters": "exporter",
    "repoassay.tables": "report table",
    "repoassay.commands": "command",
}
"""Entry-point group -> what one of its entries is called in messages."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_VALUE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)?", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.<>]*", re.ASCII)
_SELF = "repoassay"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point.

    Attributes:
        group: A key of `GROUPS`.
        name: Its name in the group.
        value: `package.module` or `package.module:Name`.
        distribution: Name of the distribution that declares it; empty for a dotted path.
        version: The distribution's version; empty for bundled entries and dotted paths.
        location: Folder that the distribution's metadata lies in; empty for bundled entries and dotted paths.
    """

    group: str
    name: str
    value: str
    distribution: str = ""
    version: str = ""
    location: str = ""

    @property
    def is_bundled(self) -> bool:
        """Whether it comes with this package."""
        return self.distribution == _SELF

    @property
    def origin(self) -> str:
        """Distribution and version, or the dotted path, for messages."""
        return f"{self.distribution} {self.version}".strip() or self.value

    @property
    def title(self) -> str:
        """Kind, name and origin, for messages."""
        return f"{GROUPS[self.group]} {self.name!r} of {self.origin}"


def bundled_plugins(group: str) -> Mapping[str, Plugin]:
    """Entries that the package itself declares, by name.

    Raises:
        Unavailable: When there is neither installed metadata nor a source tree to read them from.
    """
    return _bundled()[group]


def installed_plugins(group: str) -> Mapping[str, tuple[Plugin, ...]]:
    """Entries of other distributions, by name: several where several distributions offer the name."""
    return _installed()[group]


def is_dotted(name: str) -> bool:
    """Whether a name says where Python code is, `package.module:name`; `<locals>` stands in that of an inner one."""
    return _DOTTED.fullmatch(name) is not None and not name.endswith(".toml")


def offers(group: str, name: str) -> bool:
    """Whether a group has a name; imports nothing."""
    return name in bundled_plugins(group) or name in installed_plugins(group)


def plugin_version(group: str, name: str) -> str:
    """Return distribution and version of the plug-in that brings a name; empty for a bundled name or a dotted path."""
    return find(group, name).origin if name not in bundled_plugins(group) and name in installed_plugins(group) else ""


def find(group: str, name: str, *, dotted: bool = False) -> Plugin:
    """Look an entry up; imports nothing.

    Args:
        group: A key of `GROUPS`.
        name: An entry's name.
        dotted: Whether `name` may be a dotted path, as a command line may give one and a file of others never.

    Raises:
        BadInput: When there is no such entry, or two distributions offer it.
    """
    if name in bundled_plugins(group):
        return bundled_plugins(group)[name]
    if found := installed_plugins(group).get(name):
        if len(found) > 1:
            raise _clash(found)
        return found[0]
    if dotted and is_dotted(name):
        return Plugin(group, name, name)
    known = [*bundled_plugins(group), *installed_plugins(group)]
    raise BadInput(f"There is no {GROUPS[group]} called {quote(name)}.", suggest(name, known) or "None is installed.")


def load(group: str, name: str, *, dotted: bool = False) -> Any:
    """Find an entry and import the module or object it names. Arguments as of `find`.

    Raises:
        BadInput: When there is no such entry, or two distributions offer it.
        Unavailable: When it cannot be imported; names the distribution and the reason.
    """
    return resolve(find(group, name, dotted=dotted))


def load_all(group: str) -> Iterator[tuple[Plugin, Any]]:
    """Every entry of a group with its module or object, bundled ones first.

    What cannot be used (it fails to import, two distributions offer it, it has a bundled name) is passed over with one
    warning a process.
    """
    for plugin in bundled_plugins(group).values():
        yield plugin, resolve(plugin)
    for name, found in installed_plugins(group).items():
        if name in bundled_plugins(group):
            warn(f"The {found[0].title} is passed over, since its name is a bundled one.")
            continue
        try:
            yield (plugin := find(group, name)), resolve(plugin)
        except (BadInput, Unavailable) as error:
            warn(error.message)


def resolve(plugin: Plugin) -> Any:
    """Import what an entry names.

    Raises:
        Unavailable: When a plug-in cannot be imported.
    """
    if plugin.is_bundled:
        return _import(plugin.value)
    try:
        with contextlib.redirect_stdout(sys.stderr), _current_folder(also=not plugin.distribution):
            return _import(plugin.value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Unavailable(
            f"The {plugin.title} cannot be imported: {reason_of(error)}.",
            f"Repair or uninstall {plugin.distribution}; `repoassay doctor` lists plug-ins."
            if plugin.distribution
            else "Check the module's name, and that it can be imported from here.",
        ) from error


def make(plugin: Plugin, *arguments: Any) -> Any:
    """Import what an entry names and, where it is a class, make an object of it.

    Raises:
        Unavailable: When a plug-in cannot be imported, or its class fails.
    """
    found = resolve(plugin)
    if not isinstance(found, type):
        return found
    try:
        return found(*arguments)
    except Exception as error:
        if plugin.is_bundled:
            raise
        raise Unavailable(f"The {plugin.title} cannot be made: {reason_of(error)}.") from error


def reason_of(error: BaseException) -> str:
    """Return an error of somebody else's code as printable text of one line: its type and message."""
    return f"{type(error).__name__}: {printable(str(error), 300)}".rstrip(" :.")


@functools.cache
def warn(sentence: str) -> None:
    """Log a warning, once a process; on standard error unless the program has set up logging of its own."""
    _LOG.warning("repoassay: %s", sentence)


def _import(value: str) -> Any:
    module, _, name = value.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


@contextlib.contextmanager
def _current_folder(*, also: bool) -> Iterator[None]:
    """Let modules in the current folder be imported, after all others: it may hold files of any name."""
    if not also:
        yield
        return
    folder = str(Path.cwd())
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _clash(found: tuple[Plugin, ...]) -> BadInput:
    names = " and ".join(plugin.origin for plugin in found)
    return BadInput(
        f"The {GROUPS[found[0].group]} {found[0].name!r} is offered by {names}.", "Uninstall all of them but one."
    )


@functools.cache
def _bundled() -> Mapping[str, Mapping[str, Plugin]]:
    tables = _source_tables()
    if tables is None:
        from importlib.metadata import PackageNotFoundError, distribution

        try:
            points = tuple(distribution(_SELF).entry_points)
        except PackageNotFoundError:
            points = ()
        tables = {group: {point.name: point.value for point in points if point.group == group} for group in GROUPS}
        if not any(tables.values()):
            raise Unavailable(
                "The package repoassay lies here without its metadata, which says what comes with it.",
                "Install it with pip or uv, or use it from a checkout.",
            )
    return {
        group: {name: Plugin(group, name, value, _SELF) for name, value in tables.get(group, {}).items()}
        for group in GROUPS
    }


def _source_tables() -> dict[str, dict[str, str]] | None:
    """What the pyproject.toml of a source tree declares; None where the package lies in no source tree of ours.

    Preferred to installed metadata, which an editable installation leaves as it was when it was made.
    """
    top = Path(__file__).parents[2]
    if top / "src/repoassay" != Path(__file__).parent:
        return None
    try:
        project = tomllib.loads((top / "pyproject.toml").read_text("utf-8"))["project"]
        tables: dict[str, dict[str, str]] = project["entry-points"]
    except (OSError, ValueError, KeyError):
        return None
    return tables if project.get("name") == _SELF else None


@functools.cache
def _installed() -> Mapping[str, Mapping[str, tuple[Plugin, ...]]]:
    from importlib.metadata import distributions

    found: dict[str, dict[str, dict[str, Plugin]]] = {group: {} for group in GROUPS}
    for distribution in distributions():
        try:
            points = [point for point in distribution.entry_points if point.group in GROUPS]
            owner = normalize_name(distribution.metadata["Name"]) if points else ""
            for point in points if owner != _SELF else ():
                if not _NAME.fullmatch(point.name) or not _VALUE.fullmatch(point.value):
                    warn(f"The entry point {point.name[:64]!a} of {owner} is passed over: it has no usable name.")
                    continue
                place = str(distribution.locate_file(""))
                plugin = Plugin(point.group, point.name, point.value, owner, distribution.version, place)
                found[point.group].setdefault(point.name, {}).setdefault(owner, plugin)  # first on the path wins
        except Exception as error:  # noqa: BLE001 - metadata is somebody else's file, and one bad one must not stop all
            warn(f"The metadata of a distribution cannot be read ({type(error).__name__}); its plug-ins are not seen.")
    return {
        group: {name: tuple(by[owner] for owner in sorted(by)) for name, by in sorted(names.items())}
        for group, names in found.items()
    }
