"""Formats of data-set rows: those of the bundled benchmarks, and those of plug-ins (entry points `repoassay.rows`)."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Protocol

from pydantic import ValidationError

from repoassay import plugins
from repoassay.errors import BadInput, Unavailable
from repoassay.formats.edit_row import EditRow, TaskParts
from repoassay.text import quote

__all__ = ["RowFormat", "bundled_formats", "bundled_keys", "format_of", "forms", "parts_of", "to_row"]

_GROUP = "repoassay.rows"


class RowFormat(Protocol):
    """A class of rows, as a pydantic model is one.

    What it makes is an `EditRow`, or has a method `to_row()` that returns one of another format.

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


@functools.cache
def bundled_formats() -> tuple[type[RowFormat], ...]:
    """Formats of the bundled benchmarks."""
    return tuple(plugins.resolve(plugin) for plugin in plugins.bundled_plugins(_GROUP).values())


def bundled_keys() -> frozenset[str]:
    """Every key that shows a bundled format."""
    return frozenset().union(*(each.KEYS for each in bundled_formats()))


def format_of(record: Mapping[object, object]) -> type[RowFormat] | None:
    """Return the format of a record by its keys; None when it has none."""
    best = max(
        bundled_formats(),
        key=lambda each: (record.keys() >= each.KEYS, len(each.KEYS & record.keys()), len(each.KEYS)),
        default=None,
    )
    if best is not None and record.keys() >= best.KEYS:
        return best
    for each in _plugin_formats():
        if record.keys() >= each.KEYS:
            return each
    return best if best is not None and best.KEYS & record.keys() else None


def forms(formats: Collection[type[RowFormat]] = ()) -> str:
    """One sentence of what rows must have."""
    text = ", ".join(each.FORM for each in formats or (*bundled_formats(), *_plugin_formats()))
    return f"{text[:1].upper()}{text[1:]}."


def to_row(row: Any) -> EditRow:
    """Return the row that a format made, or the one that stands for it.

    Raises:
        BadInput: When no tasks can be made of such rows.
        ValidationError: When it says what the row that stands for it may not.
        Unavailable: When a plug-in's row cannot be turned into one that tasks can be made of.
    """
    try:
        found = row if isinstance(row, EditRow) else row.to_row()
    except (BadInput, ValidationError):
        raise
    except Exception as error:
        raise _failed(row, error) from error
    if not isinstance(found, EditRow):
        raise Unavailable(f"The row format {type(row).__name__} makes no row that tasks can be made of.")
    return found


def parts_of(row: EditRow) -> TaskParts:
    """Return what only the row's own format can say of its task.

    Raises:
        BadInput: When the row cannot be a task.
        ValidationError: When what it says is no task's.
        Unavailable: When the row is a plug-in's, and fails.
    """
    try:
        parts = row.task_parts()
    except (BadInput, ValidationError, UnicodeEncodeError):
        raise
    except Exception as error:
        if isinstance(row, bundled_formats()):
            raise
        raise _failed(row, error) from error
    for path in parts.files:
        if not {"", ".", ".."}.isdisjoint(path.split("/")) or "\0" in path:
            raise BadInput(f"its file {quote(path)} has no place in a task folder.")
    return parts


def _failed(row: object, error: Exception) -> Unavailable:
    return Unavailable(f"The row format {type(row).__name__} failed: {plugins.reason_of(error)}.")


@functools.cache
def _plugin_formats() -> tuple[type[RowFormat], ...]:
    found = [each for plugin, each in plugins.load_all(_GROUP) if not plugin.is_bundled and _usable(plugin, each)]
    return tuple(found)


def _usable(plugin: plugins.Plugin, found: Any) -> bool:
    parts = all(hasattr(found, name) for name in ("KEYS", "ID_KEY", "FORM", "model_validate"))
    rows = hasattr(found, "to_row") or hasattr(found, "task_parts")
    if not (parts and rows and found.KEYS and all(isinstance(key, str) for key in found.KEYS)):
        plugins.warn(
            f"The {plugin.title} is passed over: it lacks KEYS, ID_KEY, FORM, model_validate or one of to_row"
            " and task_parts."
        )
        return False
    return True
