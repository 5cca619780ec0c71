"""The tables of how attempts ended: those that the page of one run has, and the first of a set's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repoassay.report.results import ResultRow
from repoassay.report.tables.domains import domains, outcomes
from repoassay.report.tables.frameworks import frameworks
from repoassay.report.tables.registry import are_published
from repoassay.report.tables.success import success
from repoassay.report.tables.sweeps import sweeps
from repoassay.report.tables.tokens import tokens
from repoassay.report.tables.value import Table

if TYPE_CHECKING:
    from repoassay.report.reviewed import ReviewedAttempts
    from repoassay.report.tables.sizes import Sizes

__all__ = ["ReportTables", "figure_outcomes", "outcome_tables"]


@dataclass(frozen=True, slots=True)
class ReportTables:
    """Tables by name in the order they are shown, the rows they are of, sizes of repositories, and what people said."""

    rows: Sequence[ResultRow]
    tables: Mapping[str, Table]
    sizes: Sizes = field(default_factory=dict)
    reviewed: ReviewedAttempts | None = None


def figure_outcomes(rows: Sequence[ResultRow]) -> ReportTables:
    """Work out those tables that need neither files beside the rows nor market values; quick, also of a large run.

    Tables of subdomains and tokens are left out where no task has a subdomain and no agent asked a model.
    """
    tables = {table.name: table for table in (*outcome_tables(rows), tokens(rows))}
    needs = {"subdomains": any(row.subdomain for row in rows), "tokens": any(row.tokens is not None for row in rows)}
    return ReportTables(rows, {name: table for name, table in tables.items() if needs.get(name, True)})


def outcome_tables(rows: Sequence[ResultRow], suites: Collection[str] | None = None) -> list[Table]:
    """Rates, outcomes, success, domains and sweeps, in the order they are shown.

    Figures of papers have their columns where those of `suites`, or of the rows, are published.
    """
    published = are_published(rows, suites)
    return [
        frameworks(rows, with_published=published),
        outcomes(rows),
        success(rows),
        domains(rows),
        domains(rows, subdomains=True),
        sweeps(rows, with_published=published),
    ]
