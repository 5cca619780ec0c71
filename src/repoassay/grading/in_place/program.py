"""Runs a repository's tests in place and tells each result over the private channel. Trusted code, hostile company.

Started in the task's own interpreter, Python 3.6 or newer (annotations are removed before it is sent), without `site`:
everything it needs of the standard library is imported before the first module of the repository can be. The job, JSON
on standard input, has `reader`, `files`, `only`, `arguments`, `before`, `key` (hex; signs every line), `root`, `hosts`
(names of this sandbox's own loopback) and `variables`. One line a test: `<hmac> <json>`, numbered, then one `end` line.
A test is named `FILE::NAME`, FILE relative to the root; `names` are what else its program calls it. A pass that is a
failure which was expected has `expected`: code under test can raise it as well.
"""

from __future__ import annotations

import builtins
import hashlib
import hmac
import inspect
import io
import json
import os
import select
import site
import sys
import time
import traceback
import unittest
from typing import Any

MESSAGE = LONGEST = 4000
XFAILED = "xfailed"
OBSERVER = "/run/observer.py"
"""Defines `Hook`, by which rewritten tests send values."""
JAVASCRIPT = "/run/in_place_javascript.py"
"""Defines `run_node_tests`, for tests that Node runs."""
HTTPBIN = "/env/services/httpbin/bin/python"
"""Where a recipe puts an environment with httpbin, for tests that would ask the public one."""
SERVICE = "/run/service.py"
"""Serves it."""


class Silence:
    """What observes nothing."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def start(self) -> None:
        """Begin a test."""


def load_hook() -> Any:
    """The hook of rewritten tests, as a name they find everywhere."""
    if not os.path.exists(OBSERVER):
        return Silence()
    space: dict[str, Any] = {"__name__": "repoassay_observer"}
    with open(OBSERVER, encoding="utf-8") as stream:
        exec(compile(stream.read(), OBSERVER, "exec"), space)  # noqa: S102 - our own program
    hook = vars(builtins)["ɵ"] = space["Hook"]()
    return hook


class SignedLines:
    """Signed, numbered lines; only of the process that opened it."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self._descriptor, self._key, self._number = descriptor, key, 0
        self._write, self._dumps, self._new, self._pid = os.write, json.dumps, hmac.new, os.getpid
        self._own = os.getpid()

    def send(self, **fields: Any) -> None:
        """Write one line."""
        if self._pid() != self._own:
            return  # a test forked, and its child went on
        fields["n"] = self._number
        self._number += 1
        body = self._dumps(fields).encode()
        line = self._new(self._key, body, hashlib.sha256).hexdigest().encode() + b" " + body + b"\n"
        while line:
            line = line[self._write(self._descriptor, line) :]


class ResultSink:
    """ResultSink of tests on their way to the channel."""

    def __init__(self, channel: SignedLines, hook: Any, root: str) -> None:
        self.hook = hook
        self._channel, self._root, self._told = channel, root, set()  # type: ignore[var-annotated]

    def tell(self, name: str, outcome: str, seconds: float, message: str, names: Any = ()) -> None:
        """Tell one result, once. Parameters of megabytes name some tests, which the channel would not hold."""
        if len(name) > LONGEST:
            name = name[: LONGEST - 65] + "-" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
        if name in self._told:
            return
        self._told.add(name)
        self._channel.send(
            id=name, outcome="passed" if outcome == XFAILED else outcome, expected=outcome == XFAILED,
            seconds=round(max(0.0, seconds), 4), message=message[-MESSAGE:], seen=self.hook.seen, names=list(names),
        )  # fmt: skip

    def broken(self, name: str, message: str) -> None:
        """Tell of a file whose tests could not be had."""
        self._channel.send(collect=name, message=message[-MESSAGE:])

    def relative(self, path: str) -> str:
        """A path as it is named from the repository's root."""
        full = os.path.realpath(path)
        return full[len(self._root) + 1 :] if full.startswith(self._root + "/") else full


class PytestRecorder:
    """A plug-in for any pytest that tells each test's outcome once it has been torn down."""

    def __init__(self, results: ResultSink) -> None:
        self._results = results
        self._phases: dict[str, list[Any]] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Called by pytest before each test: what is observed from here on is that test's."""
        self._results.hook.start()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Called by pytest after setup, call and teardown of each test."""
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            del self._phases[report.nodeid]
            outcome, message = self.outcome(phases)
            name, bracket, parameters = report.nodeid.partition("[")
            name = name.replace("::()::", "::")  # how pytest before 4 names what is in a class
            seconds = sum(phase.duration for phase in phases)
            self._results.tell(name + bracket + parameters, outcome, seconds, message)

    def pytest_collectreport(self, report: Any) -> None:
        """Called by pytest for each file; one that cannot be imported explains its missing tests."""
        if report.failed:
            self._results.broken(report.nodeid, str(report.longrepr))

    @staticmethod
    def outcome(phases: list[Any]) -> tuple[str, str]:
        """One word for setup, call and teardown together."""
        for phase in phases:
            if phase.failed:
                return "failed" if phase.when == "call" else "error", str(phase.longrepr)
        for phase in phases:
            if phase.skipped:
                return (XFAILED if hasattr(phase, "wasxfail") else "skipped"), str(phase.longrepr)
            if hasattr(phase, "wasxfail"):
                return "skipped", "passed although it was expected to fail"
        complete = {"setup", "call", "teardown"} <= {phase.when for phase in phases}
        return "passed" if complete else "error", ""


def run_pytest(job: dict[str, Any], results: ResultSink) -> int:
    """Run files, or some tests of them, with the environment's own pytest."""
    import pytest

    targets = job["only"] or job["files"]
    arguments = ["-p", "no:cacheprovider", "-q", *job["arguments"], *targets]
    return int(pytest.main(arguments, plugins=[PytestRecorder(results)]))


class UnittestRecorder:
    """Tells the outcome of every test that any runner built on `unittest` runs."""

    def __init__(self, results: ResultSink) -> None:
        self._results = results
        self._started: dict[int, tuple[float, list[str], list[str]]] = {}
        kind: Any = unittest.TestResult
        for name in ("startTest", "stopTest"):
            setattr(kind, name, self.wrapped(getattr(kind, name), getattr(self, name)))
        for name, word in (
            ("addSuccess", "passed"), ("addError", "error"), ("addFailure", "failed"), ("addSkip", "skipped"),
            ("addExpectedFailure", XFAILED), ("addUnexpectedSuccess", "failed"),
        ):  # fmt: skip
            setattr(kind, name, self.wrapped(getattr(kind, name), self.noting(word)))
        kind.addSubTest = self.wrapped(kind.addSubTest, self.sub_test)

    @staticmethod
    def wrapped(real: Any, also: Any) -> Any:
        """A method that tells what it is called with, and does what it did."""

        def method(result: Any, test: Any, *rest: Any) -> Any:
            also(test, *rest)
            return real(result, test, *rest)

        return method

    def startTest(self, test: Any) -> None:  # noqa: N802 - as unittest calls it
        """Called when a test begins."""
        self._started[id(test)] = (time.time(), [], [])
        self._results.hook.start()

    def noting(self, word: str) -> Any:
        """What keeps one word on a test; nothing on a class or module that could not be set up."""

        def note(test: Any, *rest: Any) -> None:
            message = "".join(traceback.format_exception(*rest[0])) if rest and isinstance(rest[0], tuple) else ""
            started = self._started.get(id(test))
            if started is None:
                self._results.broken(str(test), message)
            else:
                started[1].append(word)
                started[2].append(message or str(rest[0] if rest else ""))

        return note

    def sub_test(self, test: Any, _: Any, error: Any) -> None:
        """Called after each subtest."""
        if error is not None:
            self.noting("failed")(test, error)

    def stopTest(self, test: Any) -> None:  # noqa: N802 - as unittest calls it
        """Called when a test is over."""
        began, words, messages = self._started.pop(id(test), (time.time(), [], []))
        order = ("error", "failed", "skipped", XFAILED, "passed")
        outcome = next((word for word in order if word in words), "error")
        names = [str(test)]
        doc = test.shortDescription() if isinstance(test, unittest.TestCase) else ""
        names += [doc] if doc else []
        self._results.tell(self.place(test), outcome, time.time() - began, "\n".join(messages), names)

    def place(self, test: Any) -> str:
        """`FILE::CLASS::NAME` of a test."""
        kind = type(test)
        try:
            file = self._results.relative(inspect.getfile(kind))
        except (TypeError, OSError):
            return str(test)
        return f"{file}::{kind.__qualname__}::{getattr(test, '_testMethodName', str(test))}"


def labels(job: dict[str, Any], root: str = "") -> list[str]:
    """What is to be run, by dotted name; `root` is the folder that names begin below."""
    found = []
    for test in job["only"]:
        file, _, name = test.partition("::")
        module = (file[len(root) :] if file.startswith(root) else file)[: -len(".py")]
        found.append(f"{module}.{name}".replace("/", ".").replace("::", "."))
    return found or job["files"]


def run_unittest(job: dict[str, Any], results: ResultSink) -> int:
    """Run modules, classes or methods by dotted name, or what discovery finds in files and folders."""
    UnittestRecorder(results)
    sys.path.insert(0, job["root"])
    loader, suite = unittest.TestLoader(), unittest.TestSuite()
    for name in labels(job):
        if os.path.isdir(name):
            suite.addTests(loader.discover(name, top_level_dir=job["root"]))
        else:
            suite.addTests(loader.loadTestsFromName(name[:-3].replace("/", ".") if name.endswith(".py") else name))
    return 0 if unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite).wasSuccessful() else 1


def run_django(job: dict[str, Any], results: ResultSink) -> int:
    """Run Django's own tests/runtests.py."""
    import runpy

    UnittestRecorder(results)
    os.chdir(job["root"] + "/tests")
    sys.path.insert(0, job["root"] + "/tests")
    sys.argv = ["runtests.py", *job["arguments"], *labels(job, "tests/")]
    try:
        runpy.run_path("runtests.py", run_name="__main__")
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(bool(error.code))
    return 0


def run_sympy(job: dict[str, Any], results: ResultSink) -> int:
    """Run SymPy's own runner, as bin/test does."""
    os.environ["SYMPY_USE_CACHE"] = "no"
    sys.path.insert(0, job["root"])
    try:
        from sympy.testing import runtests  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from sympy.utilities import runtests  # type: ignore[import-not-found,no-redef,unused-ignore]

    class Reporter(runtests.PyTestReporter):  # type: ignore[misc,unused-ignore]
        """SymPy's reporter, which tells each result as well."""

        test: Any = None
        began = 0.0

        def entering_filename(self, filename: Any, n: Any) -> None:
            self.place = results.relative(str(filename))
            super().entering_filename(filename, n)

        def entering_test(self, f: Any) -> None:
            self.test, self.began = f, time.time()
            results.hook.start()
            super().entering_test(f)

        def note(self, outcome: str, message: str = "") -> None:
            if self.test is not None:
                name = self.test.__name__
                results.tell(f"{self.place}::{name}", outcome, time.time() - self.began, message, [name])

        def test_pass(self, *args: Any) -> None:
            self.note("passed")
            super().test_pass(*args)

        def test_xfail(self, *args: Any) -> None:
            self.note(XFAILED)
            super().test_xfail(*args)

        def test_xpass(self, *args: Any) -> None:
            self.note("skipped", "passed although it was expected to fail")
            super().test_xpass(*args)

        def test_skip(self, *args: Any) -> None:
            self.note("skipped")
            super().test_skip(*args)

        def test_fail(self, exc_info: Any) -> None:
            self.note("failed", "".join(traceback.format_exception(*exc_info)))
            super().test_fail(exc_info)

        def test_exception(self, exc_info: Any) -> None:
            self.note("error", "".join(traceback.format_exception(*exc_info)))
            super().test_exception(exc_info)

        def import_error(self, filename: Any, exc_info: Any) -> None:
            results.broken(results.relative(str(filename)), "".join(traceback.format_exception(*exc_info)))
            super().import_error(filename, exc_info)

    runtests.PyTestReporter = Reporter
    words = tuple(test.partition("::")[2] for test in job["only"])  # each runs all whose names hold it
    seed = os.environ.get("PYTHONHASHSEED", "")  # what its tests draw is fixed as well where the order of sets is
    drawn = {"seed": int(seed)} if seed.isdigit() else {}
    done = runtests.test(*job["files"], kw=words, subprocess=False, verbose=True, colors=False, **drawn)
    return 0 if done else 1


def start_service(names: list[str]) -> None:
    """Start the service that the environment has for its tests, if any, and take the variables that say where it is."""
    if not os.path.exists(HTTPBIN):
        return
    heard, ready = os.pipe()
    os.set_inheritable(ready, True)
    arguments = [HTTPBIN, "-I", "-B", SERVICE, str(ready), *names]
    os.spawnve(os.P_NOWAIT, HTTPBIN, arguments, {"PATH": "/usr/bin:/bin"})  # noqa: S606 - ours, in the sandbox
    os.close(ready)
    with open(heard) as stream:
        variables = stream.read() if select.select([heard], [], [], 20)[0] else ""
    os.environ.update(json.loads(variables or "{}"))


def run_javascript(job: dict[str, Any], results: ResultSink) -> int:
    """Run files with one of Node's runners, in processes of their own."""
    space: dict[str, Any] = {"__name__": "repoassay_javascript"}
    with open(JAVASCRIPT, encoding="utf-8") as stream:
        exec(compile(stream.read(), JAVASCRIPT, "exec"), space)  # noqa: S102 - our own program
    return int(space["run_node_tests"](job, results))


READERS = {"pytest": run_pytest, "unittest": run_unittest, "django": run_django, "sympy": run_sympy}


def main() -> None:
    """Run one job from standard input and leave at once."""
    job = json.loads(sys.stdin.read())
    descriptor = int(os.environ.pop("REPOASSAY_CHANNEL"))
    os.set_inheritable(descriptor, False)
    channel = SignedLines(descriptor, bytes.fromhex(job.pop("key")))
    leave, hook = os._exit, load_hook()
    channel.send(ready=True)  # whatever goes wrong before this line is not the submission's doing
    os.environ.update(job["variables"])
    start_service(job["hosts"])
    sys.path[:] = [place for place in sys.path if place not in ("", "/run")]
    site.main()
    os.chdir(job["root"])
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    results = ResultSink(channel, hook, os.path.realpath(job["root"]))
    try:
        code = READERS.get(job["reader"], run_javascript)(job, results)
    except BaseException:  # noqa: BLE001 - whatever the repository's runner raised, its tests have not all been told
        results.broken("", traceback.format_exc())
        code = 3
    channel.send(end=code, changed=[])
    leave(0)  # nothing of the repository's runs after this


if __name__ == "__main__":
    main()
