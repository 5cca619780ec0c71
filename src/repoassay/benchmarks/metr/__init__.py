"""METR's post of 12 August 2025 on reconciling slowdown with time horizons: its figures as data."""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.benchmarks.metr.tables import POST as POST, AxisFigures as AxisFigures, Fact as Fact
else:
    __getattr__, __dir__ = attach(__name__)
