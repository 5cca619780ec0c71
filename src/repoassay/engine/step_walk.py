"""An attempt at a task of several steps: the agent is started anew for each, in what the one before has left.

Between two steps nothing of the attempt is alive. What a step left crosses as a change of the task's own files and is
judged in a sandbox of its own; the next step begins in a new one, with these files and its own laid over them. So an
agent never meets tests, nor what a later step asks for, and no process, link or device of its goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from repoassay.agents import in_workspace
from repoassay.diffs import PatchError
from repoassay.engine.change import crossing
from repoassay.engine.model_access import AttemptAccess
from repoassay.engine.step_records import join_exits, join_prompts, join_trajectories
from repoassay.engine.submitted_files import describe
from repoassay.errors import InfraFault
from repoassay.grading import diff_name, ends_with, join_verdicts, unbegun, with_ending
from repoassay.sandbox import Sandbox, temporary_folder
from repoassay.tasks import SETUP, step_folders, step_place
from repoassay.text import printable
from repoassay.types import Ended, FileEdit, Submission, TaskKind, Verdict
from repoassay.workspace import PreparedTask, changes_left, step_start

__all__ = ["StepWork", "set_up", "walk_steps"]

_DIFF = diff_name(TaskKind.STATE)
_SETUP_SECONDS = 300.0
_NAMED = 200
"""Files left behind that are named of a whole attempt."""

Edits = Mapping[str, FileEdit | None]


@dataclass(frozen=True, slots=True)
class StepWork:
    """What the steps of one attempt are made with.

    Attributes:
        layout: The task laid out.
        into: The attempt's folder; what is of a step alone lands in `steps/NAME` of it and of its `submission`.
        account: The attempt's account, from which all steps spend.
        sandbox: Where a step is set up.
        submit: Lets the agent work on a step, laid out, with changed files; told where its records and its submission
            go, in this order.
        judge: Judges what a step left; None to judge nothing.
        cancel: Set when the whole attempt is given up.
    """

    layout: PreparedTask
    into: Path
    account: AttemptAccess
    sandbox: Sandbox
    submit: Callable[[PreparedTask, Edits, Path, Path], Submission]
    judge: Callable[[PreparedTask, Path, Submission], Verdict] | None
    cancel: threading.Event


def walk_steps(work: StepWork) -> tuple[Submission, Verdict]:
    """Make the attempt, until a step ends it, its budget is spent, or it is given up.

    Raises:
        InfraFault: The sandbox failed, or nobody can be judged by a step that cannot be set up.
    """
    folder, left = work.layout.folder, b""
    judged: list[Verdict] = []
    step_submissions: list[Submission] = []
    for number, (step, view) in enumerate(zip(folder.task.steps, step_folders(folder), strict=True)):
        layout = replace(work.layout, folder=view)
        with work.account.paused():
            try:
                start = set_up(layout, step_start(view, layout.base, left), work.sandbox, work.cancel)
            except PatchError:
                break  # as the verdict on the step before says, where it is judged
            except SetupFailed as failed:
                judged.append(unbegun(view, str(failed)))
                break
        if number:
            work.account.reopen()
        files = step_place(work.into / "submission", step.name)
        step_submissions.append(work.submit(layout, start, step_place(work.into, step.name), files))
        if work.cancel.is_set():
            break
        left = (files / _DIFF).read_bytes()
        if work.judge is not None:
            with work.account.paused():
                judged.append(work.judge(layout, files, step_submissions[-1]))
            if ends_with(step, judged[-1]):
                break
        if work.account.is_over():
            break
    names = [step.name for step in folder.task.steps[: len(step_submissions)]]
    join_prompts(work.into, names)
    join_trajectories(work.into, names, work.account.trajectories)
    if left:
        (work.into / "submission" / _DIFF).write_bytes(left)
    whole = Submission(
        files=describe(work.into / "submission"),
        rejected=tuple(item for each in step_submissions for item in each.rejected)[:_NAMED],
        exit=join_exits([each.exit for each in step_submissions], folder.task.grading.reward),
    )
    verdict = join_verdicts(folder, judged)
    return whole, with_ending(verdict, whole.model_copy(update={"rejected": ()}))


class SetupFailed(Exception):
    """What was left keeps a step from being set up; says how."""


def set_up(layout: PreparedTask, start: Edits, sandbox: Sandbox, cancel: threading.Event | None = None) -> Edits:
    """Run the `setup.sh` of a step, where it has one, on the files it begins with; what these are then.

    It runs in a sandbox of its own, without the network, and its script does not stay; what it covered does.

    Raises:
        SetupFailed: It does not come to a good end, although it did after the solution of the step before.
        InfraFault: It does not come to a good end, and was never seen to.
    """
    view, state = layout.folder, layout.folder.task.state
    script = step_place(view.path, view.step) / SETUP
    if state is None or not script.is_file():
        return {f"/{name}": edit for name, edit in start.items()}
    place = f"{state.work}/{SETUP}"
    begun = {f"/{name}": edit for name, edit in start.items()}
    # What was left where the script goes, a folder perhaps, is put back once it has run.
    covered = {name: edit for name, edit in begun.items() if name == place or name.startswith(f"{place}/")}
    begun = {name: edit for name, edit in begun.items() if name not in covered}
    begun[place] = FileEdit(script.read_bytes(), executable=True)
    limits = view.task.limits.model_copy(update={"seconds": _SETUP_SECONDS})
    with temporary_folder("setup") as scratch:
        with crossing(layout, Path(scratch)) as crossed:
            command = replace(in_workspace(layout, limits, ("/bin/bash", place), edits=begun), collect=crossed.collect)
            done = sandbox.run(command, cancel)
            crossed.submit(sandbox, cancel)
        diff = Path(scratch, _DIFF).read_bytes()
    why, edits = "", dict[str, FileEdit | None]()
    try:
        edits = changes_left(layout.base, diff)
    except PatchError as error:
        why = f"What the {SETUP} of the step {view.step} leaves cannot be kept: {error}"
    if (done.exit.ended, done.exit.code) != (Ended.EXITED, 0):
        message = printable(done.stderr.decode(errors="replace").strip()[-300:])
        why = f"The {SETUP} of the step {view.step} ended as {done.exit.ended.value}, {done.exit.code}: {message}"
    if why and (view.solution / _DIFF).is_file():
        raise SetupFailed(why)
    if why:
        raise InfraFault(f"{why} The step is unproven, so that nobody is judged by it.")
    edits.pop(place.lstrip("/"), None)
    whole = {f"/{name}": edit for name, edit in edits.items()} | covered
    return dict(sorted(whole.items(), key=lambda item: item[1] is not None))
