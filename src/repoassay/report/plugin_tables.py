"""Tables that benchmarks and plug-ins add to a report, through the entry points `repoassay.tables`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from repoassay import plugins
from repoassay.report.results import ResultRow
from repoassay.report.tables.registry import OfferedTables
from repoassay.report.tables.value import Table

__all__ = ["plugin_tables"]


def plugin_tables(
    rows: Sequence[ResultRow], tables: Sequence[Table], suites: Collection[str] | None = None
) -> list[Table]:
    """Ask every entry for its tables.

    An entry is an `OfferedTables`, asked where its suite is wanted, or a function `(rows, tables)` that returns any
    number of `Table`. A plug-in that raises, that returns something else, or whose table has the name of another is
    passed over with a warning; a bundled one's error is ours and is raised.

    Args:
        rows: The attempts of the report.
        tables: Tables of the report so far.
        suites: Suites whose published tables are wanted, in lower case; None for those of the rows.
    """
    wanted = {row.run.suite.lower() for row in rows} if suites is None else suites
    found: list[Table] = []
    for plugin, entry in plugins.load_all("repoassay.tables"):
        ask = _question(entry, rows, tables, wanted)
        found += ask() if plugin.is_bundled else _checked(plugin, ask, [*tables, *found])
    return found


def _question(
    entry: Any, rows: Sequence[ResultRow], tables: Sequence[Table], wanted: Collection[str]
) -> Callable[[], Iterable[Any]]:
    if not isinstance(entry, OfferedTables):
        return lambda: entry(rows, tables)
    return lambda: entry.tables({table.name: table for table in tables}) if entry.suite in wanted else []


def _checked(plugin: plugins.Plugin, ask: Callable[[], Iterable[Any]], known: Sequence[Table]) -> list[Table]:
    try:
        found: list[Any] = list(ask())
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
