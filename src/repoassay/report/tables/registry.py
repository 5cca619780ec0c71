"""Tables that benchmarks offer beside those of the runs: their papers' figures, and sizes of their repositories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from repoassay import plugins
from repoassay.report.results import ResultRow
from repoassay.report.tables.value import Table

__all__ = ["OfferedTables", "are_published", "offered_tables"]


def _no_sizes() -> Mapping[str, Mapping[str, float]]:
    return {}


@dataclass(frozen=True, slots=True)
class OfferedTables:
    """What one benchmark offers; an entry point of the group `repoassay.tables` may name one.

    Attributes:
        suite: Name of the benchmark's suite, in lower case; its runs have these tables unless told otherwise.
        tables: From the tables of the runs by name, to published tables that begin with the rows of the runs.
        sizes: Measure -> repository -> size, of the repositories of the benchmark.
    """

    suite: str
    tables: Callable[[Mapping[str, Table]], list[Table]]
    sizes: Callable[[], Mapping[str, Mapping[str, float]]] = _no_sizes


def offered_tables() -> dict[str, OfferedTables]:
    """All that is offered, by suite: the bundled ones first."""
    offers = (found for _, found in plugins.load_all("repoassay.tables") if isinstance(found, OfferedTables))
    return {offer.suite: offer for offer in offers}


def are_published(rows: Sequence[ResultRow], suites: Collection[str] | None = None) -> bool:
    """Whether published figures stand beside: of these suites, in lower case, or of those of the rows."""
    wanted = {row.run.suite.lower() for row in rows} if suites is None else suites
    return any(suite in wanted for suite in offered_tables())
