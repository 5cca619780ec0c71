"""Wrong solutions made on purpose, and how many of them a task's graders refuse: a task's strength.

`edits/` mutates the solutions of tasks that change a repository; `outputs/` makes wrong files of right ones. Knows
tasks, grading and prepared tasks; not who asks, what a run is, or benchmarks. Nothing here is ever kept as a verdict.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.mutants.edits.draw import draw as draw, solution_files as solution_files
    from repoassay.mutants.edits.mutant import Mutant as Mutant
    from repoassay.mutants.edits.strength import (
        StrengthStore as StrengthStore,
        known_strengths as known_strengths,
        strength_line as strength_line,
    )
    from repoassay.mutants.edits.trial import StrengthDemand as StrengthDemand, measure_strength as measure_strength
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "edits.draw": ("draw", "solution_files"),
            "edits.mutant": ("Mutant",),
            "edits.strength": ("StrengthStore", "known_strengths", "strength_line"),
            "edits.trial": ("StrengthDemand", "measure_strength"),
        },
    )
