"""Proof that a task can be trusted: its solution passes, and whatever is not a solution fails, time after time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import repoassay
from repoassay.agents import find_agent
from repoassay.engine.assess import TaskAssurance, assess_task
from repoassay.engine.attempt import work
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.step_walk import set_up
from repoassay.errors import InfraFault
from repoassay.grading import ENOUGH, can_doubt, can_run_node, diff_name, run_tests
from repoassay.mutants import (
    Battery,
    StrengthDemand,
    StrengthStore,
    battery_strength,
    measure_strength,
    run_battery,
    strength_line,
)
from repoassay.sandbox import temporary_folder
from repoassay.tasks import TaskFolder, step_folders
from repoassay.text import join_names
from repoassay.types import Outcome, TaskKind, TaskStrength
from repoassay.workspace import PreparedTask, lay_out, step_start

__all__ = ["MUST_FAIL", "Proof", "prove_mutants", "validate_task"]

MUST_FAIL = {
    TaskKind.DELIVERABLE: ("nothing", "copycat", "empty", "garbage", "constant", "noise"),
    TaskKind.EDIT: ("nothing", "copycat", "empty", "garbage"),
    TaskKind.PULL_REQUEST: ("nothing", "copycat", "empty", "garbage"),
    TaskKind.STATE: ("nothing", "empty", "garbage"),
}
"""Agents whose submissions are not solutions: untouched workspace, copied inputs, empty files, plausible garbage."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcomes of one agent's submission over all repetitions. `sound` when it was what it must be every time.

    Only the proof of that name sets `assurance`, `strength`, or, named `mutants`, `battery`; `weak` says of the last
    two that more survived than is tolerated.
    """

    task: str
    name: str
    outcomes: tuple[Outcome, ...]
    sound: bool
    comment: str = ""
    assurance: TaskAssurance | None = None
    strength: TaskStrength | None = None
    weak: bool = False
    battery: Battery | None = None

    @property
    def stable(self) -> bool:
        """Whether every repetition ended alike."""
        return len(set(self.outcomes)) <= 1


def validate_task(
    folder: TaskFolder, bench: GradingContext, repeat: int = 1, required: float = 0.0, *, solution_only: bool = False,
    strength: StrengthDemand | None = None, mutants: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Proof]:  # fmt: skip
    """Prove one task, each proof `repeat` times, and that passes can be attested with `required` bits.

    With `strength`, mutants of the solution of a task that changes a repository are tried once, and `progress` is told
    of each; with `mutants`, a deliverable task must refuse at most so many outputs made wrong from its solution's.

    With `solution_only`, for a task whose base and solution have just run often enough, only what grading makes of its
    solution and of nothing is proved.

    Raises:
        InfraFault: When the task's repository or environment cannot be had.
    """
    tests = folder.task.grading.tests
    if tests is not None and tests.runner == "node" and (why := can_run_node()):
        return [Proof(folder.task.id, "node", (Outcome.NOT_GRADABLE,), sound=True, comment=why)]
    steps = step_folders(folder)
    solved = all(each.solution.is_dir() for each in steps or [folder])  # a published task may lack its solution
    names = (*(("reference",) if solved else ()), *MUST_FAIL[folder.task.kind])
    if solution_only:
        return [_prove(folder, name, bench, repeat) for name in names[:2]]
    proofs = [_prove(folder, name, bench, repeat) for name in names]
    if steps:
        proofs += _prove_starts(folder, bench, repeat) if solved else []
    elif folder.task.kind.changes_repository:
        assurance = assess_task(folder, bench)
        proofs += [_prove_base(folder, bench, repeat), _prove_doubt(folder, assurance, repeat)]
        proofs.append(_prove_attested(folder, assurance, required, repeat))
        if strength is not None and strength.count:
            proofs.append(_prove_strength(folder, bench, strength, repeat, progress))
    elif solved and mutants:
        proofs.append(prove_mutants(folder, bench, mutants, repeat))
    return proofs


def _prove(folder: TaskFolder, name: str, bench: GradingContext, repeat: int) -> Proof:
    agent = find_agent(name)
    outcomes: list[Outcome] = []
    comment = ""
    for _ in range(repeat):
        bench.go_on()
        with temporary_folder("proof") as place:
            worked = work(folder, agent, bench, Path(place))
        verdict = worked.verdict
        outcomes.append(verdict.outcome)
        good = (verdict.outcome is Outcome.PASSED) if name == "reference" else (verdict.result is False)
        good |= verdict.outcome is Outcome.NOT_GRADABLE and bool(folder.absent)
        if not good and not comment:
            comment = "; ".join(verdict.comments) or f"ended as {verdict.outcome.value}"
    return Proof(folder.task.id, name, tuple(outcomes), sound=not comment, comment=comment)


def prove_mutants(folder: TaskFolder, bench: GradingContext, most: int, repeat: int = 1) -> Proof:
    """Outputs made wrong from the solution's are refused, and those written otherwise are accepted.

    They are graded once: whether grading is stable the other proofs show. The share that is refused is kept, so that
    runs of the task are told of it.
    """
    with temporary_folder("proof") as place:
        worked = work(folder, find_agent("reference"), bench, Path(place))
        if worked.verdict.outcome is Outcome.PASSED:
            try:
                battery = run_battery(folder, Path(place, "submission"), bench.sandbox, most=most)
            except InfraFault as fault:
                return Proof(
                    folder.task.id, "mutants", (Outcome.INFRA_FAULT,) * repeat, sound=False, comment=str(fault)
                )
        else:
            battery = Battery(folder.task.id, why="no right output to make mutants of: the solution did not pass")
    if battery.mutants:
        grader = f"repoassay/{repoassay.__version__} outputs"
        StrengthStore(bench.cache.path).put(battery_strength(battery, folder.digest, grader))
    outcome = (Outcome.FAILED if battery.sound else Outcome.PASSED) if battery.mutants else Outcome.NOT_GRADABLE
    outcomes = (outcome,) * repeat
    return Proof(
        folder.task.id,
        "mutants",
        outcomes,
        sound=battery.sound,
        comment=str(battery),
        weak=battery.weak,
        battery=battery,
    )


def _prove_base(folder: TaskFolder, bench: GradingContext, repeat: int) -> Proof:
    """On the base commit every fail-to-pass test fails and every pass-to-pass test passes.

    Each file runs by itself: one that the base cannot import would keep the others from running.
    """
    tests = folder.task.hidden_tests
    layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
    if tests.runner == "repository":
        return _prove_in_place(folder, layout, bench, repeat)
    files: dict[str, list[str]] = {}
    for test in tests.all_ids:
        files.setdefault(test.partition("::")[0], []).append(test)
    outcomes: list[Outcome] = []
    wrong: set[str] = set()
    for _ in range(repeat):
        runs = [run_tests(folder, layout.base, {}, bench.sandbox, layout.environment, ids) for ids in files.values()]
        passed = {result.id for results in runs for result in results if result.outcome == "passed"}
        off = (passed & set(tests.fail_to_pass)) | (set(tests.pass_to_pass) - passed)
        outcomes.append(Outcome.FAILED if not off else Outcome.PASSED)
        wrong |= off
    comment = f"on the base commit these do not behave as stated: {', '.join(sorted(wrong))}" if wrong else ""
    return Proof(folder.task.id, "base", tuple(outcomes), sound=not wrong, comment=comment)


def _prove_starts(folder: TaskFolder, bench: GradingContext, repeat: int) -> list[Proof]:
    """Where a step begins after the solutions before it, its tests behave as stated, or all of them pass already."""
    layout, left, proofs = lay_out(folder, bench.repositories, bench.cache, bench.sandbox), b"", []
    for step, view in zip(folder.task.steps, step_folders(folder), strict=True):
        begun = set_up(replace(layout, folder=view), step_start(view, layout.base, left), bench.sandbox)
        start = {path.lstrip("/"): edit for path, edit in begun.items()}
        tests, outcomes = step.tests, []
        wrong: set[str] = set()
        for _ in range(repeat):
            results = run_tests(view, layout.base, start, bench.sandbox, layout.environment, tests.all_ids)
            passed = {result.id for result in results if result.outcome == "passed"}
            off = (passed & set(tests.fail_to_pass)) | (set(tests.pass_to_pass) - passed)
            outcomes.append(Outcome.FAILED if not off else Outcome.PASSED)
            wrong |= off
        idle = wrong == set(tests.fail_to_pass)
        comment = f"when it begins these do not behave as stated: {', '.join(sorted(wrong))}" if wrong else ""
        comment = "all of its tests pass when it begins" if idle else comment
        name = f"step {step.name}"
        proofs.append(Proof(folder.task.id, name, tuple(outcomes), sound=idle or not wrong, comment=comment))
        diff = view.solution / diff_name(TaskKind.STATE)
        if not diff.is_file():
            break  # and nobody is blamed by the steps that follow
        left = diff.read_bytes()
    return proofs


def _prove_in_place(folder: TaskFolder, layout: PreparedTask, bench: GradingContext, repeat: int) -> Proof:
    """Tests that run in place are proved by runs of both sides that are kept; here it is told what they came to."""
    try:
        proof = bench.oracle.proof(folder, layout.base, layout.environment)
    except InfraFault as fault:
        return Proof(folder.task.id, "base", (Outcome.INFRA_FAULT,) * repeat, sound=False, comment=str(fault))
    lost = list(proof.excluded)
    comment = f"excluded, since the solution does not pass them here: {join_names(lost, 5)}" if lost else ""
    return Proof(folder.task.id, "base", (Outcome.FAILED,) * repeat, sound=True, comment=comment)


def _prove_doubt(folder: TaskFolder, assurance: TaskAssurance, repeat: int) -> Proof:
    """A pass that is not attested can be doubted: some assertion can be changed so that its test must fail."""
    tests = folder.task.grading.tests
    if tests is not None and tests.runner == "repository":
        comment = "tests that run in place are doubted where an assertion of them can be altered"
        return Proof(folder.task.id, "canary", (Outcome.NOT_GRADABLE,) * repeat, sound=True, comment=comment)
    able = assurance.reaches(ENOUGH) or can_doubt(folder)
    comment = "" if able else "no fail_to_pass test has an assertion that can be altered, so no pass can be doubted"
    outcomes = (Outcome.FAILED if able else Outcome.PASSED,) * repeat
    return Proof(folder.task.id, "canary", outcomes, sound=able, comment=comment)


def _prove_attested(folder: TaskFolder, assurance: TaskAssurance, required: float, repeat: int) -> Proof:
    """A forger has to guess as many bits as are required; with 0 it is only told how many that is."""
    enough = not required or assurance.reaches(required)
    comment = str(assurance) if enough else f"less than attested with {required:g} bits: {assurance}"
    outcomes = (Outcome.PASSED if enough else Outcome.FAILED,) * repeat
    return Proof(folder.task.id, "assurance", outcomes, sound=enough, comment=comment, assurance=assurance)


def _prove_strength(
    folder: TaskFolder, bench: GradingContext, demand: StrengthDemand, repeat: int,
    progress: Callable[[str, int, int], None] | None,
) -> Proof:  # fmt: skip
    """The hidden tests refuse the share of mutants that is required; what cannot be measured is told, not refused."""
    layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
    try:
        found = measure_strength(layout, bench.sandbox, bench.cache, bench.oracle, demand, progress=progress)
    except InfraFault as fault:
        return Proof(folder.task.id, "strength", (Outcome.INFRA_FAULT,) * repeat, sound=True, comment=str(fault))
    enough = not found.below(demand.required)
    outcomes = (Outcome.NOT_GRADABLE if found.share is None else Outcome.PASSED if enough else Outcome.FAILED,) * repeat
    weak = found.below(demand.tolerance)
    line = strength_line(found)
    comment = line if enough else f"less than {demand.required:.0%} of the mutants are killed: {line}"
    comment += f"; weak, since less than {demand.tolerance:.0%} are killed" if weak else ""
    return Proof(folder.task.id, "strength", outcomes, sound=enough, comment=comment, strength=found, weak=weak)
