"""Dated indexes: what had been released by some day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["ReleaseDates"]

_TOOLS = frozenset(("flit-core", "pip", "poetry-core", "setuptools", "wheel"))
_TOOLS_FROM = "2023-06-30"
"""Since then all of them install a project in place by the standard (PEP 660); they still took the old ways, too."""


@dataclass(frozen=True, slots=True)
class ReleaseDates:
    """Files released by `day` (`YYYY-MM-DD`, its end in UTC); tools that build packages may be somewhat younger."""

    day: str

    def of(self, project: str) -> Callable[[str], bool]:
        """Whether a file of a project (its normalized name) released at some ISO time is shown; one without is not."""
        last = max(self.day, _TOOLS_FROM) if project in _TOOLS else self.day
        return lambda time: "" < time[:10] <= last
