"""What Python programs and the command line call: evaluate, resume, grade, validate, compare, and graders of patches.

Nothing here prints, installs a signal handler or ends the process. All names are offered by `repoassay` itself; this
room knows every room below it, and neither the command line nor the web applications.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from repoassay.api.agents import AgentLike
    from repoassay.api.comparison import compare
    from repoassay.api.evaluation import evaluate, resume
    from repoassay.api.events import (
        AgentStarted,
        AttemptDropped,
        AttemptFinished,
        AttemptStarted,
        RunEvent,
        RunOpened,
        RunPlanned,
        RunResumed,
    )
    from repoassay.api.grader import Grader
    from repoassay.api.outputs import grade
    from repoassay.api.proofs import DataCheck, check_data, validate
    from repoassay.api.runs import EvaluatedAttempt, Run, load_run
    from repoassay.run.matrix import parse_sweeps
    from repoassay.run.prompts import suite_of_prompts
    from repoassay.run.stop import Stop

_HOMES = {
    "AgentLike": "api.agents",
    "AgentStarted": "api.events",
    "AttemptDropped": "api.events",
    "AttemptFinished": "api.events",
    "AttemptStarted": "api.events",
    "DataCheck": "api.proofs",
    "EvaluatedAttempt": "api.runs",
    "Grader": "api.grader",
    "Run": "api.runs",
    "RunEvent": "api.events",
    "RunOpened": "api.events",
    "RunPlanned": "api.events",
    "RunResumed": "api.events",
    "Stop": "run.stop",
    "check_data": "api.proofs",
    "compare": "api.comparison",
    "evaluate": "api.evaluation",
    "grade": "api.outputs",
    "load_run": "api.runs",
    "parse_sweeps": "run.matrix",
    "resume": "api.evaluation",
    "suite_of_prompts": "run.prompts",
    "validate": "api.proofs",
}

__all__ = [
    "AgentLike",
    "AgentStarted",
    "AttemptDropped",
    "AttemptFinished",
    "AttemptStarted",
    "DataCheck",
    "EvaluatedAttempt",
    "Grader",
    "Run",
    "RunEvent",
    "RunOpened",
    "RunPlanned",
    "RunResumed",
    "Stop",
    "check_data",
    "compare",
    "evaluate",
    "grade",
    "load_run",
    "parse_sweeps",
    "resume",
    "suite_of_prompts",
    "validate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"repoassay.{_HOMES[name]}"), name)
