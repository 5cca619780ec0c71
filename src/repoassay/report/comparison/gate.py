"""Whether a comparison is a regression: what `--fail-on-regression` and its two options decide."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.report.comparison.pairs import OutcomeChange
from repoassay.report.comparison.versus import Comparison, Versus
from repoassay.stats import p_text

__all__ = ["RegressionGate", "Ruling", "rule"]


@dataclass(frozen=True, slots=True)
class RegressionGate:
    """What counts as a regression.

    A significantly lower rate always does. `max_drop` is a number of points (0 to 100) that the rate may fall,
    significant or not; `any_broken` lets no task break.
    """

    max_drop: float | None = None
    any_broken: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """Why a comparison is a regression, one sentence each; none where it is not."""

    versus: Versus
    reasons: tuple[str, ...]


def rule(comparison: Comparison, gate: RegressionGate) -> tuple[Ruling, ...]:
    """Decide for each comparison of the first system with another; where nothing was judged, it is one."""
    baseline = comparison.sides[0]
    return tuple(
        Ruling(one, tuple(_reasons(one, comparison.level, gate))) for one in comparison.versus if one.first is baseline
    )


def _reasons(versus: Versus, level: float, gate: RegressionGate) -> list[str]:
    difference = versus.difference
    if difference is None:
        return ["No task has an answer on both sides, so nothing can be said of a regression."]
    reasons = []
    if difference < 0 and versus.adjusted is not None and versus.adjusted < level:
        reasons.append(
            f"The rate fell by {-100 * difference:.1f} points,"
            f" more than chance ({p_text(versus.adjusted)}, level {level:g})."
        )
    # A hair is floating point, not a drop.
    if gate.max_drop is not None and -100 * difference > gate.max_drop + 1e-9:
        reasons.append(f"The rate fell by {-100 * difference:.1f} points, more than the {gate.max_drop:g} allowed.")
    broken = versus.count(OutcomeChange.BROKEN)
    if gate.any_broken and broken:
        reasons.append(f"{broken} of {versus.judged} judged tasks broke.")
    return reasons
