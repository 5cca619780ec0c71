"""Proof of imported state tasks: their untouched files fail the tests, and a solution, where there is one, passes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from repoassay.agents import find_agent
from repoassay.diffs import PatchError
from repoassay.engine import AttemptContext, GradingContext, work
from repoassay.errors import InfraFault, Interrupted, Unavailable
from repoassay.formats import edit_task_toml
from repoassay.interchange.proof_clock import OverTime, ProofClock
from repoassay.interchange.proof_runs import failure_of, test_results
from repoassay.interchange.step_proof import prove_steps
from repoassay.sandbox import lock_limit, remove_tree, temporary_folder
from repoassay.tasks import TaskFolder, read_task
from repoassay.text import printable
from repoassay.types import TaskKind
from repoassay.workspace import changes_left, lay_out

__all__ = ["PROOF_SECONDS", "StateProof", "prove_state_task", "prove_state_tasks"]

PROOF_SECONDS = 900.0
"""Wall time that the proof of one task may take, its packages included."""
_TIMES = 2
"""Runs of the solution's tests."""
_TELL = 60.0
"""Seconds without news after which it is told what proofs are at."""


@dataclass(frozen=True, slots=True)
class StateProof:
    """What was seen of a state task here.

    Attributes:
        task: Its id.
        state: `proven` (the solution passes, the untouched files fail), `unproven` (they fail, and no solution was
            seen to pass), `passes untouched`, `fault` (it cannot be laid out or run here), or `over time`.
        why: A sentence where it is not proven.
    """

    task: str
    state: str
    why: str = ""


def prove_state_tasks(
    folders: Sequence[Path], bench: GradingContext, *, workers: int = 1, seconds: float = PROOF_SECONDS,
    cancel: threading.Event | None = None, progress: Callable[[StateProof], None] = lambda proof: None,
    heartbeat: Callable[[str], None] = lambda what: None,
) -> list[StateProof]:  # fmt: skip
    """Prove tasks side by side; see `prove_state_task`.

    Args:
        folders: Of tasks.
        bench: What runs tests.
        workers: How many at a time.
        seconds: What each may take.
        cancel: Set to end early: proofs under way are dropped, and those that are finished are returned.
        progress: Told of each as soon as it is finished.
        heartbeat: Told in a sentence what proofs are at, each minute in which none is finished.
    """
    cancel = cancel or threading.Event()
    clocks: dict[str, ProofClock] = {}

    def prove(folder: Path) -> StateProof | None:
        if cancel.is_set():
            return None
        clocks[folder.name] = ProofClock(seconds, cancel)
        try:
            proof = prove_state_task(folder, bench, clocks[folder.name])
        finally:
            clock = clocks.pop(folder.name)
        return None if cancel.is_set() and not clock.is_over() else proof  # what it saw may be the interruption's doing

    proofs: dict[Future[StateProof | None], StateProof | None] = {}
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [pool.submit(prove, folder) for folder in folders]
        left = set(futures)
        try:
            while left:
                done, left = wait(left, _TELL, FIRST_COMPLETED)
                for future in done:
                    proofs[future] = future.result()
                    if (proof := proofs[future]) is not None:
                        progress(proof)
                if not done:
                    heartbeat(
                        "; ".join(f"{name}: {clock.step}, {clock.elapsed():.0f} s" for name, clock in clocks.items())
                    )
        except BaseException:  # a second Ctrl-C, or SIGTERM
            cancel.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [proof for future in futures if (proof := proofs[future]) is not None]


def prove_state_task(place: Path, bench: GradingContext, clock: ProofClock | None = None) -> StateProof:
    """Run a task's tests on its untouched files, then on what its `solution/solve.sh` leaves, as an agent would.

    Tests that pass untouched become guards (`pass_to_pass`) in its task.toml; a task of which all do so is no task, and
    its folder is removed. A solution that passes is kept as `solution/changes.diff`, which is what lets verdicts blame
    anybody. Where the clock runs out, nothing that was seen since counts.
    """
    folder = read_task(place)
    name = folder.task.id
    if folder.task.kind is not TaskKind.STATE:
        return StateProof(name, "proven")  # or it would not have been made
    clock = clock or ProofClock(PROOF_SECONDS)
    try:
        with lock_limit(clock):
            proof = _proof(folder, bench.ending_with(clock), clock)
    except (OverTime, Interrupted):
        proof = None
    except (InfraFault, Unavailable) as fault:
        if not clock.is_set():
            return StateProof(name, "fault", printable(str(fault), 500))
        return StateProof(name, "over time", printable(f"{_over(clock)} {fault.message}", 500))
    return proof or StateProof(name, "over time", _over(clock))


def _proof(folder: TaskFolder, bench: GradingContext, clock: ProofClock) -> StateProof:
    name = folder.task.id
    if folder.task.steps:
        state, why = prove_steps(folder, bench, clock)
        if state == "passes untouched":
            remove_tree(folder.path)
        return StateProof(name, state, why)
    layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
    clock.go_on("The tests on its untouched files")
    untouched = test_results(folder, layout, {}, bench)
    clock.go_on("Its solution")
    guards = tuple(test.id for test in untouched if test.outcome == "passed")
    if len(guards) == len(untouched):
        remove_tree(folder.path)
        why = "Every test passes before anybody has done anything; it is left out of the suite."
        return StateProof(name, "passes untouched", why)
    folder = _with_guards(folder, guards)
    if not (folder.solution / "solve.sh").is_file():
        return StateProof(name, "unproven", "It comes without a solution.")
    why = _solved(folder, bench, clock)
    return StateProof(name, "unproven" if why else "proven", why)


def _over(clock: ProofClock) -> str:
    return f"{clock.step} did not come to an end within the {clock.seconds:g} s that a proof may take in all."


def _with_guards(folder: TaskFolder, guards: Sequence[str]) -> TaskFolder:
    """The task with its tests told apart, on disk too."""
    tests = folder.task.hidden_tests
    decisive = tuple(test for test in tests.all_ids if test not in set(guards))
    if (set(decisive), set(guards)) == (set(tests.fail_to_pass), set(tests.pass_to_pass)):
        return folder
    named = tests.model_copy(update={"fail_to_pass": decisive, "pass_to_pass": tuple(guards)})
    grading = folder.task.grading.model_copy(update={"tests": named})
    task = folder.task.model_copy(update={"grading": grading})
    (folder.path / "task.toml").write_text(edit_task_toml(task), encoding="utf-8")
    return read_task(folder.path)


def _solved(folder: TaskFolder, bench: GradingContext, clock: ProofClock) -> str:
    """Why the solution proves nothing; empty where it does, and its changes are kept then."""
    with temporary_folder("proof") as scratch:
        into = Path(scratch)
        done = work(folder, find_agent("reference"), bench, into, entry=AttemptContext("reference", graded=False))
        clock.go_on(clock.step)
        diff = into / "submission" / "changes.diff"
        if not diff.is_file():
            return printable("; ".join(done.verdict.comments) or "Its solution left nothing.", 500)
        changes = diff.read_bytes()
        ended = done.submission.exit
        log = ""
        with contextlib.suppress(OSError):
            log = (into / "log.txt").read_text("utf-8", "replace")[-300:]
    clock.go_on("The tests on what its solution leaves")
    layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
    try:
        edits = changes_left(layout.base, changes)
    except PatchError as error:
        return f"What its solution leaves cannot be kept: {printable(str(error), 300)}"
    for _ in range(_TIMES):
        results = test_results(folder, layout, edits, bench)
        clock.go_on(clock.step)
        if bad := [test for test in results if test.outcome != "passed"]:
            return failure_of(bad, ended.code if ended else None, log)
    (folder.solution / "changes.diff").write_bytes(changes)
    return ""
