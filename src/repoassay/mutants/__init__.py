"""Wrong answers made on purpose, and which of them a task's graders accept: its strength.

`edits/` mutates the solutions of tasks that change a repository; `outputs/` makes wrong files of right ones. Knows
tasks, sandboxes, grading and prepared tasks; not who asks, what a run is, or benchmarks. Nothing here is ever kept as a
verdict.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.mutants.edits.draw import draw as draw, solution_files as solution_files
    from repoassay.mutants.edits.strength import (
        StrengthStore as StrengthStore,
        known_strengths as known_strengths,
        strength_line as strength_line,
    )
    from repoassay.mutants.edits.trial import StrengthDemand as StrengthDemand, measure_strength as measure_strength
    from repoassay.mutants.outputs.battery import run_battery as run_battery
    from repoassay.mutants.outputs.mutant import (
        Battery as Battery,
        Expected as Expected,
        GradedMutant as GradedMutant,
        battery_record as battery_record,
        battery_strength as battery_strength,
    )
else:
    __getattr__, __dir__ = attach(__name__)
