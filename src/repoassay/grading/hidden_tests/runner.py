"""Runs hidden tests inside the sandbox and reports each over the private channel. Trusted code, hostile company.

Started as `python -I -B runner.py` with a job as JSON on standard input, or forked from a prefork server that calls
`work`. A job has `ids`, `path` (import folders of the repository), `key` (hex; signs every line). Everything this
program needs is imported before the repository enters the import path. One line a test: `<hmac> <json>`, numbered, then
one `end` line.
"""

from __future__ import annotations

import builtins
import contextlib
import fcntl
import gc
import hashlib
import hmac
import io
import json
import logging
import marshal
import os
import sys
import tempfile
import traceback
import unittest
from pathlib import Path
from typing import Any

import _pytest.assertion.rewrite
import _pytest.config
import _pytest.fixtures
import _pytest.main
import _pytest.outcomes
import _pytest.runner
import pytest

MESSAGE = 4000


def _load(name: str) -> dict[str, Any]:
    """Run a program that lies beside this one, and return what it defines."""
    space: dict[str, Any] = {"__name__": f"repoassay_{name}"}
    path = f"/run/{name}.py"
    exec(compile(Path(path).read_bytes(), path, "exec"), space)  # noqa: S102 - our own program
    return space


_hook = vars(builtins)["ɵ"] = _load("observer")["Hook"]()
"""By this rewritten tests send values."""
_DirectRun = _load("direct")["DirectRun"]
_direct_parts = {**_load("plain_fixtures"), **_load("surroundings")}
_held_code = _load("held_code")
_pieced_code = _load("pieced_code")


class Channel:
    """Signed, numbered lines."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self._descriptor, self._key, self._number = descriptor, key, 0
        self._write, self._dumps, self._digest = os.write, json.dumps, hmac.digest

    def send(self, **fields: object) -> None:
        """Write one line."""
        fields["n"] = self._number
        self._number += 1
        body = self._dumps(fields).encode()
        line = self._digest(self._key, body, "sha256").hex().encode() + b" " + body + b"\n"
        while line:
            line = line[self._write(self._descriptor, line) :]


class ResultRecorder:
    """A pytest plug-in that sends each test's outcome once it has been torn down."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._phases: dict[str, list[Any]] = {}

    def pytest_runtest_logstart(self) -> None:
        """Called by pytest before each test: what is observed from here on is that test's."""
        _hook.start()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Called by pytest after setup, call and teardown of each test."""
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            self._channel.send(id=report.nodeid, seen=_hook.seen, **_outcome(phases))

    def pytest_collectreport(self, report: Any) -> None:
        """Called by pytest for each file; one that cannot be imported explains its missing tests."""
        if report.failed:
            self._channel.send(collect=report.nodeid, message=str(report.longrepr)[-MESSAGE:])


def _outcome(phases: list[Any]) -> dict[str, object]:
    """One word for setup, call and teardown together; an expected failure is no pass."""
    seconds = round(sum(phase.duration for phase in phases), 4)
    for phase in phases:
        if phase.failed:
            word = "failed" if phase.when == "call" else "error"
            return {"outcome": word, "seconds": seconds, "message": str(phase.longrepr)[-MESSAGE:]}
        if phase.skipped or hasattr(phase, "wasxfail"):
            return {"outcome": "skipped", "seconds": seconds, "message": str(phase.longrepr)[-MESSAGE:]}
    complete = [phase.when for phase in phases] == ["setup", "call", "teardown"]
    return {"outcome": "passed" if complete else "error", "seconds": seconds, "message": ""}


class Guard:
    """Remembers what the test machinery was before the repository was importable, and says what became of it."""

    def __init__(self) -> None:
        self._watched = {
            "unittest.TestCase.run": (unittest.TestCase, "run"),
            "unittest.TestCase.__call__": (unittest.TestCase, "__call__"),
            "_pytest.runner.pytest_runtest_makereport": (_pytest.runner, "pytest_runtest_makereport"),
            "_pytest.runner.call_and_report": (_pytest.runner, "call_and_report"),
            "pytest.Function.runtest": (pytest.Function, "runtest"),
            "builtins.AssertionError": (__builtins__, "AssertionError"),
            "pytest.raises": (pytest, "raises"),
        }
        self._before = {name: self._state(*place) for name, place in self._watched.items()}

    @staticmethod
    def _state(owner: Any, name: str) -> tuple[int, int]:
        thing = getattr(owner, name, None)
        return id(thing), id(getattr(thing, "__code__", None))

    def changed(self) -> list[str]:
        """Names of what is no longer as it was."""
        found = [name for name, place in self._watched.items() if self._state(*place) != self._before[name]]
        return found + (["sys.settrace"] if sys.gettrace() is not None else [])


def main() -> None:
    """Run one job from standard input and leave at once."""
    sys.path[:] = [place for place in sys.path if place != "/run"]  # there unless the interpreter started isolated
    run(json.load(sys.stdin), int(os.environ.pop("REPOASSAY_CHANNEL")))


_ARGUMENTS = (
    "--noconftest", "-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:pastebin", "-p", "no:stepwise",
    "-p", "no:setuponly", "-p", "no:setupplan", "--import-mode=importlib", "--tb=native", "--capture=sys",
)  # fmt: skip
_RARELY = (50_000, 20, 50)
_warm: dict[str, Any] = {}
"""In a prefork server: pytest's configuration, its started session, and its own function that rewrites tests; in a
branch of it, the guard."""
_own: dict[str, bytes] = {}
"""In a prefork server: the tests of the job to be started, rewritten and marshalled, by path."""


def prepare() -> None:
    """Do in a prefork server, once, what every run of pytest would do: import its parts, configure it, start a session.

    A few tests of nothing are run, so that what pytest imports only when it runs is imported.
    """
    sys.dont_write_bytecode = True
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    bodies = (
        "def test_it(tmp_path, capsys):\n    assert 1 == 1\n",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n",
        "def test_it():\n    assert [1] == [2]\n",
    )
    nobody = Channel(os.open(os.devnull, os.O_WRONLY), b"")
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        for number, body in enumerate(bodies):
            Path(place, f"test_{number}.py").write_text(body)
        pytest.main([place, *_ARGUMENTS, f"--rootdir={place}"], plugins=[ResultRecorder(nobody)])
    if Path("/run/pytest.ini").is_file():
        there = ["-c", "/run/pytest.ini", "--rootdir=/tests", "--confcutdir=/tests"]
        _warm["config"] = config = _pytest.config._prepareconfig([*there, *_ARGUMENTS, "/tests"])
        # A search of every name of every plug-in for fixtures wrapped by mistake: a quarter of a short run.
        setattr(_pytest.fixtures.FixtureManager, "_check_for_wrapped_fixture", lambda *_: None)  # noqa: B010 - as below
        _warm["rewrite"] = _pytest.assertion.rewrite._rewrite_test
        setattr(_pytest.assertion.rewrite, "_rewrite_test", _rewritten)  # noqa: B010 - its type is nobody's business
        with contextlib.redirect_stdout(io.StringIO()):  # what pytest prints nobody reads
            _warm["session"] = session = _pytest.main.Session.from_config(config)
            config._do_configure()
            config.hook.pytest_sessionstart(session=session)
        for handler in [known() for known in getattr(logging, "_handlerList")]:  # noqa: B009 - as above
            if isinstance(handler, logging.FileHandler) and handler.stream:
                handler.stream.close()  # its number would be another file's in a job, which opens it when it logs
                handler.stream = None


class SavedState:
    """Rewritten tests, in a file without a name that a prefork server alone has open.

    They are not kept as objects: code under test could compare its tests with those of other runs, and so tell the
    changed tests of the second run from the real ones.
    """

    def __init__(self, most: int = 2**26) -> None:
        self._file = -1
        self._most, self._size = most, 0
        self._places: dict[bytes, tuple[int, int]] = {}

    def get(self, name: bytes) -> bytes | None:
        """What is kept under a name."""
        size, at = self._places.get(name, (0, 0))
        return os.pread(self._file, size, at) if size else None

    def put(self, name: bytes, code: bytes) -> None:
        """Keep something; when there is too much, all else is forgotten."""
        if self._file < 0:
            opened = os.memfd_create("rewritten")
            self._file = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, 64)
            os.close(opened)
        if self._size + len(code) > self._most:
            os.ftruncate(self._file, 0)
            self._size = 0
            self._places.clear()
        os.pwrite(self._file, code, self._size)
        self._places[name] = (len(code), self._size)
        self._size += len(code)

    def leave(self) -> None:
        """In a fork: know nothing any more."""
        self._places.clear()
        self._size = 0
        if self._file >= 0:
            with contextlib.suppress(OSError):  # whoever forked this process has closed it already
                os.close(self._file)
        self._file = -1


_kept = SavedState()


def hold(document: dict[str, Any]) -> None:
    """Hold what the jobs of one task share, in a branch of a prefork server."""
    _kept.leave()
    _warm["guard"] = Guard()
    _direct_parts["around"] = _direct_parts["Surroundings"]()
    _held_code["hold_shared"](document, _pieced_code["hold_pieces"])


def foresee(job: dict[str, Any]) -> None:
    """Rewrite the assertions of a job's tests before the fork, so that the same tests are rewritten once."""
    _own.clear()
    for path, content, _ in job["writes"]:
        if "config" in _warm and content and path.startswith("/tests/") and path.endswith(".py"):
            name = hashlib.sha256(path.encode() + b"\0" + content).digest()
            code = _kept.get(name)
            if code is None:
                try:
                    code = _rewrite(Path(path), content)
                except (OSError, SyntaxError, ValueError, RecursionError):
                    continue  # the run itself will say what is wrong
                _kept.put(name, code)
            _own[path] = code


def _rewrite(file: Path, content: bytes) -> bytes:
    alone = os.open("/tmp/rewriting", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)  # noqa: S108 - of this server alone
    os.lockf(alone, os.F_LOCK, 0)  # branches rewrite too, files of the same name perhaps
    made = [folder for folder in reversed(file.parents) if not folder.exists()]
    try:
        for folder in made:
            folder.mkdir()
        file.write_bytes(content)
        return marshal.dumps(_warm["rewrite"](file, _warm["config"])[1])
    finally:
        file.unlink(missing_ok=True)
        for folder in reversed(made):
            folder.rmdir()
        os.close(alone)


def _rewritten(file: Path, config: Any) -> Any:
    code = _own.get(str(file))
    return _warm["rewrite"](file, config) if code is None else (file.stat(), marshal.loads(code))  # noqa: S302 - ours


def _run_pytest(job: dict[str, Any], recorder: ResultRecorder) -> int:
    tests = [f"{job['root']}/{test}" for test in job["ids"]]
    if "config" not in _warm:
        there = ["-c", job["ini"], f"--rootdir={job['root']}", f"--confcutdir={job['root']}"]
        return int(pytest.main([*there, *_ARGUMENTS, *tests], plugins=[recorder]))
    config = _warm["config"]
    config.args[:] = tests
    config.option.file_or_dir = tests
    config.pluginmanager.register(recorder)
    try:
        return int(_pytest.main._main(config, _warm["session"]) or 0)
    except (KeyboardInterrupt, _pytest.outcomes.Exit):  # a file that cannot be collected among them
        return int(pytest.ExitCode.INTERRUPTED)
    except BaseException:  # noqa: BLE001 - whatever ended the session, its tests have not all been reported
        traceback.print_exc()
        return int(pytest.ExitCode.INTERNAL_ERROR)


def work(job: dict[str, Any], descriptor: int) -> None:
    """Run one job in a fork of a prefork server."""
    _kept.leave()
    run(job["facts"], descriptor)


def run(job: dict[str, Any], descriptor: int) -> None:
    """Run the tests of a job and leave at once."""
    channel = Channel(descriptor, bytes.fromhex(job.pop("key")))
    os.set_inheritable(descriptor, False)
    learn = _held_code["learn"]() if job.get("learn") else lambda: None  # before the guard remembers anything
    guard, leave = _warm.get("guard") or Guard(), os._exit
    gc.set_threshold(*_RARELY)  # a run is short: what a repository allocates while it is imported is no garbage
    channel.send(ready=True)  # whatever goes wrong before this line is not the submission's doing
    sys.path[:0] = job["path"]
    if job.get("cwd"):
        os.chdir(job["cwd"])
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    scripts = [test for test in job["ids"] if test.endswith("::__script__")]
    job["ids"] = [test for test in job["ids"] if test not in scripts]
    code = 0
    codes = {path: marshal.loads(code) for path, code in _own.items()} if job.get("direct") else {}  # noqa: S302 - ours
    direct = _DirectRun(channel, _hook, job["root"], codes, _direct_parts)
    if job["ids"]:
        code = direct.run(job["ids"]) if job.get("direct") else _run_pytest(job, ResultRecorder(channel))
    for test in scripts:
        direct.script(test)
    channel.send(end=code, changed=guard.changed(), learnt=learn())
    leave(0)  # nothing of the repository's runs after this


if __name__ == "__main__":
    main()
