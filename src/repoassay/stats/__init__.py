"""Rates and their intervals: pure functions and values, standard library alone.

Knows nothing of tasks, agents or files: it is given counts, or truth values that may be unknown.
"""

from __future__ import annotations

from repoassay.stats.intervals import Interval, wilson
from repoassay.stats.rates import Proportion, Rate

__all__ = ["Interval", "Proportion", "Rate", "wilson"]
