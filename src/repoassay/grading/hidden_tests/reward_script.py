"""Hidden tests that are a shell script, which writes a reward: run once, and its file read when everything is dead.

What the script runs of the submission has the script's own account, so that nothing vouches for the reward but the
script: a pass is never attested. The reward's place has a name that is drawn for each run and stands in the script
alone; who writes one to the place that is public knowledge gives himself away where the script writes its own.
"""

from __future__ import annotations

import json
import math
import secrets
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.results import ChannelReport, HiddenTestRun
from repoassay.grading.hidden_tests.script_models import open_script_models
from repoassay.sandbox import Command, ExportSpec, Mount, Sandbox, temporary_folder
from repoassay.tasks import TaskFolder
from repoassay.text import printable
from repoassay.types import Ended, FileEdit, Limits, TestResult
from repoassay.workspace import changes_left, state_mounts, test_variables

__all__ = ["REWARDS", "read_reward", "run_reward_script"]

REWARDS = "/logs/verifier"
"""Where a script, as it is published, writes `reward.txt` or `reward.json`."""
_MOST_BYTES = 2**20
_HOME = "/home/agent"
"""Empty in every sandbox: where an agent could leave settings of programs, they are not read."""


def run_reward_script(
    folder: TaskFolder, base: Path, edits: Mapping[str, FileEdit | None], environment: Path,
    test_files: Mapping[str, bytes], sandbox: Sandbox, limits: Limits, cancel: threading.Event | None = None,
    collect: tuple[ExportSpec, ...] = (),
) -> HiddenTestRun:  # fmt: skip
    """Run the script of a state task's one test on `base` with `edits` applied.

    Args:
        folder: The task.
        base: Read-only checkout.
        edits: Changed files by path in the repository.
        environment: The task's environment.
        test_files: Files below tests/.
        sandbox: Where it runs.
        limits: What the run may take.
        cancel: Set to end early.
        collect: What crosses besides, when it has ended.

    Raises:
        InfraFault: It did not pass, and a model that it asked gave no answer.
        Unavailable: It asks a model, and the key is missing.
    """

    run = partial(_run, folder, base, environment, test_files, sandbox, limits, cancel, collect)
    try:
        return run(edits)
    except InfraFault:
        # A model gave no answer. What the submission brought about is told from a fault of ours by the solution, and
        # what has passed by then by the submission itself.
        tests, diff = folder.task.grading.tests, folder.solution / "changes.diff"
        right = changes_left(base, diff.read_bytes()) if tests and tests.keys and diff.is_file() else edits
        if edits == right or not _passes(run(right)):
            raise
    return run(edits, solution_passed=True)


def _run(
    folder: TaskFolder, base: Path, environment: Path, test_files: Mapping[str, bytes], sandbox: Sandbox,
    limits: Limits, cancel: threading.Event | None, collect: tuple[ExportSpec, ...],
    edits: Mapping[str, FileEdit | None], *, solution_passed: bool = False,
) -> HiddenTestRun:  # fmt: skip
    tests, state = folder.task.hidden_tests, folder.task.state
    assert state is not None
    (test,) = tests.all_ids
    secret = f"/run/verifier-{secrets.token_hex(16)}"
    with temporary_folder("reward") as place, open_script_models(tests, sandbox) as models:
        own, public = Path(place, "own"), Path(place, "public")
        laid: dict[str, FileEdit | None] = {f"/{name}": edit for name, edit in edits.items()}
        laid |= {
            f"/tests/{name}": FileEdit(
                models.redirect(content.replace(REWARDS.encode(), secret.encode())), executable=True
            )
            for name, content in test_files.items()
        }
        done = sandbox.run(
            Command(
                argv=("/bin/bash", "-c", '"$0"', f"/tests/{test.partition('::')[0]}"),
                env={"HOME": _HOME, "TEST_DIR": "/tests", **test_variables(folder.task, environment), **models.env},
                cwd=state.work,
                mounts=(*state_mounts(state, base), Mount(environment, "/env")),
                scratch=(secret, REWARDS),
                edits=laid,
                limits=limits,
                collect=(*(ExportSpec(source, into, _MOST_BYTES, 100) for source, into in
                           ((secret, own), (REWARDS, public))), *collect),
                doors=models.doors,
            ),
            cancel,
        )  # fmt: skip
        reward, forged = read_reward(own), read_reward(public)
        judging = models.check(reward, solution_passed)
    printed = (done.stdout[-1500:] + done.stderr[-500:]).decode(errors="replace")
    signs = ["a reward was written beside the one of the tests' own script"] if None not in (reward, forged) else []
    complete = done.exit.ended is Ended.EXITED and reward is not None
    why = f"The reward is {reward:g}." if reward is not None else "The tests' script wrote no reward that can be read."
    outcome = "missing" if reward is None else "passed" if reward >= 1 else "failed"
    result = TestResult.model_validate({"id": test, "outcome": outcome, "message": printable(f"{why} {printed}", 3000)})
    report = ChannelReport([result], complete, ready=True, signs=signs, reward=reward)
    return HiddenTestRun(done.exit, report, printed, judging)


def _passes(run: HiddenTestRun) -> bool:
    return run.report.reward is not None and run.report.reward >= 1


def read_reward(folder: Path) -> float | None:
    """The reward that a script left: of reward.json `reward`, else the least of its figures; else reward.txt.

    A reward.json that holds more than figures is a report beside reward.txt, where there is one: Harbor took that first
    when such scripts were written.
    """
    try:
        if (folder / "reward.json").is_file():
            found = json.loads((folder / "reward.json").read_text("utf-8"))
            if isinstance(found, dict):
                values = [found["reward"]] if "reward" in found else list(found.values())
            else:
                values = [found]
            if _are_figures(values) or not (folder / "reward.txt").is_file():
                return float(min(values)) if _are_figures(values) else None
        if not (folder / "reward.txt").is_file():
            return None
        values = [float((folder / "reward.txt").read_text("utf-8"))]
    except (OSError, ValueError, RecursionError, OverflowError):
        return None
    return values[0] if _are_figures(values) else None


def _are_figures(values: list[object]) -> bool:
    return bool(values) and all(isinstance(value, int | float) and math.isfinite(value) for value in values)
