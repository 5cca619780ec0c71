"""Proof by mutants: right answers made wrong on purpose, and which of them a task still accepts.

Knows tasks, sandboxes and grading; not how tasks are laid out, nor who asked. `outputs/` is for deliverables.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.mutants.outputs.battery import run_battery as run_battery
    from repoassay.mutants.outputs.mutant import (
        Battery as Battery,
        Expected as Expected,
        GradedMutant as GradedMutant,
        battery_record as battery_record,
    )
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "outputs.battery": ("run_battery",),
            "outputs.mutant": ("Battery", "Expected", "GradedMutant", "battery_record"),
        },
    )
