"""The Pareto curve of alpha over repositories (GitTaskBench, Figure 6): largest first, cumulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["ParetoCurve", "ParetoPoint", "pareto"]


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """One repository: its figure, the sum up to and with it in US dollars, and that sum's share of the net.

    Where some figures are negative, the sum rises above the net and comes back, so shares exceed 1 on the way.
    `share` is None where the net is not above 0.
    """

    name: str
    alpha: Decimal
    cumulative: Decimal
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class ParetoCurve:
    """Points from the largest figure to the smallest, equal ones by name; `net` is the sum of all."""

    points: tuple[ParetoPoint, ...]
    net: Decimal

    @property
    def positive(self) -> int:
        """How many are above 0."""
        return sum(point.alpha > 0 for point in self.points)

    @property
    def peak(self) -> Decimal:
        """The greatest sum, which leaving out every loss would give; 0 without a gain."""
        return max((point.cumulative for point in self.points), default=Decimal(0)).max(Decimal(0))

    def top(self, count: int) -> Decimal | None:
        """Share of the net that the first `count` have together; None where the net is not above 0.

        Raises:
            ValueError: When there are not so many, or `count` is below 1.
        """
        if not 1 <= count <= len(self.points):
            raise ValueError(f"there is no top {count} of {len(self.points)}")
        return self.points[count - 1].share


def pareto(figures: Mapping[str, Decimal]) -> ParetoCurve:
    """Sort and cumulate figures by repository, US dollars."""
    net = sum(figures.values(), Decimal(0))
    points: list[ParetoPoint] = []
    running = Decimal(0)
    for name, figure in sorted(figures.items(), key=lambda entry: (-entry[1], entry[0])):
        running += figure
        points.append(ParetoPoint(name, figure, running, running / net if net > 0 else None))
    return ParetoCurve(tuple(points), net)
