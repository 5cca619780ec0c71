"""What an attempt's end means for its verdict: a spent budget, an upstream that failed, an agent that never began."""

from __future__ import annotations

from dataclasses import replace

from repoassay.agents import HERE, QUICK, StartFailure, last_lines, start_failure
from repoassay.engine.model_access import AttemptAccess
from repoassay.errors import InfraFault
from repoassay.grading import fault
from repoassay.model_proxy import ProviderTrouble
from repoassay.records import JOURNAL, read_calls, read_regular
from repoassay.tasks import TaskFolder
from repoassay.types import Call, Ended, Outcome, Spending, Submission, Verdict

__all__ = ["adjust_verdict", "failure_told_by", "started_elsewhere", "unstarted"]

_STAY = (Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE, Outcome.TAMPERING)
_SETTLED = (*_STAY, Outcome.PASSED)
_LARGEST_LOG = 2**26
_WORDS = {"credentials": "credentials (it refuses the key)", "quota": "quota (nothing is left to spend)"}
_UPSTREAMS = "The model's upstream failed the attempt"


def adjust_verdict(
    verdict: Verdict, folder: TaskFolder, submission: Submission, account: AttemptAccess | None
) -> Verdict:
    """The verdict with the account taken into it.

    In this order: what is not the agent's doing stays as it is, and so does tampering; an attempt that the whole run's
    budget ended is a fault of ours, since others had more; a spent budget of its own is `budget`, with process and
    result as graded; an upstream's outage is a fault of ours, whatever was left behind, since to keep the passes alone
    would count every outage in the agent's favour.
    """
    spent = account.spent if account is not None else None
    if account is None or spent is None or verdict.outcome in _STAY:
        return verdict
    if account.over_run:
        return _fault(
            verdict, folder, f"{account.over_run} The attempt was ended; raise the budget and resume the run."
        )
    timed_out = submission.exit is not None and submission.exit.ended is Ended.TIMED_OUT
    limit = spent.exhausted or _context(account)
    if limit and not timed_out:
        note = f"{limit} What it had left was graded."
        return verdict.model_copy(update={"outcome": Outcome.BUDGET, "comments": (note, *verdict.comments)})
    outage = _outage(spent, submission, account)
    if outage:
        return _fault(verdict, folder, f"{_UPSTREAMS}: {outage}.")
    return verdict


def _context(account: AttemptAccess) -> str:
    """The last answer of the attempt, where it says that the prompt is too long; many agents end by themselves then."""
    last = read_calls(account.into / JOURNAL).calls[-1:]
    if not last or last[0].refused != ProviderTrouble.CONTEXT.value:
        return ""
    return f"The last prompt exceeded the context window ({last[0].detail})."


def _fault(verdict: Verdict, folder: TaskFolder, why: str) -> Verdict:
    base = fault(folder, InfraFault(why), verdict.reading)
    return base.model_copy(update={"comments": (*base.comments, *verdict.comments)})


def _outage(spent: Spending, submission: Submission, account: AttemptAccess) -> str:
    """The upstream's fault the attempt ended with, in words; empty when it ended by itself."""
    refused = spent.calls == 0 and "rejected" in spent.faults
    if not spent.outage and not refused:
        return ""
    calls = [call for call in read_calls(account.into / JOURNAL).calls if call.forwarded]
    if not spent.outage:
        # That no call was answered is the agent's doing, unless the server refuses what we ask it ourselves: in every
        # dialect it was asked in, or an agent could blame the set-up by one more question in one that is not served.
        # An agent that was answered in another attempt can ask otherwise, and would choose so which tasks count.
        looks = [account.own_look(call) for call in calls]
        return looks[-1] if looks and all(looks) else ""
    if not calls:
        return spent.outage
    last = calls[-1]
    if spent.outage == "credentials" and account.answers_us(last):
        return ""  # what it refuses is the question, as moderation does, and not the key
    if last.fault == "closed":
        # The call was under way when the attempt ended: its end is not why the attempt ended, unless it was all that
        # the attempt waited for.
        return _stall(last, submission, account)
    status = f", status {last.status}" if last.status is not None and spent.outage not in _WORDS else ""
    word = _WORDS.get(spent.outage, spent.outage)
    return f"{word} at call {last.seq}{status}, after {len(last.retries)} retries"


def _stall(last: Call, submission: Submission, account: AttemptAccess) -> str:
    """Silence for at least half of an attempt's time, in which it waited; a last call that is merely slow, or that
    nobody waited for, is the agent's affair."""  # fmt: skip
    ending, at = submission.exit, account.ended_at
    if ending is None or at is None or ending.ended is not Ended.TIMED_OUT or last.first_byte is not None:
        return ""
    waited = min((at - last.at).total_seconds(), last.seconds)
    if waited < ending.wall / 2:
        return ""
    return f"silence at call {last.seq}, for the last {waited:.0f} of {ending.wall:.0f} seconds"


def failure_told_by(verdict: Verdict, submission: Submission, account: AttemptAccess | None) -> StartFailure | None:
    """Why the agent could not start, as it tells by its exit status and last lines; None where it did start.

    It had started when it asked a model, left or changed a file, or was at it for longer than a start takes: then the
    same exit status is its own doing.
    """
    ending = submission.exit
    if account is None or ending is None or verdict.outcome in _SETTLED:
        return None
    spent = account.spent
    worked = spent is not None and spent.calls + spent.failed + spent.refused > 0
    left = any(file.size for file in submission.files) or submission.rejected
    if worked or left or ending.wall > QUICK:
        return None
    failure = start_failure(ending, _printed(account))
    if failure is not None and account.outside:
        return replace(failure, remedy=HERE, ours=True)  # what this process lacks, the network too, is ours
    return failure if failure is not None and failure.ours else None


def unstarted(verdict: Verdict, folder: TaskFolder, why: str, remedy: str, account: AttemptAccess) -> Verdict:
    """The verdict on an attempt whose agent could not start: a fault of the set-up, never counted against the agent."""
    base = fault(folder, InfraFault(f"The agent could not start: {why}.", remedy), verdict.reading)
    lines = last_lines(_printed(account))
    return base.model_copy(
        update={"comments": (*base.comments, *((f"It printed: {' | '.join(lines)}",) if lines else ()))}
    )


def started_elsewhere(verdict: Verdict, failure: StartFailure) -> Verdict:
    """The verdict as it stands on an agent that ended as if it could not start, and can."""
    note = (
        f"It ended like a program that cannot start: {failure.why}. But it did start elsewhere in this run or without "
        f"a task, and nothing that RepoAssay looked for is missing, so that this end is its own. {failure.remedy}"
    )
    return verdict.model_copy(update={"comments": (*verdict.comments, note)})


def _printed(account: AttemptAccess) -> str:
    try:
        return read_regular(account.into / "log.txt", _LARGEST_LOG).decode("utf-8", "replace")
    except OSError:
        return ""
