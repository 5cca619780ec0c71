"""Runs scripts, and simple tests without a pytest session, inside the sandbox; `test_form.py` says which are simple.

A function is called, a case of unittest runs itself, and what each came to is told as the session would have told it.
What a session does beside that (fixtures, plug-ins, three reports a test) is most of what a short test costs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import sys
import time
import traceback
import unittest
import warnings
from pathlib import Path
from typing import Any

import _pytest.mark.structures
import _pytest.outcomes
import _pytest.python
from _pytest.assertion.rewrite import AssertionRewritingHook

MESSAGE = 4000
_NO_ERROR, _INTERRUPTED, _USAGE = 0, 2, 4
"""Exit codes of pytest."""
_STOP = (KeyboardInterrupt, _pytest.outcomes.Exit)
_row_sets: Any = _pytest.mark.structures.ParameterSet._for_parametrize
_SKIP = (_pytest.outcomes.Skipped, unittest.SkipTest)


class DirectRun:
    """One job's tests.

    Args:
        channel: Has `send`.
        hook: The observer.
        root: Where test files lie.
        codes: Their code with assertions rewritten, by path.
        fixtures: The class of a test's fixtures; see `plain_fixtures.py`.
    """

    def __init__(self, channel: Any, hook: Any, root: str, codes: dict[str, Any], fixtures: Any) -> None:
        self._fixtures = fixtures
        self._channel, self._hook, self._root, self._codes = channel, hook, root, codes
        self._modules: dict[str, Any] = {}
        self._tables: dict[Any, dict[str, dict[str, Any]]] = {}

    def run(self, ids: list[str]) -> int:
        """Run tests by id, in order; the exit code of a session."""
        sys.stdout, sys.stderr = _Quiet(), _Quiet()
        # Tests are rewritten already; what looks at every import for more of them takes a seventh of a large one.
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, AssertionRewritingHook)]
        for name in dict.fromkeys(test.partition("::")[0] for test in ids):
            try:
                with _Warnings():
                    self._modules[name] = self._module(name)
            except _STOP:
                return _INTERRUPTED
            except BaseException:  # noqa: BLE001 - whatever a module raised, its tests cannot be had
                self._channel.send(collect=name, message=traceback.format_exc()[-MESSAGE:])
        if not all(test.partition("::")[0] in self._modules for test in ids):
            return _INTERRUPTED
        try:
            work = [(test, *self._found(test)) for test in ids]
        except LookupError:
            return _USAGE
        try:
            self._run(work)
        except _STOP:
            return _INTERRUPTED
        return _NO_ERROR

    def script(self, test: str) -> None:
        """Run a file as `__main__`; it passes when it ends by itself or by leaving with 0."""
        started = time.monotonic()
        word, message = "passed", ""
        path = f"{self._root}/{test.partition('::')[0]}"
        sys.argv = [path]
        self._hook.start()
        try:
            code = compile(Path(path).read_bytes(), path, "exec")
            exec(code, {"__name__": "__main__", "__file__": path})  # noqa: S102 - the task's own script
        except SystemExit as error:
            last = error.__traceback__
            while last and last.tb_next:
                last = last.tb_next
            own = last is not None and last.tb_frame.f_code.co_filename == path
            if error.code not in (None, 0) or not own:  # code under test may not end the script
                word, message = "failed", f"SystemExit: {error.code}"
        except BaseException:  # noqa: BLE001 - whatever the script raised, it did not pass
            word, message = "failed", traceback.format_exc()[-MESSAGE:]
        seconds = round(time.monotonic() - started, 4)
        self._channel.send(id=test, seen=self._hook.seen, outcome=word, seconds=seconds, message=message)

    def _module(self, name: str) -> Any:
        path = f"{self._root}/{name}"
        dotted = name[: -len(".py")].replace("/", ".")
        spec = importlib.util.spec_from_file_location(dotted, path)
        assert spec and spec.loader
        module = sys.modules[dotted] = importlib.util.module_from_spec(spec)
        code = self._codes.get(path)
        if code is None:
            spec.loader.exec_module(module)
        else:
            exec(code, vars(module))  # noqa: S102 - the task's own test
        return module

    def _found(self, test: str) -> tuple[Any, Any]:
        """A test case's class and the name of its method, or a function and its arguments."""
        name, _, rest = test.partition("::")
        head, bracket, row = rest.partition("[")
        first, _, method = head.partition("::")
        try:
            thing = vars(self._modules[name])[first]
            if method:
                getattr(thing, method)
                return thing, method
            return thing, self._rows(thing)[row[:-1]] if bracket else {}
        except AttributeError:
            raise LookupError(test) from None

    def _rows(self, function: Any) -> dict[str, dict[str, Any]]:
        """The rows of a parametrized function by their ids, as pytest makes them."""
        if function in self._tables:
            return self._tables[function]
        rows: dict[str, dict[str, Any]] = {}
        for mark in function.pytestmark:
            names, sets = _row_sets(*mark.args, function, None, "")
            maker: Any = _pytest.python.IdMaker
            ids = maker(names, sets, *[None] * (len(maker.__slots__) - 2)).make_unique_parameterset_ids()
            told = {name: dict(zip(names, each.values)) for name, each in zip(ids, sets)}  # noqa: B905 - older Pythons
            if rows:
                told = {f"{old}-{new}": {**rows[old], **told[new]} for old in rows for new in told}
            rows = told
        self._tables[function] = rows
        return rows

    def _run(self, work: list[tuple[str, Any, Any]]) -> None:
        for place, (test, thing, how) in enumerate(work):
            started = time.perf_counter()
            self._hook.start()
            os.environ["PYTEST_CURRENT_TEST"] = f"{test} (call)"
            with _Warnings():
                if not isinstance(how, str):
                    told = self._called(test, thing, how)
                else:
                    told = self._case(thing, how, *(each[1] is thing for each in _neighbours(work, place)))
            del os.environ["PYTEST_CURRENT_TEST"]
            seconds = round(time.perf_counter() - started, 4)
            self._channel.send(id=test, seen=self._hook.seen, outcome=told[0], seconds=seconds, message=told[1])

    def _called(self, test: str, function: Any, given: dict[str, Any]) -> tuple[str, str]:
        """Call a test function with its fixtures: what was wrong first counts."""
        name, _, inner = test.partition("::")
        told = ("passed", "")
        stack = contextlib.ExitStack()
        try:
            arguments = self._fixtures(self._modules[name], inner, stack).arguments(function, given)
        except _STOP:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a fixture raised, its test did not pass
            told = _word(error, "error")
        else:
            told = _called(function, arguments)
        try:
            stack.close()
        except _STOP:
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            return told if told[0] != "passed" else _word(error, "error")
        return told

    def _case(self, kind: Any, method: str, after: bool, before: bool) -> tuple[str, str]:
        """Run a test case, with what belongs to its class where the one before or after is of another."""
        if not after:
            self._class_fault = _set_up(kind)
        if self._class_fault:
            return self._class_fault
        told = _CaseOutcome()
        try:
            kind(method)(result=told)
        except _STOP:
            raise
        except BaseException as error:  # noqa: BLE001 - the case cannot even be made
            told.note(*_word(error))
        return (told.first or ("passed", "")) if before else _tear_down(kind) or told.first or ("passed", "")


def _neighbours(work: list[tuple[str, Any, Any]], place: int) -> list[tuple[str, Any, Any]]:
    nobody = ("", None, None)
    return [work[place - 1] if place else nobody, work[place + 1] if place + 1 < len(work) else nobody]


class _Quiet(io.TextIOWrapper):
    """Where prints go, as in a session: a stream over bytes that nobody reads."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="UTF-8", newline="", write_through=True)


class _Warnings(warnings.catch_warnings):
    """Warnings as pytest treats them: kept, and each deprecation told every time."""

    def __init__(self) -> None:
        super().__init__(record=True)

    def __enter__(self) -> Any:
        log = super().__enter__()
        if not sys.warnoptions:
            warnings.filterwarnings("always", category=DeprecationWarning)
            warnings.filterwarnings("always", category=PendingDeprecationWarning)
        return log


def _called(function: Any, arguments: dict[str, Any]) -> tuple[str, str]:
    try:
        function(**arguments)
    except _STOP:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a test raised, it did not pass
        return _word(error)
    return "passed", ""


def _word(error: BaseException, bad: str = "failed") -> tuple[str, str]:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in _MACHINERY:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    return "skipped" if isinstance(error, _SKIP) else bad, text[-MESSAGE:]


_MACHINERY = (__name__, "repoassay_plain_fixtures", "unittest.case")


class _CaseOutcome:
    """What a test case tells of itself: the first word that is no pass counts."""

    def __init__(self) -> None:
        self.first: tuple[str, str] | None = None

    def note(self, word: str, message: str) -> None:
        """Take the first."""
        self.first = self.first or (word, message)

    def startTest(self, case: Any) -> None:  # noqa: N802 - named by unittest
        """Nothing to do."""

    stopTest = addSuccess = startTest  # noqa: N815 - named by unittest

    def addError(self, case: Any, error: Any) -> None:  # noqa: N802 - named by unittest
        """An exception."""
        if isinstance(error[1], _STOP):
            raise error[1]
        self.note(*_word(error[1]))

    addFailure = addError  # noqa: N815 - named by unittest

    def addSkip(self, case: Any, reason: str) -> None:  # noqa: N802 - named by unittest
        """It was skipped."""
        self.note("skipped", str(reason)[-MESSAGE:])

    def addExpectedFailure(self, case: Any, error: Any) -> None:  # noqa: N802 - named by unittest
        """An expected failure is no pass."""
        self.note("skipped", "")

    def addUnexpectedSuccess(self, case: Any) -> None:  # noqa: N802 - named by unittest
        """What should have failed did not."""
        self.note("failed", "Unexpected success")


def _set_up(kind: Any) -> tuple[str, str] | None:
    try:
        kind.setUpClass()
    except _STOP:
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        kind.doClassCleanups()
        return _word(error, "error")
    return None


def _tear_down(kind: Any) -> tuple[str, str] | None:
    try:
        kind.tearDownClass()
        kind.doClassCleanups()
    except _STOP:
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        return _word(error, "error")
    return None
