"""Proof that each step of a task asks for something: where it begins after the solutions before it, its tests fail."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.step_walk import set_up
from repoassay.grading import diff_name, run_tests
from repoassay.tasks import TaskFolder, step_folders
from repoassay.types import Outcome, TaskKind
from repoassay.workspace import lay_out, step_start

__all__ = ["prove_starts"]


def prove_starts(
    folder: TaskFolder, bench: GradingContext, repeat: int = 1
) -> Iterator[tuple[str, tuple[Outcome, ...], bool, str]]:
    """Yield a proof for each step, in order: name, outcomes, whether its tests are as stated, and else which are not.

    A step of which all tests pass when it begins asks for nothing but that they still do, and is told so.
    """
    layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
    left = b""
    for step, view in zip(folder.task.steps, step_folders(folder), strict=True):
        begun = set_up(replace(layout, folder=view), step_start(view, layout.base, left), bench.sandbox)
        start = {path.lstrip("/"): edit for path, edit in begun.items()}
        tests, outcomes = step.tests, []
        wrong: set[str] = set()
        idle = True
        for _ in range(repeat):
            results = run_tests(view, layout.base, start, bench.sandbox, layout.environment, tests.all_ids)
            passed = {result.id for result in results if result.outcome == "passed"}
            idle &= passed >= set(tests.all_ids)
            off = (passed & set(tests.fail_to_pass)) | (set(tests.pass_to_pass) - passed)
            outcomes.append(Outcome.FAILED if not off else Outcome.PASSED)
            wrong |= off
        comment = f"when it begins these do not behave as stated: {', '.join(sorted(wrong))}" if wrong else ""
        comment = "all of its tests pass when it begins" if idle else comment
        yield f"step {step.name}", tuple(outcomes), idle or not wrong, comment
        diff = view.solution / diff_name(TaskKind.STATE)
        if not diff.is_file():
            return  # and nobody is blamed by the steps that follow
        left = diff.read_bytes()
