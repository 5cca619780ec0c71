"""The verdict on an attempt at a task of several steps: each step judged as a state task, and what they make together.

An attempt ends with the step whose tests give less than it asks for, as Harbor's do, and with one that nobody can be
judged by, or that was tampered with. The reward of the whole is the mean over the steps that were judged, or that of
the last of them; it is passed where every step was come to and the whole's reward is 1 or more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import repoassay
from repoassay.tasks import TaskFolder, step_folders, step_place
from repoassay.types import (
    Assurance,
    Attribution,
    CriterionResult,
    Outcome,
    Spending,
    StepVerdict,
    TaskStep,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from repoassay.workspace import PreparedTask

__all__ = ["ends_with", "join_verdicts", "judge_steps", "reward_in", "unbegun"]

_Pair = tuple[TaskStep, Verdict]
_GRADES = ("plain", "doubted", "attested")
_ENDING = (Outcome.TAMPERING, Outcome.PATCH_FAILED)
"""Outcomes of the agent's doing after which there is nothing to go on with."""


def judge_steps(
    folder: TaskFolder,
    layout: PreparedTask,
    files: Path,
    judge: Callable[[TaskFolder, PreparedTask, Path], Verdict],
    cancel: threading.Event | None = None,
) -> Verdict:
    """The verdict on a submission that holds what each step left: steps are judged in order until one ends it.

    Args:
        folder: The task.
        layout: The task laid out.
        files: The submission; what a step left is in `steps/NAME`.
        judge: Judges one step.
        cancel: Set to give up early.
    """
    judged: list[Verdict] = []
    for step, view in zip(folder.task.steps, step_folders(folder), strict=True):
        place = step_place(files, step.name)
        if not place.is_dir() or (cancel is not None and cancel.is_set()):
            break
        judged.append(judge(view, replace(layout, folder=view), place))
        if ends_with(step, judged[-1]):
            break
    return join_verdicts(folder, judged)


def unbegun(step: TaskFolder, why: str) -> Verdict:
    """The verdict on a step that could not begin in what was left."""
    return Verdict(
        task=step.task.id,
        task_digest=step.digest,
        outcome=Outcome.FAILED,
        process=True,
        result=False,
        comments=(why,),
        grader=f"repoassay/{repoassay.__version__}",
        graded_at=datetime.now(UTC),
    )


def reward_in(verdict: Verdict) -> float:
    """What a step's tests gave: 0 where they never came to say."""
    return next((each.value or 0.0 for each in verdict.criteria if each.metric == "reward"), 0.0)


def ends_with(step: TaskStep, verdict: Verdict) -> str:
    """Why an attempt ends with a step; empty where the next one follows."""
    if verdict.outcome.whose is not Attribution.AGENT:
        return f"nobody can be judged by the step {step.name}"
    if verdict.outcome in _ENDING:
        return f"the step {step.name} ended as {verdict.outcome.value}"
    reward = reward_in(verdict)
    if step.min_reward is not None and reward < step.min_reward:
        return f"the step {step.name} gave {reward:g}, and {step.min_reward:g} is what the next one asks for"
    return ""


def join_verdicts(folder: TaskFolder, verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on the whole attempt, out of those on the steps that it came to."""
    task = folder.task
    pairs = list(zip(task.steps, verdicts, strict=False))
    left = [step.name for step in task.steps[len(pairs) :]]
    ended = ends_with(*pairs[-1]) if pairs else ""
    counted = pairs[-1:] if task.grading.reward == "final" else pairs
    rewards = [reward_in(verdict) for _, verdict in counted]
    whole = sum(rewards) / len(rewards) if rewards else 0.0
    outcome = _outcome(verdicts, [verdict for _, verdict in counted], whole, complete=not ended and not left)
    agents = outcome.whose is Attribution.AGENT
    return Verdict(
        task=task.id,
        task_digest=folder.digest,
        outcome=outcome,
        process=outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT) if agents else None,
        result=outcome is Outcome.PASSED if agents else None,
        tests=tuple(
            test.model_copy(update={"id": f"{step.name}/{test.id}"})
            for step, verdict in pairs
            for test in verdict.tests
        ),
        criteria=tuple(_criteria(pairs, whole)),
        comments=tuple(_comments(pairs, left, ended)),
        grader=f"repoassay/{repoassay.__version__}",
        graded_at=datetime.now(UTC),
        seconds=round(sum(verdict.seconds for verdict in verdicts), 3),
        assurance=_weakest(counted) if outcome is Outcome.PASSED else None,
        judging=sum(spendings, Spending())
        if (spendings := [each.judging for each in verdicts if each.judging])
        else None,
        steps=tuple(
            StepVerdict(
                name=step.name,
                outcome=verdict.outcome,
                reward=round(reward_in(verdict), 6),
                min_reward=step.min_reward,
                seconds=verdict.seconds,
            )
            for step, verdict in pairs
        ),
    )


def _comments(pairs: Sequence[_Pair], left: Sequence[str], ended: str) -> Iterator[str]:
    if not pairs:
        yield "The submission holds no step's files: steps/NAME/changes.diff."
    elif left:
        yield f"The attempt ended before {' and '.join(left)}{f', since {ended}' if ended else ''}."
    for step, verdict in pairs:
        yield from (f"Step {step.name}: {each}" for each in verdict.comments)


def _criteria(pairs: Sequence[_Pair], whole: float) -> Iterator[CriterionResult]:
    """The reward of the whole, and that of each step."""
    if pairs:
        yield _criterion(".", whole, 1.0)
    for step, verdict in pairs:
        yield _criterion(step.name, reward_in(verdict), 1.0 if step.min_reward is None else step.min_reward)


def _outcome(judged: Sequence[Verdict], counted: Sequence[Verdict], whole: float, *, complete: bool) -> Outcome:
    """A pass, or what became of the first step of those that count which is none."""
    if not judged:
        return Outcome.NO_OUTPUT
    last = judged[-1].outcome
    if last.whose is not Attribution.AGENT or last in _ENDING:
        return last
    bad = [verdict.outcome for verdict in counted if verdict.outcome is not Outcome.PASSED]
    if complete and whole >= 1 and Outcome.TIMED_OUT not in bad:
        return Outcome.PASSED
    return bad[0] if bad else Outcome.FAILED


def _criterion(of: str, reward: float, at_least: float) -> CriterionResult:
    return CriterionResult(
        stage="result",
        metric="reward",
        of=of,
        value=round(reward, 6),
        threshold=f">= {at_least:g}",
        passed=reward >= at_least,
    )


def _weakest(counted: Sequence[_Pair]) -> Assurance | None:
    """How well a pass is assured: as the step that is assured least."""
    found = [verdict.assurance for _, verdict in counted if verdict.assurance is not None]
    if not found or len(found) < len(counted):
        return None
    weakest = min(found, key=lambda each: (_GRADES.index(each.grade), each.bits))
    return weakest.model_copy(
        update={
            "bits": min(each.bits for each in found),
            "doubt": min(each.doubt for each in found),
            "open": tuple(
                f"{step.name}/{why}" for step, verdict in counted if verdict.assurance for why in verdict.assurance.open
            ),
        }
    )
