"""A task of two commits: drafted, proved in the sandbox, and only then given its place."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repoassay.construct.draft import draft_commit
from repoassay.construct.hints import hints
from repoassay.construct.history import History, find_repository, open_history
from repoassay.construct.node.recipe import node_recipes
from repoassay.construct.node.trial import try_node_recipes
from repoassay.construct.placement import (
    bundle_base,
    check_free,
    part_folder,
    place_task,
    tasks_folder,
    write_task_draft,
)
from repoassay.construct.prove import ProofCase, ProofFinding, ProofRole, ProvenTask, flip_rate, prove, prove_in_place
from repoassay.construct.recipe.infer import Inference, infer
from repoassay.construct.recipe.project import Project
from repoassay.construct.recipe.requirement_lines import pinned
from repoassay.construct.task_draft import TaskDraft, evidence
from repoassay.construct.task_request import TaskRequest
from repoassay.construct.trial import RecipeTrial, try_recipes
from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.engine import GradingContext, validate_task
from repoassay.errors import BadInput, BadTask, Unavailable
from repoassay.formats import REQUIREMENTS, safe_id
from repoassay.grading import TaskProof
from repoassay.sandbox import Cache, Sandbox, capabilities_of
from repoassay.tasks import TaskFolder, digest_folder, read_task
from repoassay.text import quote
from repoassay.types import FileEdit
from repoassay.workspace import PreparedTask, how_to_get, lay_out, release_lines

__all__ = ["Constructed", "TaskMaking", "construct_commit"]

_MOST_GUARDS = 1000
"""Tests that pass on both sides kept as guards; more would make every verdict slow."""


@dataclass(frozen=True, slots=True)
class Constructed:
    """The result of constructing a task. `folder` is None where it was refused; `reasons` say why.

    `derivation` tells what of the environment is from where in the repository.
    """

    id: str
    finding: ProofFinding
    proven: ProvenTask
    base: str
    solution: str
    folder: Path | None = None
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    derivation: tuple[str, ...] = ()


def construct_commit(
    request: TaskRequest,
    out: Path,
    cache: Cache,
    sandbox: Sandbox,
    *,
    times: int = 3,
    workers: int = 1,
    step: Callable[[str], None] = lambda text: None,
    done: Callable[[], None] = lambda: None,
) -> Constructed:
    """Make a task of two commits of a repository and prove it; what cannot be proved is not kept.

    Args:
        request: What to make.
        out: Folder of tasks, or a suite's; made if need be. The task becomes `out/ID`, or `out/tasks/ID` in a suite.
        cache: Where checkouts and environments are kept.
        sandbox: Where tests run.
        times: Runs of the tests on each side.
        workers: Sandboxes at a time.
        step: Told what is being done.
        done: Told of each finished run.

    Raises:
        BadInput: When no task can be made of it, or its place is taken.
        InfraFault: When the repository or the environment cannot be had, or tests cannot be started.
    """
    url, local = find_repository(request.repository)
    if request.id is not None and request.id == safe_id(request.id):
        check_free(tasks_folder(out) / request.id)
    step("copying the repository's history")
    revisions = [each for each in (request.solution, request.base) if each]
    with open_history(url, revisions, tags=request.runner == "repository") as history:
        draft = draft_commit(request, history, url, local=local is not None)
        check_free(tasks_folder(out) / draft.task.id)
        with part_folder(out) as part:
            bundled = bundle_base(draft, history, part, out) if request.bundle else None
            bench = GradingContext(part / "repositories" if bundled else None, cache, sandbox)
            making = TaskMaking(part, bundled, out, bench, times, workers, step, done)
            if request.runner == "repository":
                return making.in_place(draft, request, history)
            return making.by_files(draft)


@dataclass(frozen=True, slots=True)
class TaskMaking:
    """Where a draft is written, proved and placed.

    Args:
        part: Folder in which it is made.
        bundled: The base tree that is to be stored with it, where one is.
        out: Where the task goes.
        bench: What runs and grades it.
        times: Runs of the tests on each side.
        workers: Sandboxes at a time.
        step: Told of what is being done.
        done: Told of each finished run.
        complete: Called with the proven draft before it is validated; returns it, perhaps with more said, or raises
            BadInput where it is to be no task.
        probe: Whether a change is given up after one run on each side where these show that it can be no task.
        share_environments: Whether packages are first tried as of a day that commits near to each other share.
    """

    part: Path
    bundled: Path | None
    out: Path
    bench: GradingContext
    times: int
    workers: int
    step: Callable[[str], None]
    done: Callable[[], None]
    complete: Callable[[TaskDraft, ProvenTask, PreparedTask], TaskDraft] = lambda draft, proven, layout: draft
    probe: bool = False
    share_environments: bool = False

    def by_files(self, draft: TaskDraft) -> Constructed:
        """Prove a task whose test files run by themselves."""
        self.step("laying out the repository and its environment")
        layout = self._lay(draft)
        edits = _edits(draft, layout)
        self._say_runs(draft)
        proven = prove(
            layout, edits, draft.tests, self.bench.sandbox, times=self.times, workers=self.workers,
            scripts=draft.scripts, done=self.done,
        )  # fmt: skip
        return self._finish(draft, proven, layout)

    def in_place(self, draft: TaskDraft, request: TaskRequest, history: History) -> Constructed:
        """Find an environment in which the change's own tests run, and prove the task there."""
        trial, given_up = self._try(draft, request, history)
        if trial is None:
            reasons = ("No environment could be built.", *given_up)
            return Constructed(
                draft.task.id, ProofFinding.UNBUILDABLE, ProvenTask(()), draft.base, draft.solution, reasons=reasons
            )
        if not trial.ended:
            return self._slow(trial, given_up)
        draft = replace(trial.draft, derivation=(*trial.draft.derivation, *(f"Given up: {each}" for each in given_up)))
        if request.seconds is None:
            draft = draft.with_seconds(max(60.0, math.ceil(4 * trial.run.exit.wall / 30) * 30.0))
        layout = self._lay(draft)
        self.step(f"one run of the tests takes {trial.run.exit.wall:.0f} s")
        self._say_runs(draft)
        proven = prove_in_place(
            layout, _edits(draft, layout), trial.run, trial.unseen, self.bench.sandbox,
            times=self.times, workers=self.workers, on_run=self.done, probe=self.probe,
        )  # fmt: skip
        return self._finish(draft, proven, layout)

    def _slow(self, trial: RecipeTrial, given_up: Sequence[str]) -> Constructed:
        draft = trial.draft
        reasons = (
            f"One run of its tests did not end within {draft.task.hidden_tests.seconds:g} s. Give them more with"
            " --timeout.", *given_up,
        )  # fmt: skip
        return Constructed(
            draft.task.id, ProofFinding.SLOW, ProvenTask(()), draft.base, draft.solution, reasons=reasons
        )

    def _try(self, draft: TaskDraft, request: TaskRequest, history: History) -> tuple[RecipeTrial | None, list[str]]:
        tree = history.tree(draft.solution)
        if draft.node is not None:
            before = Project(history.tree(draft.base), history.content)
            checks = draft.task.environment.checks
            recipes = node_recipes(draft.node, before, history.day(draft.solution), checks)
            return try_node_recipes(draft, recipes, self._lay, tree, history.content, self.bench.sandbox, self.step)
        inference = infer_environment(draft, request, history)
        if not inference.lines:
            raise Unavailable(
                "This machine has no Python of which the repository's own environment can be made.", how_to_get("3.11")
            )
        return try_recipes(
            draft, inference, request.requirements, self._lay, tree, history.content, self.bench.sandbox, self.step,
            share_date=self.share_environments,
        )  # fmt: skip

    def _say_runs(self, draft: TaskDraft) -> None:
        self.step(f"running the tests {self.times} times at {draft.base[:12]} and at {draft.solution[:12]}")

    def _lay(self, draft: TaskDraft) -> PreparedTask:
        place = self.part / draft.task.id
        if place.exists():
            shutil.rmtree(place)
        folder = write_task_draft(draft, self.part)
        drafted = TaskFolder(folder, draft.task, draft.files["instruction.md"].decode(), digest_folder(folder))
        return lay_out(drafted, self.bench.repositories, self.bench.cache, self.bench.sandbox)

    def _finish(self, draft: TaskDraft, proven: ProvenTask, layout: PreparedTask) -> Constructed:
        reasons = hints(proven)
        if not proven.cases and draft.node and draft.node.command.unknown:
            reasons = (
                f"The repository's tests run with {quote(draft.node.command.unknown)}, which is not known.",
                *reasons,
            )
        result = Constructed(
            draft.task.id, proven.finding, proven, draft.base, draft.solution, reasons=reasons,
            warnings=draft.warnings, derivation=draft.derivation,
        )  # fmt: skip
        if proven.finding is not ProofFinding.SOUND:
            return result
        self.step("validating the task")
        draft = self.complete(draft, proven, layout)
        draft, notes = _finished(draft, proven, layout, self.times)
        shutil.rmtree(layout.folder.path)
        result = replace(result, warnings=(*draft.warnings, *notes))
        try:
            whole = read_task(write_task_draft(draft, self.part), repositories=self.bench.repositories)
        except BadTask as error:
            what = "; ".join(str(problem).rstrip(".") for problem in error.problems[:5])
            raise BadInput(f"No sound task folder can be made of this: {what}.") from error
        in_place = _in_place(draft)
        if in_place and self.times > 1:
            self._keep_proof(whole, proven)
        proofs = validate_task(whole, self.bench, solution_only=in_place)
        doubts = tuple(f"{proof.name}: {proof.comment}" for proof in proofs if not (proof.sound and proof.stable))
        if in_place and not doubts:
            doubts = self._forgeable(whole)
        if doubts:
            return replace(result, finding=ProofFinding.DOUBTFUL, reasons=doubts)
        return replace(result, folder=place_task(whole.path, self.bundled, self.out))

    def _forgeable(self, whole: TaskFolder) -> tuple[str, ...]:
        """Why a pass can be forged: nobody outside the tests' process sees a value of theirs, or can alter one."""
        layout = lay_out(whole, self.bench.repositories, self.bench.cache, self.bench.sandbox)
        reference = self.bench.oracle.reference(whole, layout.base, layout.environment)
        if reference is None and not capabilities_of(self.bench.sandbox).attests:
            return ()
        if reference and (reference.twins or set(whole.task.hidden_tests.fail_to_pass) - reference.open.keys()):
            return ()
        faults = sorted({why for why in (reference.open if reference else {}).values() if "seed" in why})
        if faults:
            return (f"Nothing was recorded of the solution: {faults[0]}. Try again, or give --timeout.",)
        return ("No test that must pass has an assertion that can be altered, so no pass can be doubted.",)

    def _keep_proof(self, whole: TaskFolder, proven: ProvenTask) -> None:
        """Spare grading the proof that was just made: the same tests, on the same tree, in the same environment."""
        layout = lay_out(whole, self.bench.repositories, self.bench.cache, self.bench.sandbox)
        must, guards = (
            {case.id: (case.id,) for case in proven.of(role)} for role in (ProofRole.MUST_PASS, ProofRole.GUARD)
        )
        proof = TaskProof(fail_to_pass=must, pass_to_pass=guards, runs=self.times)
        self.bench.oracle.keep_proof(whole, layout.base, layout.environment, proof)


def _in_place(draft: TaskDraft) -> bool:
    return draft.node is not None or draft.task.environment.release_line is not None


def _edits(draft: TaskDraft, layout: PreparedTask) -> Mapping[str, FileEdit | None]:
    try:
        return apply_patch(read_patch(draft.diff), layout.base).edits
    except PatchError as error:
        raise BadInput(f"The change cannot be graded as a patch: {error}", "Leave it out with --only.") from error


def infer_environment(draft: TaskDraft, request: TaskRequest, history: History) -> Inference:
    """What the repository says of the environment of its own tests."""
    after = Project(history.tree(draft.solution), history.content)
    before = Project(history.tree(draft.base), history.content)
    changed = draft.tests[0]
    there = [request.python] if request.python else list(release_lines())
    return infer(
        after.below(changed), before.below(changed), history.day(draft.solution), history.described(draft.base), there
    )


def _finished(draft: TaskDraft, proven: ProvenTask, layout: PreparedTask, times: int) -> tuple[TaskDraft, list[str]]:
    """The draft with its tests named, its requirements pinned, and the evidence."""
    notes = []
    guards = [case.id for case in proven.of(ProofRole.GUARD)]
    in_place = _in_place(draft)
    lost, whole = proven.lost
    if lost:
        notes.append(f"{lost} of {whole} tests of the change ({lost / whole:.0%}) are no use here and were left out.")
    if len(guards) > _MOST_GUARDS and not in_place:
        notes.append(f"Of {len(guards)} tests that pass on both sides, {_MOST_GUARDS} are kept as guards.")
    dated = draft.task.environment.exclude_newer is not None
    requirements = draft.files.get(REQUIREMENTS)
    pins = b"" if dated or requirements is None else pinned(layout.environment, requirements)
    if pins is None:
        notes.append("The requirements name a place, not a version, and were not pinned.")
    elif pins:
        draft = draft.with_file(REQUIREMENTS, pins)
    draft = draft.with_file("solution/proof.json", evidence(draft, [facts(case) for case in proven.cases], times))
    return draft.with_tests(
        [case.id for case in proven.of(ProofRole.MUST_PASS)], guards if in_place else guards[:_MOST_GUARDS]
    ), notes


def facts(case: ProofCase) -> dict[str, object]:
    """A test's counts, for JSON: passes, runs and flip rate on each side."""

    def side(outcomes: tuple[str, ...]) -> dict[str, object]:
        passed = sum(outcome == "passed" for outcome in outcomes)
        return {"passed": passed, "runs": len(outcomes), "flip_rate": round(flip_rate(outcomes), 4)}

    return {"id": case.id, "role": case.role.value, "base": side(case.base), "solution": side(case.solution)}
