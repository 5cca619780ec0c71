"""One run of hidden tests in a fresh sandbox."""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.base_code import brings_bytecode
from repoassay.grading.hidden_tests.imports import covers_imports
from repoassay.grading.hidden_tests.node import node_command
from repoassay.grading.hidden_tests.prefork import INI, PROGRAM, WarmPool, run_files
from repoassay.grading.hidden_tests.results import HiddenTestRun, read_channel
from repoassay.grading.hidden_tests.reward_script import run_reward_script
from repoassay.grading.in_place.run import run_in_place
from repoassay.grading.state import beside_artifacts, outside_places
from repoassay.sandbox import Access, Command, ExportSpec, Mount, Sandbox, WarmJob, WarmParent
from repoassay.tasks import TaskFolder
from repoassay.text import printable
from repoassay.types import Ended, Exit, FileEdit
from repoassay.workspace import state_mounts, test_variables

__all__ = ["hidden_files", "run_hidden"]

_LOG = logging.getLogger("repoassay.grading")
_TRIAL_SECONDS = 5.0
"""The most that a run on the base alone may take to tell what is held for the next ones."""
_ROOT = "/tests"


def run_hidden(
    folder: TaskFolder,
    base: Path,
    edits: Mapping[str, FileEdit | None],
    sandbox: Sandbox,
    environment: Path,
    *,
    ids: Sequence[str] = (),
    changed: Mapping[str, str] | None = None,
    cancel: threading.Event | None = None,
    pool: WarmPool | None = None,
    env: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
    seconds: float | None = None,
    only: Sequence[str] = (),
    direct: bool = False,
    collect: tuple[ExportSpec, ...] = (),
) -> HiddenTestRun:
    """Run hidden tests against `base` with `edits` applied.

    Args:
        folder: The task.
        base: Read-only checkout of the base commit.
        edits: Changed files by path in the repository.
        sandbox: Where it runs.
        environment: The task's environment.
        ids: Which tests; all when empty.
        changed: Test files (path below tests/ -> source) to use in place of the real ones.
        cancel: Set to end early.
        pool: Prefork servers to fork from, where there are any; else an interpreter of its own is started.
        env: Variables of that interpreter.
        files: Every file below tests/, in place of the task's own.
        seconds: Time limit in place of the task's.
        only: Of tests that run in place, those that are run; see `run_in_place`.
        direct: Whether they are run without a pytest session; see `direct.py`.
        collect: What crosses of a state task's places when they have ended, for a proof that tells what tests leave.
    """
    tests = folder.task.hidden_tests
    ids = tuple(ids) or tests.all_ids
    if tests.runner == "repository":
        return run_in_place(
            folder, base, edits, sandbox, environment,
            ids=ids, only=only, overrides=changed, cancel=cancel, env=env, seconds=seconds,
        )  # fmt: skip
    key = secrets.token_bytes(32)
    state = folder.task.state
    top = "" if state else "/workspace/repo"
    paths = [] if state else [str(PurePosixPath(top, part)) for part in folder.task.environment.path]
    hidden = dict(hidden_files(folder) if files is None else files)
    hidden |= {name: source.encode() for name, source in (changed or {}).items()}
    limits = folder.task.limits.model_copy(update={"seconds": seconds or tests.seconds, "output": 2**20})
    if tests.runner == "node":
        command = node_command(base, edits, hidden, ids, key)
        done = sandbox.run(replace(command, limits=limits), cancel)
        return _ran(folder, done.exit, done.channel, done.stderr, key, ids)
    if stray := outside_places(folder, edits):
        raise InfraFault(f"The changes of {folder.task.id} lie outside of its folders: /{printable(stray[0], 200)}.")
    beside = set(beside_artifacts(folder, edits))
    edits = {path: edit for path, edit in edits.items() if path not in beside}  # in order: a deletion makes room
    if tests.runner == "script":
        return run_reward_script(folder, base, edits, environment, hidden, sandbox, limits, cancel, collect)
    job: dict[str, object] = {"ids": list(ids), "path": paths, "key": key.hex(), "ini": INI, "root": _ROOT}
    if direct:
        job["direct"] = True
    if state or tests.cwd == "repository":
        job["cwd"] = state.work if state else top
    laid: dict[str, FileEdit | None] = {f"{_ROOT}/{name}": FileEdit(content) for name, content in hidden.items()}
    tests_alone = dict(laid)
    laid |= {f"{top}/{name}": edit for name, edit in edits.items()}
    if pool is not None and not state and not covers_imports(edits, base, environment):
        branch = "" if brings_bytecode(edits) else folder.digest
        warm = WarmJob(base, pool.bytecode(base, environment), laid, job, limits, branch)
        return _warm(pool, folder, environment, warm, tests_alone, key, ids, cancel)
    shown = state_mounts(state, base) if state else (Mount(base, top, Access.COPY_ON_WRITE),)
    variables = test_variables(folder.task, environment) if state else {}
    done = sandbox.run(
        Command(
            argv=("/env/bin/python", *(() if env else ("-I",)), "-B", "/run/runner.py"),
            env={**variables, **(env or {})},
            cwd="/tmp",  # noqa: S108 - inside the sandbox
            stdin=json.dumps(job).encode(),
            mounts=(*shown, Mount(environment, "/env")),
            edits={"/run/runner.py": FileEdit(PROGRAM.read_bytes()), **run_files(), **laid},
            limits=limits,
            channel=True,
            collect=collect,
        ),
        cancel,
    )
    return _ran(folder, done.exit, done.channel, done.stderr, key, ids)


def hidden_files(folder: TaskFolder) -> dict[str, bytes]:
    """Every file below a task's tests/."""
    return {
        path.relative_to(folder.tests).as_posix(): path.read_bytes()
        for path in sorted(folder.tests.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _not_started(folder: TaskFolder, message: str) -> InfraFault:
    """What to say where the tests' own program did not come up; mostly pytest is not there."""
    if "No module named '_pytest'" in message or "No module named 'pytest'" in message:
        return InfraFault(
            f"The hidden tests of {folder.task.id} could not be started: the task's environment has no pytest.",
            "Pin it in the file that [environment] requirements names.",
        )
    return InfraFault(f"The hidden tests of {folder.task.id} could not be started: {message}")


def _ran(
    folder: TaskFolder, ended: Exit, channel: bytes, printed: bytes, key: bytes, ids: Sequence[str]
) -> HiddenTestRun:  # fmt: skip
    report, output = read_channel(channel, key, ids), printed.decode(errors="replace")
    if not report.ready and ended.ended is Ended.EXITED:
        raise _not_started(folder, output.strip()[-500:])
    return HiddenTestRun(ended, report, output[-2000:])


def _warm(
    pool: WarmPool, folder: TaskFolder, environment: Path, job: WarmJob, tests: Mapping[str, FileEdit | None],
    key: bytes, ids: Sequence[str], cancel: threading.Event | None,
) -> HiddenTestRun:  # fmt: skip
    """Fork from a prefork server; one that is gone is replaced once."""
    base = job.base
    assert base is not None

    def trial(parent: WarmParent) -> object:
        limits = job.limits.model_copy(update={"seconds": min(_TRIAL_SECONDS, job.limits.seconds)})
        facts = {**job.facts, "learn": True}
        done = parent.run(replace(job, edits=tests, facts=facts, limits=limits, branch=""), cancel)
        return read_channel(done.channel, key, ids).learnt

    try:
        done = pool.parent(folder, base, environment, trial).run(job, cancel)
    except InfraFault as fault:
        _LOG.info("prefork server of %s replaced: %s", folder.task.id, printable(str(fault), 500))
        pool.drop(environment)
        done = pool.parent(folder, base, environment, trial).run(job, cancel)
    return _ran(folder, done.exit, done.channel, done.printed, key, ids)
