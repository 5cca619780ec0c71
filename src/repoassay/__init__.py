"""RepoAssay judges code agents on real repository work.

A task says what is asked; a workspace lays it out in isolation; an agent works there; what it leaves is a submission;
grading turns that into a verdict; reports show what the verdicts add up to.

The names below are the stable interface for Python programs, see docs/reference/python.md::

    import repoassay as ra

    run = ra.evaluate("starter", agent="reference", tasks="edit-*")

They are imported on demand, so that `import repoassay` costs nothing.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from repoassay.agents import CommandMaker as Agent, CommandResult, WorkspaceSession
    from repoassay.api import (
        EvaluatedAttempt,
        Grader,
        Run,
        RunEvent,
        compare,
        evaluate,
        grade,
        load_run,
        open_workspace,
        resume,
        validate,
    )
    from repoassay.engine import GradedSubmission, Stop
    from repoassay.errors import BadInput, InfraFault, Interrupted, MissingExtra, RepoAssayError, Unavailable
    from repoassay.grading import Metric, metric
    from repoassay.sandbox import Command, Sandbox
    from repoassay.stats import Rate
    from repoassay.types import (
        Attempt,
        Limits,
        NetworkPolicy,
        Outcome,
        Plan,
        Reading,
        Spending,
        Submission,
        Suite,
        Task,
        Trajectory,
        Verdict,
    )
    from repoassay.workspace import PreparedTask

    __version__: str

_get, _ = attach(__name__)

__all__ = [
    "Agent",
    "Attempt",
    "BadInput",
    "Command",
    "CommandResult",
    "EvaluatedAttempt",
    "GradedSubmission",
    "Grader",
    "InfraFault",
    "Interrupted",
    "Limits",
    "Metric",
    "MissingExtra",
    "NetworkPolicy",
    "Outcome",
    "Plan",
    "PreparedTask",
    "Rate",
    "Reading",
    "RepoAssayError",
    "Run",
    "RunEvent",
    "Sandbox",
    "Spending",
    "Stop",
    "Submission",
    "Suite",
    "Task",
    "Trajectory",
    "Unavailable",
    "Verdict",
    "WorkspaceSession",
    "__version__",
    "compare",
    "evaluate",
    "grade",
    "load_run",
    "metric",
    "open_workspace",
    "resume",
    "validate",
]


def __getattr__(name: str) -> object:
    if name != "__version__":
        return _get(name)
    from importlib.metadata import version  # on demand: it costs more than the rest of `repoassay --version`

    globals()[name] = version("repoassay")  # the next one who asks finds it at once
    return globals()[name]


def __dir__() -> list[str]:
    return [*globals(), *__all__]
