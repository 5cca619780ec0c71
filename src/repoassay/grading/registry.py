"""Metrics by name: a decorator registers, `task.toml` refers, and a module is imported when one of its metrics is used.

A bundled metric's module is found by the name written in its decorator. A plug-in's metric is found by its entry
point: one of the metric's own name, or, when there is none, any module that the plug-in declares.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from repoassay import plugins
from repoassay.errors import BadInput, Unavailable
from repoassay.grading.protocol import Measurement, Metric

__all__ = [
    "MetricNames",
    "all_metrics",
    "check_plugin",
    "get",
    "metric",
    "module_of",
    "names",
    "plugin_of",
    "use_modules",
]

_Function = TypeVar("_Function", bound=Callable[..., Measurement])
_GROUP = "repoassay.metrics"
_DECORATOR = re.compile(r'^@metric\(\s*"(\w+)"', re.MULTILINE)
_BY_MODULE: dict[str, dict[str, Metric]] = {}
"""Module -> metrics that its decorators have registered, by name."""
_MODULES: dict[str, str] = {}
"""Metric -> entry-point value, as `use_modules` was told."""


def metric(
    name: str,
    *,
    unit: str,
    span: str,
    better: str,
    source: str,
    needs_reference: bool = False,
    packages: tuple[str, ...] = (),
) -> Callable[[_Function], _Function]:
    """Register a function as the metric `name`; see `Metric` for the facts it carries."""

    def register(function: _Function) -> _Function:
        facts = Metric(name, function, unit, span, better, source, needs_reference, packages)
        _BY_MODULE.setdefault(function.__module__, {})[name] = facts
        return function

    return register


class MetricNames(Set[str]):
    """Names of every metric, looked up one at a time: whether a name is known is told without importing its module."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in _index() or plugin_of(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*_index(), *_plugin_names()}))

    def __len__(self) -> int:
        return len(_index().keys() | _plugin_names())

    @classmethod
    def _from_iterable(cls, it: Any) -> Set[Any]:
        return frozenset(it)


def all_metrics() -> tuple[Metric, ...]:
    """Every metric, by name; plug-ins that cannot be imported are warned of and left out."""
    return tuple(found for name in names() if (found := _found_or_none(name)) is not None)


def names() -> MetricNames:
    """Names of every metric."""
    return MetricNames()


def get(name: str) -> Metric:
    """Return a metric by name, importing its module.

    Raises:
        BadInput: When there is none, naming the nearest, or two distributions offer it.
        Unavailable: When it is a plug-in's that cannot be imported.
    """
    if value := _MODULES.get(name) or _index().get(name):
        return _metrics_of(value)[name]
    if plugin := plugin_of(name):
        return _plugin_metrics(plugin)[name]
    near = difflib.get_close_matches(name, names(), n=1)
    remedy = f"Did you mean {near[0]}?" if near else "`repoassay metrics` lists them."
    raise BadInput(f"There is no metric {name!r}.", remedy)


def module_of(name: str) -> str:
    """Return what brings a metric, as an entry point writes it; empty where there is no such metric."""
    if name in _index():
        return _index()[name]
    plugin = plugin_of(name)
    return plugin.value if plugin else ""


def plugin_of(name: str) -> plugins.Plugin | None:
    """Return the plug-in that brings a metric; None for a bundled metric, and where there is none.

    Raises:
        BadInput: When two distributions offer it.
    """
    if name in _index():
        return None
    if any(":" in each.value for each in plugins.installed_plugins(_GROUP).get(name, ())):
        return plugins.find(_GROUP, name)
    found = _in_modules().get(name, ())
    if len(found) > 1:
        origins = " and ".join(plugin.origin for plugin in found)
        raise BadInput(f"The metric {name!r} is offered by {origins}.", "Uninstall all of them but one.")
    return found[0] if found else None


def check_plugin(plugin: plugins.Plugin) -> None:
    """Import the metrics that a plug-in's entry brings, for `repoassay doctor`.

    Raises:
        Unavailable: When it cannot be imported, brings no metric, or one that has a bundled metric's name.
    """
    for name in _plugin_metrics(plugin):
        if name in _index():
            raise Unavailable(f"The {plugin.title} is passed over, since its name is a bundled one.")


def use_modules(modules: Mapping[str, str]) -> None:
    """Say which module brings each metric, where entry points are not to be looked at: in the grading sandbox."""
    _MODULES.update(modules)


@functools.cache
def _index() -> Mapping[str, str]:
    """Bundled metric -> its module, read from the source text, since importing every module takes 80 ms."""
    found = {}
    for plugin in plugins.bundled_plugins(_GROUP).values():
        for folder in importlib.import_module(plugin.value).__path__:
            for path in Path(folder).glob("*.py"):
                module = f"{plugin.value}.{path.stem}"
                found.update(dict.fromkeys(_DECORATOR.findall(path.read_text("utf-8")), module))
    return found


def _found_or_none(name: str) -> Metric | None:
    try:
        return get(name)
    except (BadInput, Unavailable) as error:
        plugins.warn(error.message)
        return None


def _metrics_of(value: str) -> dict[str, Metric]:
    """Import `package.module` or `package.module:Name` and return the metrics it brings."""
    module, _, name = value.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return _metrics_in(found)


def _metrics_in(found: Any) -> dict[str, Metric]:
    """Metrics of a module, of every module of a package, or of one decorated function."""
    if isinstance(found, Metric):
        return {found.name: found}
    if not isinstance(found, ModuleType):
        own = _BY_MODULE.get(getattr(found, "__module__", ""), {})
        return {name: facts for name, facts in own.items() if facts.measure is found}
    for child in pkgutil.iter_modules(getattr(found, "__path__", ())):
        importlib.import_module(f"{found.__name__}.{child.name}")
    start = f"{found.__name__}."
    modules = [module for module in _BY_MODULE if module == found.__name__ or module.startswith(start)]
    return {name: facts for module in modules for name, facts in _BY_MODULE[module].items()}


@functools.cache
def _plugin_metrics(plugin: plugins.Plugin) -> Mapping[str, Metric]:
    """Metrics that a plug-in's entry brings.

    Raises:
        Unavailable: When it cannot be imported, or is no metric.
    """
    found = _metrics_in(plugins.resolve(plugin))
    if not found or (":" in plugin.value and plugin.name not in found):
        what = f"names the metric {', '.join(found)!r}" if found else "names nothing that @metric was put on"
        raise Unavailable(f"The {plugin.title} {what}.", "An entry point and its metric have the same name.")
    return found


@functools.cache
def _in_modules() -> Mapping[str, tuple[plugins.Plugin, ...]]:
    """Metrics of plug-ins that declare whole modules: each is imported; one that fails is warned of."""
    found: dict[str, list[plugins.Plugin]] = {}
    for entries in plugins.installed_plugins(_GROUP).values():
        for plugin in entries:
            if ":" in plugin.value:
                continue
            try:
                for name in _plugin_metrics(plugin):
                    found.setdefault(name, []).append(plugin)
            except Unavailable as error:
                plugins.warn(error.message)
    return {name: tuple(entries) for name, entries in found.items()}


def _plugin_names() -> Set[str]:
    own = {
        name
        for name, entries in plugins.installed_plugins(_GROUP).items()
        if any(":" in each.value for each in entries)
    }
    return own | _in_modules().keys()
