"""Tables that benchmarks and plug-ins add to a report, through the entry points `repoassay.tables`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from repoassay import plugins
from repoassay.report.rows import ResultRow
from repoassay.report.tables.value import Table

if TYPE_CHECKING:
    from repoassay.report.figuring import Wanted

__all__ = ["plugin_tables"]


def plugin_tables(rows: Sequence[ResultRow], made: Sequence[Table], wanted: Wanted) -> list[Table]:
    """Ask every entry for its tables: `tables(rows, made, wanted)` returns any number of `Table`.

    A plug-in that raises, that returns something else, or whose table has the name of another is passed over with a
    warning; a bundled one's error is ours and is raised.

    Args:
        rows: The attempts of the report.
        made: Tables of the report so far.
        wanted: What the user asked for beside the runs.
    """
    found: list[Table] = []
    for plugin, tables in plugins.load_all("repoassay.tables"):
        if plugin.is_bundled:
            found += tables(rows, made, wanted)
        else:
            found += _checked(plugin, tables, [*made, *found], lambda ask: ask(rows, made, wanted))
    return found


def _checked(
    plugin: plugins.Plugin, tables: Any, known: Sequence[Table], ask: Callable[[Any], Iterable[Any]]
) -> list[Table]:
    try:
        found: list[Any] = list(ask(tables))
    except Exception as error:  # noqa: BLE001 - a plug-in's bug must not cost the report
        plugins.warn(f"The {plugin.title} failed: {plugins.reason_of(error)}.")
        return []
    names = {table.name for table in known}
    for table in found:
        if not isinstance(table, Table) or table.name in names:
            plugins.warn(f"The {plugin.title} is passed over: it gives no table, or one whose name is taken.")
            return []
        names.add(table.name)
    return found
