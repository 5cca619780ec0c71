"""From a plan to stored attempts: plan, execute, record, resume; and validating that tasks can be trusted.

Read `execute.py` for the loop, `attempt.py` for one attempt, `metered.py` for its way to a model, `matrix.py` for what
a plan is made of, `grade.py` for outputs made elsewhere.
"""

from __future__ import annotations

from repoassay.run.attempt import Worked, work
from repoassay.run.execute import Progress, execute
from repoassay.run.grade import grade_outputs
from repoassay.run.plan import Settings, make_plan, open_run
from repoassay.run.resume import resume_run
from repoassay.run.validate import Proof, validate_task

__all__ = [
    "Progress",
    "Proof",
    "Settings",
    "Worked",
    "execute",
    "grade_outputs",
    "make_plan",
    "open_run",
    "resume_run",
    "validate_task",
    "work",
]
