"""Tables that benchmarks offer beside those of the runs: their papers' figures, and sizes of their repositories.

This room names no benchmark: `BUNDLED` is the one list of who offers tables, and a plug-in calls `register_tables`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from repoassay.report.tables.value import Table

__all__ = ["BUNDLED", "OfferedTables", "offered_tables", "register_tables", "tables_beside"]

BUNDLED = ("repoassay.report.tables.beside:GITTASKBENCH", "repoassay.report.tables.beside:RESQ")
"""Objects of type `OfferedTables`, as `module:name`; imported when a report first asks for them."""


def _no_sizes() -> Mapping[str, Mapping[str, float]]:
    return {}


@dataclass(frozen=True, slots=True)
class OfferedTables:
    """What one benchmark offers.

    Attributes:
        suite: Name of the benchmark's suite, in lower case; its runs have these tables unless told otherwise.
        tables: From the tables of the runs by name, to published tables that begin with the rows of the runs.
        sizes: Measure -> repository -> size, of the repositories of the benchmark.
    """

    suite: str
    tables: Callable[[Mapping[str, Table]], list[Table]]
    sizes: Callable[[], Mapping[str, Mapping[str, float]]] = _no_sizes


_installed: dict[str, OfferedTables] = {}


def register_tables(tables: OfferedTables) -> None:
    """Offer tables for a suite; those of an earlier call for the same suite are replaced."""
    _installed[tables.suite] = tables


def offered_tables() -> dict[str, OfferedTables]:
    """All that is offered, by suite: the bundled ones first."""
    return {**_bundled(), **_installed}


@functools.cache
def _bundled() -> dict[str, OfferedTables]:
    parts = (name.partition(":") for name in BUNDLED)
    offers: list[OfferedTables] = [getattr(import_module(module), name) for module, _, name in parts]
    return {offer.suite: offer for offer in offers}


def tables_beside(suites: Collection[str], tables: Sequence[Table]) -> list[Table]:
    """The offered tables of these suites, made from the tables of the runs."""
    by_name = {table.name: table for table in tables}
    return [table for suite, offer in offered_tables().items() if suite in suites for table in offer.tables(by_name)]
