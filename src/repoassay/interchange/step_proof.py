"""Proof of a state task of several steps: their solutions in order pass, and each step's untouched start fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repoassay.agents import find_agent
from repoassay.diffs import PatchError
from repoassay.engine import AttemptContext, GradingContext, set_up, work
from repoassay.formats import edit_task_toml
from repoassay.interchange.proof_clock import ProofClock
from repoassay.interchange.proof_runs import failure_of
from repoassay.interchange.staged_files import keep_staged, run_tests_of_step
from repoassay.sandbox import temporary_folder
from repoassay.tasks import TaskFolder, read_task, step_folders, step_place
from repoassay.text import join_names, printable
from repoassay.types import FileEdit, HiddenTests
from repoassay.workspace import PreparedTask, changes_left, lay_out, step_start

__all__ = ["prove_steps"]

_TIMES = 2
"""Runs of each step's tests on what its solution left."""


def prove_steps(folder: TaskFolder, bench: GradingContext, clock: ProofClock) -> tuple[str, str]:
    """Prove a task; `proven`, `unproven` or `passes untouched`, and why.

    Tests that pass when their step begins become guards in task.toml. What the solutions of a step and of those before
    it have changed is kept as its `solution/changes.diff`, where it passes; the first step that cannot be proved ends
    the proof, and nobody is blamed by it or by those after it. Where a step cannot be proved without what the tests of
    the one before lay out for it, that becomes files of its own.
    """
    kept, still, why = {}, [], ""
    staged: Mapping[str, FileEdit] = {}
    with temporary_folder("proof") as scratch:
        into, left = Path(scratch), b""
        clock.go_on("Its solutions")
        done = work(folder, find_agent("reference"), bench, into, entry=AttemptContext("reference", graded=False))
        layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
        for number, view in enumerate(step_folders(folder)):
            laid = replace(layout, folder=view)
            clock.go_on(f"The tests of the step {view.step} on its untouched files")
            begun = set_up(laid, step_start(view, layout.base, left), bench.sandbox, clock)
            start = {path.lstrip("/"): edit for path, edit in begun.items()}
            untouched, of_untouched = run_tests_of_step(view, laid, start, bench)
            guards = [test.id for test in untouched if test.outcome == "passed"]
            if len(guards) == len(untouched):
                still.append(view.step)
            else:
                folder = _with_guards(folder, number, guards)
            clock.go_on(f"The tests of the step {view.step} on what its solution leaves")
            diff = step_place(into / "submission", view.step) / "changes.diff"
            if not (view.solution / "solve.sh").is_file():
                why = f"The step {view.step} comes without a solution."
            elif not diff.is_file():
                why = printable("; ".join(done.verdict.comments) or f"The step {view.step} was not come to.", 500)
            else:
                left = diff.read_bytes()
                why, of_solution = _failure(view, laid, left, bench)
            if why and keep_staged(view, layout.base, start, staged):
                return prove_steps(read_task(folder.path), bench, clock)  # with more to begin with
            if why:
                clock.go_on(clock.step)  # what it saw may be the clock's doing
                break
            kept[view.step] = left
            staged = {path: edit for path, edit in of_solution.items() if of_untouched.get(path) == edit}
    for name, changes in kept.items():
        (step_place(folder.path, name) / "solution" / "changes.diff").write_bytes(changes)
    if _nothing_passes(folder, layout, still, bench, clock):
        return "passes untouched", "It passes when nobody has done anything; it is left out of the suite."
    if why:
        return "unproven", why
    return "proven", f"When they begin all tests pass already of {join_names(still, 10)}." if still else ""


def _failure(
    view: TaskFolder, layout: PreparedTask, changes: bytes, bench: GradingContext
) -> tuple[str, Mapping[str, FileEdit]]:
    """Why what the solutions left by the end of a step proves nothing, empty where its tests pass; what these leave."""
    left: Mapping[str, FileEdit] = {}
    try:
        edits = changes_left(layout.base, changes)
    except PatchError as error:
        return f"What the solution of the step {view.step} leaves cannot be kept: {printable(str(error), 300)}", {}
    for _ in range(_TIMES):
        tests, left = run_tests_of_step(view, layout, edits, bench)
        if bad := [test for test in tests if test.outcome != "passed"]:
            return f"Step {view.step}: {failure_of(bad, None, '')}", {}
    return "", left


def _with_guards(folder: TaskFolder, number: int, guards: Sequence[str]) -> TaskFolder:
    """The task with the tests of one step told apart, on disk too."""
    step = folder.task.steps[number]
    decisive = tuple(test for test in step.tests.all_ids if test not in set(guards))
    named: HiddenTests = step.tests.model_copy(update={"fail_to_pass": decisive, "pass_to_pass": tuple(guards)})
    if named == step.tests:
        return folder
    steps = list(folder.task.steps)
    steps[number] = step.model_copy(update={"tests": named})
    task = folder.task.model_copy(update={"steps": tuple(steps)})
    (folder.path / "task.toml").write_text(edit_task_toml(task), encoding="utf-8")
    return read_task(folder.path)


def _nothing_passes(
    folder: TaskFolder, layout: PreparedTask, still: Sequence[str], bench: GradingContext, clock: ProofClock
) -> bool:
    """Whether an agent that does nothing would pass: all tests of the steps that count then pass on what there is."""
    views = step_folders(folder)
    counted = views[-1:] if folder.task.grading.reward == "final" else views
    if folder.task.grading.reward == "mean" and views[0].step not in still:
        return False
    clock.go_on("An attempt that does nothing")
    with temporary_folder("proof") as scratch:
        work(folder, find_agent("nothing"), bench, Path(scratch), entry=AttemptContext("nothing", graded=False))
        for view in counted:
            diff = step_place(Path(scratch, "submission"), view.step) / "changes.diff"
            laid = replace(layout, folder=view)
            if not diff.is_file() or _failure(view, laid, diff.read_bytes(), bench)[0]:
                return False
    return True
