"""One run of tests in place, in a fresh sandbox."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.grading.hidden_tests.results import HiddenTestRun, read_channel
from repoassay.grading.in_place.support import setup_of
from repoassay.grading.oracle.sandbox_code import observer_source, without_annotations
from repoassay.sandbox import Access, Command, Mount, Sandbox, image_environment
from repoassay.tasks import TaskFolder
from repoassay.types import Ended, FileEdit
from repoassay.workspace import environment_variables, repository_place

__all__ = ["functions", "programs_inside", "run_in_place"]

_PROGRAM = "/run/in_place.py"
_OFFLINE = {"PIP_RETRIES": "0"}
"""Tests that have pip ask an index fail at once: it would ask five times, with pauses, where there is no network."""
_SENT = {
    _PROGRAM: "program.py",
    "/run/service.py": "service.py",
    "/run/in_place_javascript.py": "javascript_program.py",
}
_REPORTERS = ("reporter.cjs", "reporter_jasmine.cjs", "reporter_uvu.cjs")
_SERVICE = "services/httpbin"
_NAMES = ("httpbin.org", "www.httpbin.org", "www.google.co.uk")
"""What an environment's service is called in the world, and the other host that tests of requests redirect to."""


def run_in_place(
    folder: TaskFolder,
    base: Path,
    edits: Mapping[str, FileEdit | None],
    sandbox: Sandbox,
    environment: Path,
    *,
    ids: Sequence[str] = (),
    only: Sequence[str] = (),
    overrides: Mapping[str, str] | None = None,
    cancel: threading.Event | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> HiddenTestRun:
    """Run the tests of a task against `base` with `edits` applied, but for those of the test set-up.

    Args:
        folder: The task.
        base: Read-only checkout of the base commit.
        edits: Changed files by path in the repository.
        sandbox: Where it runs.
        environment: The task's environment.
        ids: Tests whose results are wanted.
        only: Test functions that are run, as results name them; all files of the task when empty.
        overrides: Test files (path in the repository -> source) to use in place of the real ones.
        cancel: Set to end early.
        env: Further variables.
        seconds: Time limit in place of the task's.

    Raises:
        InfraFault: When the sandbox or the interpreter fails.
    """
    tests = folder.task.hidden_tests
    key, root, image = secrets.token_bytes(32), repository_place(environment), image_environment(environment)
    laid, _ = setup_of(folder, base).split(edits)
    laid |= {name: FileEdit(source.encode()) for name, source in (overrides or {}).items()}
    hosts = _NAMES if sandbox.network_is_private and (environment / _SERVICE).is_dir() else ()
    variables = {**(_OFFLINE if sandbox.network_is_private else {}), **environment_variables(folder.task, environment)}
    flags, variables, later = _start(variables | dict(env or {}))
    job = {
        "reader": tests.reader, "files": list(tests.files), "only": list(only), "arguments": list(tests.arguments),
        "before": list(tests.before), "package": tests.package or "", "key": key.hex(), "root": root, "hosts": hosts,
        "variables": later,
    }  # fmt: skip
    done = sandbox.run(
        Command(
            argv=(image.python if image else "/env/bin/python", *flags, _PROGRAM),
            env=variables,
            cwd="/tmp",  # noqa: S108 - inside the sandbox
            stdin=json.dumps(job).encode(),
            mounts=(Mount(base, root, Access.COPY_ON_WRITE), Mount(environment, "/env")),
            edits={**programs_inside(), **{f"{root}/{name}": edit for name, edit in laid.items()}},
            limits=folder.task.limits.model_copy(update={"seconds": seconds or tests.seconds, "output": 2**20}),
            hosts=hosts,
            channel=True,
        ),
        cancel,
    )
    report = read_channel(done.channel, key, ids)
    printed = done.stderr.decode(errors="replace")[-2000:]
    if not report.ready and done.exit.ended is Ended.EXITED:
        raise InfraFault(f"The tests of {folder.task.id} could not be started: {printed.strip()[-500:]}")
    return HiddenTestRun(done.exit, report, printed)


def functions(ids: Sequence[str]) -> tuple[str, ...]:
    """Test functions of tests, `FILE::NAME`, for `run_in_place` to run alone."""
    return tuple(dict.fromkeys(test.partition("[")[0] for test in ids))


def _start(variables: Mapping[str, str]) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Flags and variables of the interpreter, and variables that are set once our own program runs.

    It is isolated, without `site` until our program asks for it, but for warnings and a hash seed. `-I` would turn the
    seed off as well, so every other variable that Python reads is held back: none may bring in the repository's modules
    before ours.
    """
    later = {name: each for name, each in variables.items() if name.startswith("PYTHON") and name != "PYTHONHASHSEED"}
    warnings = [f"-W{each}" for each in variables.get("PYTHONWARNINGS", "").split(",") if each]
    isolated = "-s" if "PYTHONHASHSEED" in variables else "-I"
    return [isolated, "-S", "-B", *warnings], {k: v for k, v in variables.items() if k not in later}, later


@cache
def programs_inside() -> Mapping[str, FileEdit | None]:
    """What of ours runs beside the tests, by its place in the sandbox."""
    sources = {place: Path(__file__).with_name(name).read_text(encoding="utf-8") for place, name in _SENT.items()}
    sources["/run/observer.py"] = observer_source()
    found = {place: FileEdit(without_annotations(source).encode()) for place, source in sources.items()}
    return {**found, **{f"/run/{name}": FileEdit(Path(__file__).with_name(name).read_bytes()) for name in _REPORTERS}}
