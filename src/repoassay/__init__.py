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

_HOMES = {
    "agents": ("CommandResult", "WorkspaceSession"),
    "api": (
        "EvaluatedAttempt", "Grader", "Run", "RunEvent", "compare", "evaluate", "grade", "load_run",
        "open_workspace", "resume", "validate",
    ),
    "engine": ("GradedSubmission", "Stop"),
    "errors": ("BadInput", "InfraFault", "Interrupted", "MissingExtra", "RepoAssayError", "Unavailable"),
    "grading": ("Metric", "metric"),
    "sandbox": ("Command", "Sandbox"),
    "stats": ("Rate",),
    "types": (
        "Attempt", "Limits", "NetworkPolicy", "Outcome", "Plan", "Reading", "Spending", "Submission", "Suite", "Task",
        "Trajectory", "Verdict",
    ),
    "workspace": ("PreparedTask",),
}  # fmt: skip
_get = attach(__name__, _HOMES)[0]

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
    if name == "__version__":  # read on demand: importlib.metadata costs more than the rest of `repoassay --version`
        from importlib.metadata import version

        found: object = version("repoassay")
    elif name == "Agent":
        from repoassay.agents import CommandMaker

        found = CommandMaker
    else:
        return _get(name)
    globals()[name] = found  # the next one who asks finds it at once
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
