"""Proof of imported state tasks: their untouched files fail the tests, and a solution, where there is one, passes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from repoassay.agents import find_agent
from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.engine import AttemptContext, GradingContext, work
from repoassay.errors import InfraFault, Unavailable
from repoassay.formats import edit_task_toml
from repoassay.grading import run_hidden
from repoassay.sandbox import remove_tree
from repoassay.tasks import TaskFolder, read_task
from repoassay.text import printable
from repoassay.types import FileEdit, TaskKind, TestResult
from repoassay.workspace import PreparedTask, lay_out

__all__ = ["StateProof", "prove_state_task", "prove_state_tasks"]

_TIMES = 2
"""Runs of the solution's tests."""


@dataclass(frozen=True, slots=True)
class StateProof:
    """What was seen of a state task here.

    Attributes:
        task: Its id.
        state: `proven` (the solution passes, the untouched files fail), `unproven` (they fail, and no solution was
            seen to pass), `passes untouched`, or `fault` (it cannot be laid out or run here).
        why: A sentence where it is not proven.
    """

    task: str
    state: str
    why: str = ""


def prove_state_tasks(
    folders: Sequence[Path], bench: GradingContext, *, workers: int = 1,
    progress: Callable[[StateProof], None] = lambda proof: None,
) -> list[StateProof]:  # fmt: skip
    """Prove tasks side by side, in their order; see `prove_state_task`."""
    proofs = []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for proof in pool.map(lambda folder: prove_state_task(folder, bench), folders):
            progress(proof)
            proofs.append(proof)
    return proofs


def prove_state_task(place: Path, bench: GradingContext) -> StateProof:
    """Run a task's tests on its untouched files, then on what its `solution/solve.sh` leaves, as an agent would.

    Tests that pass untouched become guards (`pass_to_pass`) in its task.toml; a task of which all do so is no task, and
    its folder is removed. A solution that passes is kept as `solution/changes.diff`, which is what lets verdicts blame
    anybody.
    """
    folder = read_task(place)
    name = folder.task.id
    if folder.task.kind is not TaskKind.STATE:
        return StateProof(name, "proven")  # or it would not have been made
    try:
        layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
        untouched = _results(folder, layout, {}, bench)
        guards = tuple(test.id for test in untouched if test.outcome == "passed")
        if len(guards) == len(untouched):
            remove_tree(folder.path)
            why = "Every test passes before anybody has done anything; it is left out of the suite."
            return StateProof(name, "passes untouched", why)
        folder = _with_guards(folder, guards)
        if not (folder.solution / "solve.sh").is_file():
            return StateProof(name, "unproven", "It comes without a solution.")
        why = _solved(folder, bench)
    except (InfraFault, Unavailable) as fault:
        return StateProof(name, "fault", printable(str(fault), 500))
    return StateProof(name, "unproven" if why else "proven", why)


def _results(
    folder: TaskFolder, layout: PreparedTask, edits: Mapping[str, FileEdit | None], bench: GradingContext
) -> list[TestResult]:
    """What the tests say of honest work.

    Raises:
        InfraFault: They would call it tampering, and so would accuse everybody.
    """
    told = run_hidden(folder, layout.base, edits, bench.sandbox, layout.environment).told
    if told.signs:
        raise InfraFault(f"The task's own tests look like tampering: {told.signs[0]}.")
    return told.tests


def _with_guards(folder: TaskFolder, guards: Sequence[str]) -> TaskFolder:
    """The task with its tests told apart, on disk too."""
    tests = folder.task.grading.tests
    assert tests is not None
    decisive = tuple(test for test in tests.all_ids if test not in set(guards))
    if (set(decisive), set(guards)) == (set(tests.fail_to_pass), set(tests.pass_to_pass)):
        return folder
    named = tests.model_copy(update={"fail_to_pass": decisive, "pass_to_pass": tuple(guards)})
    grading = folder.task.grading.model_copy(update={"tests": named})
    task = folder.task.model_copy(update={"grading": grading})
    (folder.path / "task.toml").write_text(edit_task_toml(task), encoding="utf-8")
    return read_task(folder.path)


def _solved(folder: TaskFolder, bench: GradingContext) -> str:
    """Why the solution proves nothing; empty where it does, and its changes are kept then."""
    with tempfile.TemporaryDirectory(prefix="repoassay-proof-", ignore_cleanup_errors=True) as scratch:
        into = Path(scratch)
        done = work(folder, find_agent("reference"), bench, into, entry=AttemptContext("reference", graded=False))
        diff = into / "submission" / "changes.diff"
        if not diff.is_file():
            return printable("; ".join(done.verdict.comments) or "Its solution left nothing.", 500)
        changes = diff.read_bytes()
        ended = done.submission.exit
        said = ""
        with contextlib.suppress(OSError):
            said = (into / "log.txt").read_text("utf-8", "replace")[-300:]
    layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
    try:
        edits = apply_patch(read_patch(changes), layout.base).edits if changes.strip() else {}
    except PatchError as error:
        return f"What its solution leaves cannot be kept: {printable(str(error), 300)}"
    for _ in range(_TIMES):
        results = _results(folder, layout, edits, bench)
        if bad := [test for test in results if test.outcome != "passed"]:
            return _failure(bad, ended.code if ended else None, said)
    (folder.solution / "changes.diff").write_bytes(changes)
    return ""


def _failure(bad: Sequence[TestResult], code: int | None, said: str) -> str:
    first = bad[0]
    told = f"Its solution (exit code {code}) does not pass {first.id} and {len(bad) - 1} more: {first.message[-200:]}"
    return printable(f"{told} It said: {said}" if said.strip() else told, 700)
