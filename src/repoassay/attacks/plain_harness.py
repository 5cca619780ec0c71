"""A plain harness, as many benchmarks have one: the patch applied, the tests beside it, and the exit code believed.

It runs in the same kind of sandbox as everything else; what it lacks is any doubt. Its report, a JUnit file that the
test runner writes, is read as well, since some harnesses believe that instead.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree as ET

from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.sandbox import Access, Command, ExportSpec, Mount, Sandbox, node_program, temporary_folder
from repoassay.tasks import TaskFolder
from repoassay.types import Ended, FileEdit
from repoassay.workspace import PreparedTask

__all__ = ["PlainVerdict", "plainly"]

_ROOT, _OUT = "/workspace/repo", "/workspace/out"
_REPORT = f"{_OUT}/report.xml"
_MOST = 2**20


@dataclass(frozen=True, slots=True)
class PlainVerdict:
    """What a plain harness says: by the exit code, and by the report; None where there is no report."""

    exit: str
    report: str | None = None

    @property
    def fooled(self) -> bool:
        """Whether either way of reading says that the patch passes."""
        return "PASS" in (self.exit, self.report)


def plainly(
    folder: TaskFolder, layout: PreparedTask, patch: bytes, sandbox: Sandbox, seconds: float,
    cancel: threading.Event | None = None,
) -> PlainVerdict:  # fmt: skip
    """Run a task's tests on a patch and believe what comes back.

    Raises:
        InfraFault: When the sandbox cannot be set up.
    """
    tests = folder.task.hidden_tests
    try:
        edits = apply_patch(read_patch(patch), layout.base).edits
    except PatchError:
        return PlainVerdict("PATCH FAILED")
    hidden = {
        path.relative_to(folder.tests).as_posix(): FileEdit(path.read_bytes())
        for path in sorted(folder.tests.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    with temporary_folder("plain") as place:
        done = sandbox.run(
            Command(
                argv=_argv(folder),
                env={**layout.env, "PYTHONHASHSEED": "0"},
                cwd=_ROOT,
                mounts=(Mount(layout.base, _ROOT, Access.COPY_ON_WRITE), Mount(layout.environment, "/env")),
                scratch=(_OUT,),
                edits={f"{_ROOT}/{name}": edit for name, edit in {**edits, **hidden}.items()},
                limits=folder.task.limits.model_copy(update={"seconds": seconds, "output": _MOST}),
                collect=(ExportSpec(_OUT, Path(place), max_bytes=_MOST, max_files=20),),
            ),
            cancel,
        )
        report = _reported(Path(place, "report.xml"), len(tests.all_ids)) if _reports(folder) else None
    if done.exit.ended is Ended.TIMED_OUT:
        return PlainVerdict("TIMED OUT", report)
    return PlainVerdict("PASS" if done.exit.ended is Ended.EXITED and done.exit.code == 0 else "FAIL", report)


def _reports(folder: TaskFolder) -> bool:
    """Whether a test runner runs the tests, and not a bare script."""
    tests = folder.task.hidden_tests
    return not any(test.endswith("::__script__") for test in tests.all_ids)


def _argv(folder: TaskFolder) -> tuple[str, ...]:
    tests = folder.task.hidden_tests
    files = tuple(dict.fromkeys(str(PurePosixPath(test.partition("::")[0])) for test in tests.all_ids))
    if tests.runner == "node":
        reporter = ("--test", "--test-reporter=junit", f"--test-reporter-destination={_REPORT}")
        return (node_program(), *(reporter if _reports(folder) else ()), *files)
    if _reports(folder):
        return ("/env/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={_REPORT}", *files)
    return ("/env/bin/python", *files[:1])


def _reported(path: Path, expected: int) -> str:
    """What a JUnit report says: a pass is as many passed tests as there are, and no other."""
    try:
        cases = list(ET.fromstring(path.read_bytes()).iter("testcase"))  # noqa: S314 - Expat refuses the bombs it knows
    except (OSError, ET.ParseError):
        return "FAIL"
    bad = sum(any(case.find(kind) is not None for kind in ("failure", "error", "skipped")) for case in cases)
    return "PASS" if not bad and len(cases) >= expected else "FAIL"
