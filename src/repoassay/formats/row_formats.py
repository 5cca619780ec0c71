"""Formats of data-set rows: those of the bundled benchmarks, and those of plug-ins (entry points `repoassay.rows`)."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Protocol

from repoassay import plugins
from repoassay.errors import Unavailable
from repoassay.formats.resq_row import ResqRow
from repoassay.formats.swebench import SweRow

__all__ = ["RowFormat", "bundled_formats", "bundled_keys", "format_of", "forms", "to_row"]

_GROUP = "repoassay.rows"


class RowFormat(Protocol):
    """A class of rows, as a pydantic model is one.

    Attributes:
        KEYS: Keys of a record that show its format. A plug-in's format is taken when a record has all of them and no
            bundled format has all of its own.
        ID_KEY: The key that holds a row's id.
        FORM: What such a row must have, as half a sentence.
    """

    KEYS: ClassVar[frozenset[str]]
    ID_KEY: ClassVar[str]
    FORM: ClassVar[str]

    @classmethod
    def model_validate(cls, obj: Any) -> Any:
        """Make a row of a record.

        Raises:
            ValidationError: With every problem.
        """

    def to_row(self) -> ResqRow | SweRow:
        """Return the row in a bundled format, of which tasks are made; only formats of plug-ins have this method."""


@functools.cache
def bundled_formats() -> tuple[type[RowFormat], ...]:
    """Formats of the bundled benchmarks."""
    return tuple(plugins.resolve(plugin) for plugin in plugins.bundled_plugins(_GROUP).values())


def bundled_keys() -> frozenset[str]:
    """Every key that shows a bundled format."""
    return frozenset().union(*(each.KEYS for each in bundled_formats()))


def format_of(record: Mapping[object, object]) -> type[RowFormat] | None:
    """Return the format of a record by its keys; None when it has none."""
    best = max(bundled_formats(), key=lambda each: len(each.KEYS & record.keys()))
    if record.keys() >= best.KEYS:
        return best
    for each in _plugin_formats():
        if record.keys() >= each.KEYS:
            return each
    return best if best.KEYS & record.keys() else None


def forms(formats: Collection[type[RowFormat]] = ()) -> str:
    """One sentence of what rows must have."""
    text = ", ".join(each.FORM for each in formats or (*bundled_formats(), *_plugin_formats()))
    return f"{text[:1].upper()}{text[1:]}."


def to_row(row: Any) -> ResqRow | SweRow:
    """Return a row of any format in a bundled one.

    Raises:
        Unavailable: When a plug-in's row cannot be turned into one.
    """
    if isinstance(row, ResqRow | SweRow):
        return row
    try:
        found = row.to_row()
    except Exception as error:
        raise Unavailable(f"The row format {type(row).__name__} failed: {plugins.reason_of(error)}.") from error
    if not isinstance(found, ResqRow | SweRow):
        raise Unavailable(f"The row format {type(row).__name__} makes no row of a bundled format.")
    return found


@functools.cache
def _plugin_formats() -> tuple[type[RowFormat], ...]:
    found = [each for plugin, each in plugins.load_all(_GROUP) if not plugin.is_bundled and _usable(plugin, each)]
    return tuple(found)


def _usable(plugin: plugins.Plugin, found: Any) -> bool:
    parts = all(hasattr(found, name) for name in ("KEYS", "ID_KEY", "FORM", "model_validate", "to_row"))
    if not (parts and found.KEYS and all(isinstance(key, str) for key in found.KEYS)):
        plugins.warn(f"The {plugin.title} is passed over: it lacks KEYS, ID_KEY, FORM, model_validate or to_row.")
        return False
    return True
