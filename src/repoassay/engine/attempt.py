"""One attempt: lay the task out, let the agent work, take the submission across, grade it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from repoassay.agents import Agent, in_workspace
from repoassay.engine.change import crossing
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.model_access import AttemptAccess, ModelAccess
from repoassay.engine.starts import Excuse, Starts
from repoassay.engine.submitted_files import describe
from repoassay.engine.verdict_adjustment import adjust_verdict, failure_told_by, started_elsewhere, unstarted
from repoassay.errors import InfraFault, Unavailable
from repoassay.grading import fault, judge, missing_keys, name_isolation, not_gradable
from repoassay.sandbox import Command, Completed, SandboxSetup, temporary_folder
from repoassay.tasks import TaskFolder, refuse_steps
from repoassay.types import (
    AgentEntry,
    Ended,
    FileEdit,
    Limits,
    Reading,
    Spending,
    Submission,
    Verdict,
)
from repoassay.workspace import PreparedTask, cover_installed_copies, cover_runs, lay_out

__all__ = ["AttemptContext", "AttemptResult", "OpenAttempt", "work"]

_START = 2.0
"""Seconds a sandbox may take to start, which the attempt's time at the model proxy does not count."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of one attempt.

    `dropped`: it was cancelled and must not count. `over_run`: see `AttemptAccess`. `excuse`: why its agent could not
    start, and would not when the attempt is made again. `started_well`: whether it did start.
    """

    submission: Submission
    verdict: Verdict
    started: datetime
    ended: datetime
    dropped: bool = False
    spent: Spending | None = None
    over_run: str = ""
    excuse: Excuse | None = None
    started_well: bool = False


@dataclass(frozen=True, slots=True)
class AttemptContext:
    """What an attempt is made with, besides its agent: its id, the plan's settings for it, and the run's meter."""

    id: str
    settings: AgentEntry = field(default_factory=AgentEntry)
    meter: ModelAccess | None = None
    graded: bool = True
    admitted: Callable[[AttemptAccess], None] = lambda _: None
    """Told of the attempt's account as soon as there is one."""
    agent: str = ""
    """The agent's name in the plan."""
    starts: Starts | None = None
    """Who knows which agents of the run start; without, no end is taken for a failed start."""


def work(
    folder: TaskFolder, agent: Agent, bench: GradingContext, into: Path, cancel: threading.Event | None = None,
    entry: AttemptContext | None = None,
) -> AttemptResult:  # fmt: skip
    """Let `agent` attempt a task; its files land in `into/submission`, what it printed in `into/log.txt`.

    A fault of ours becomes an `infra_fault` verdict, so that one broken task never stops a run.
    """
    cancel = cancel or threading.Event()
    entry = entry or AttemptContext(into.name)
    started, began = datetime.now(UTC), time.monotonic()
    submission = Submission()
    account: AttemptAccess | None = None
    try:
        whole = agent.needs_workspace(folder)
        inputs = [name.removeprefix("inputs/") for name in folder.absent if name.startswith("inputs/")]
        if whole and inputs:
            verdict = not_gradable(folder, bench.reading, inputs)
        elif entry.graded and (why := _cannot_judge(folder)):
            verdict = not_gradable(folder, bench.reading, ()).model_copy(update={"comments": (why,)})
        else:
            layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox, whole=whole)
            limits = _limits(layout, bench, entry)
            with _admitted(entry, layout, bench, into, limits, cancel) as account:
                if folder.task.steps:
                    submission, verdict = _walk(layout, agent, bench, into, entry, account)
                else:
                    submission = _submit(layout, agent, bench, into, limits, account)
            if not entry.graded:
                verdict = ungraded(folder, bench.reading)
            elif not folder.task.steps:
                verdict = judge(folder, layout, into / "submission", submission, bench.sandbox, cancel, bench.reading,
                                bench.oracle)  # fmt: skip
    except (InfraFault, Unavailable) as error:
        verdict = fault(folder, error, bench.reading)
    verdict = adjust_verdict(verdict, folder, submission, account)
    verdict, excuse, well = _with_start(verdict, folder, submission, account, entry)
    spent, over = (account.spent, account.over_run) if account else (None, "")
    verdict = name_isolation(verdict, bench.sandbox)
    ended = started + timedelta(seconds=time.monotonic() - began)  # a clock may be set back meanwhile
    return AttemptResult(submission, verdict, started, ended, cancel.is_set(), spent, over, excuse, started_well=well)


def _with_start(
    verdict: Verdict, folder: TaskFolder, submission: Submission, account: AttemptAccess | None, entry: AttemptContext
) -> tuple[Verdict, Excuse | None, bool]:
    """The verdict with what is known of the agent's start, why it is excused, and whether it started."""
    ran = submission.exit is not None and submission.exit.ended is not Ended.CANCELLED
    failure = failure_told_by(verdict, submission, account)
    if failure is None or account is None or account.ran is None or entry.starts is None:
        return verdict, None, ran and failure is None
    try:
        excuse = entry.starts.excuse(entry.agent, *account.ran, failure)
    except (InfraFault, Unavailable) as error:
        return fault(folder, error, verdict.reading), None, False
    if excuse is None:
        return started_elsewhere(verdict, failure), None, False
    return unstarted(verdict, folder, excuse.why, failure.remedy, account), excuse, False


def ungraded(folder: TaskFolder, reading: Reading) -> Verdict:
    """The verdict on a submission that nothing judges: kept, and unknown."""
    verdict = not_gradable(folder, reading, ())
    return verdict.model_copy(
        update={"comments": ("The prompt came without tests or criteria; what it led to is kept.",)}
    )


def _cannot_judge(folder: TaskFolder) -> str:
    """Why nobody is set to work on a task whose tests could not be run here afterwards; empty where they can."""
    every = [folder.task.grading.tests, *(step.tests for step in folder.task.steps)]
    why = next((why for tests in every if tests is not None and (why := missing_keys(tests))), "")
    return why and f"{why} No agent was set to work."


def _limits(layout: PreparedTask, bench: GradingContext, entry: AttemptContext) -> Limits:
    """What an attempt may take; of a task of several steps, what all of them may together."""
    timeout = entry.settings.timeout or bench.timeout
    task = layout.folder.task
    each = [timeout or task.of_step(step).limits.seconds for step in task.steps] or [timeout or task.limits.seconds]
    return task.limits.model_copy(update={"seconds": sum(each)})


def _walk(
    layout: PreparedTask, agent: Agent, bench: GradingContext, into: Path, entry: AttemptContext,
    account: AttemptAccess,
) -> tuple[Submission, Verdict]:  # fmt: skip
    """The attempt at a task of several steps."""
    from repoassay.engine.step_walk import StepWork, walk_steps  # which hardly any task wants

    def submit(step: PreparedTask, start: Mapping[str, FileEdit | None], own: Path, files: Path) -> Submission:
        return _submit(step, agent, bench, into, _limits(step, bench, entry), account, start, own, files)

    def judge_step(step: PreparedTask, files: Path, submission: Submission) -> Verdict:
        return judge(step.folder, step, files, submission, bench.sandbox, account.stopped, bench.reading, bench.oracle)

    return walk_steps(
        StepWork(layout, into, account, bench.sandbox, submit, judge_step if entry.graded else None, account.stopped)
    )


@contextlib.contextmanager
def _admitted(
    entry: AttemptContext,
    layout: PreparedTask,
    bench: GradingContext,
    into: Path,
    limits: Limits,
    cancel: threading.Event,
) -> Iterator[AttemptAccess]:
    if entry.meter is None:
        yield AttemptAccess(into, cancel)
        return
    seconds = limits.seconds + _START
    with entry.meter.admitted(
        entry.id, entry.settings, layout, bench.cache, bench.sandbox, into, seconds, cancel
    ) as account:
        entry.admitted(account)
        yield account


def _submit(
    layout: PreparedTask, agent: Agent, bench: GradingContext, into: Path, limits: Limits, account: AttemptAccess,
    start: Mapping[str, FileEdit | None] | None = None, own: Path | None = None, files: Path | None = None,
) -> Submission:  # fmt: skip
    """Let the agent work; at a step with the changed files this begins with, and folders of its own."""
    command = _without_copies(account.command(agent, layout, limits, own), layout, bench)
    command = replace(command, edits={**(start or {}), **command.edits})
    account.ran = (command, layout)
    with crossing(layout, files or into / "submission") as crossed:
        command = replace(command, collect=(*crossed.collect, *command.collect), log=into / "log.txt")
        done = account.ended(bench.sandbox.run(command, account.cancel))
        left_out = () if account.stopped.is_set() else crossed.submit(bench.sandbox, account.stopped)
    return Submission(files=describe(crossed.files), rejected=left_out + done.rejected, exit=done.exit)


def _without_copies(command: Command, layout: PreparedTask, bench: GradingContext) -> Command:
    """A command that sees no run below its agent's folder, and no later copy of what it is to change.

    Where nothing is isolated, nothing can be covered.
    """
    if not bench.sandbox.network_is_private:
        return command
    covers = cover_runs(set(command.mounts) - set(layout.mounts), bench.cache)
    if layout.folder.task.kind.changes_repository and not layout.folder.task.state:
        covers = (*covers, *cover_installed_copies(layout, bench.cache))
    return replace(command, mounts=(*command.mounts, *covers))


class OpenAttempt:
    """One attempt by whoever holds it, in a session: it is laid out here, and submitted or closed there.

    Args:
        folder: The task.
        bench: What grades it; closed at the end.
        seconds: The most it may take; the task's own limit without.
        change: Makes the setup of the session out of the one an agent gets.

    Attributes:
        folder: The task.
        session: Where the holder works.

    Raises:
        BadInput: It has several steps.
        InfraFault: It cannot be laid out.
    """

    def __init__(
        self, folder: TaskFolder, bench: GradingContext, seconds: float | None,
        change: Callable[[SandboxSetup], SandboxSetup] = lambda setup: setup,
    ) -> None:  # fmt: skip
        refuse_steps(folder, "a session")
        self.folder, self._bench = folder, bench
        with contextlib.ExitStack() as stack:
            stack.callback(bench.oracle.close)
            into = temporary_folder("attempt")
            self._place = Path(stack.enter_context(into))
            self._layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
            self._crossed = stack.enter_context(crossing(self._layout, self._place / "submission"))
            self._limits = folder.task.limits.model_copy(update={"seconds": seconds} if seconds else {})
            setup = _without_copies(in_workspace(self._layout, self._limits, ()), self._layout, bench)
            self._setup = change(replace(setup, collect=self._crossed.collect))
            self.session = stack.enter_context(bench.sandbox.open(self._setup))
            self._done: Completed | None = None
            self._stack = stack.pop_all()

    @property
    def files(self) -> Path:
        """Where the submission's files are."""
        return self._crossed.files

    def command(self, agent: Agent, instruction: str | None = None) -> Command:
        """What an agent of ours would run to make the attempt, told the task's instruction or another one."""
        layout = self._layout
        if instruction is not None:
            layout = replace(layout, folder=replace(layout.folder, instruction=instruction))
        return _without_copies(agent.command(layout, self._limits), layout, self._bench)

    def reopen(self, command: Command) -> None:
        """End the session, with all that was done in it, and open one that has what `command` needs, to exec it there.

        What its environment has beyond the task's is not in the session's, but belongs to that one command.
        """
        self.session.close()
        setup, edits = self._setup, {**self._setup.edits, **command.edits}
        scratch = tuple(dict.fromkeys((*setup.scratch, *command.scratch)))
        setup = replace(setup, mounts=command.mounts, scratch=scratch, edits=edits, doors=command.doors,
                        limits=command.limits)  # fmt: skip
        self.session = self._stack.enter_context(self._bench.sandbox.open(setup))

    def let_work(self, agent: Agent) -> Completed:
        """Have an agent of ours make the attempt instead: in a sandbox of its own, the session is thrown away.

        Raises:
            InfraFault: The sandbox failed.
        """
        self.session.close()
        self._crossed = self._stack.enter_context(crossing(self._layout, self._place / "other"))
        command = self.command(agent)
        command = replace(command, collect=(*self._crossed.collect, *command.collect))
        self._done = self._bench.sandbox.run(command)
        return self._done

    def judge(self) -> Verdict:
        """End the session, take what it left across, and grade that."""
        done = self._done or self.session.close()
        left_out = self._crossed.submit(self._bench.sandbox)
        files = self._crossed.files
        submission = Submission(files=describe(files), rejected=left_out + done.rejected, exit=done.exit)
        sandbox, reading = self._bench.sandbox, self._bench.reading
        return judge(self.folder, self._layout, files, submission, sandbox, None, reading, self._bench.oracle)

    def close(self) -> None:
        """End everything, and throw away what is left."""
        self._stack.close()
