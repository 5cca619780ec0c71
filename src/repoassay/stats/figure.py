"""A number that says how it was got, from how many, and why where there is none."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Figure", "Significance"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One statistic.

    `value` is None exactly where `undefined` holds the reason, one sentence. `n` counts what `method` says. `note` is
    what a reader must know of a value that exists; often empty.
    """

    value: float | None
    method: str
    n: int
    undefined: str = ""
    note: str = ""

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


@dataclass(frozen=True, slots=True)
class Significance:
    """A test of a hypothesis: the p-value, between 0 and 1, and what was observed.

    `p_value` is None exactly where `undefined` holds the reason. `statistic` is in the unit that `method` names.
    """

    p_value: float | None
    statistic: float | None
    method: str
    n: int
    undefined: str = ""
    note: str = ""

    @property
    def defined(self) -> bool:
        """Whether there is a p-value."""
        return self.p_value is not None
