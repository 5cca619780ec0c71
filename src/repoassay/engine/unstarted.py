"""Attempts whose agent could not start: a fault of the set-up, never counted against the agent.

It had started when it asked a model, left or changed a file, or was at it for longer than a start takes: then the same
exit status is its own doing. A function of this process starts whatever it prints.
"""

from __future__ import annotations

from repoassay.agents import QUICK, last_lines, start_failure
from repoassay.engine.model_access import AttemptAccess
from repoassay.errors import InfraFault
from repoassay.grading import fault
from repoassay.records import read_regular
from repoassay.tasks import TaskFolder
from repoassay.types import Outcome, Submission, Verdict

__all__ = ["unstarted"]

_STAY = (Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE, Outcome.TAMPERING, Outcome.PASSED)
_LOG = 2**26


def unstarted(
    verdict: Verdict, folder: TaskFolder, submission: Submission, account: AttemptAccess | None
) -> Verdict | None:
    """The verdict on an attempt whose agent could not start; None for every other."""
    ending = submission.exit
    if account is None or account.outside or ending is None or verdict.outcome in _STAY:
        return None
    spent = account.spent
    worked = spent is not None and spent.calls + spent.failed + spent.refused > 0
    left = any(file.size for file in submission.files) or submission.rejected
    if worked or left or ending.wall > QUICK:
        return None
    try:
        output = read_regular(account.into / "log.txt", _LOG).decode("utf-8", "replace")
    except OSError:
        output = ""
    failure = start_failure(ending, output)
    if failure is None or not failure.ours:
        return None
    told = fault(folder, InfraFault(f"The agent could not start: {failure.why}.", failure.remedy), verdict.reading)
    lines = last_lines(output)
    return told.model_copy(
        update={"comments": (*told.comments, *((f"It printed: {' | '.join(lines)}",) if lines else ()))}
    )
