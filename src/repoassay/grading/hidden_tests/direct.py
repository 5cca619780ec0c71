"""Runs scripts, and simple tests without a pytest session, inside the sandbox; `test_form.py` says which are simple.

A function is called, a case of unittest runs itself, and what each came to is told as the session would have told it.
What a session does beside that (fixtures, plug-ins, three reports a test) is most of what a short test costs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
import traceback
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _pytest.mark.structures
import _pytest.outcomes
import _pytest.python
import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

MESSAGE = 4000
_clock = time.perf_counter
"""Before code under test can change it."""
_PASSED = ("passed", "")
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
        parts: `TestFixtures` of `plain_fixtures.py`, `KeptWarnings` and `Surroundings` of `surroundings.py`, and
            perhaps `around`, one that is made.
    """

    def __init__(self, channel: Any, hook: Any, root: str, codes: dict[str, Any], parts: dict[str, Any]) -> None:
        self._fixtures, self._warnings = parts["TestFixtures"], parts["KeptWarnings"]
        self._around = parts.get("around") or parts["Surroundings"]()
        self._channel, self._hook, self._root, self._codes = channel, hook, root, codes
        self._modules: dict[str, Any] = {}
        self._tables: dict[Any, dict[str, dict[str, Any]]] = {}

    def run(self, ids: list[str]) -> int:
        """Run tests by id, in order; the exit code of a session."""
        self._around.begin()
        # Tests are rewritten already; what looks at every import for more of them takes a seventh of a large one.
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, AssertionRewritingHook)]
        with self._warnings():
            work = self._collected(ids)
        if isinstance(work, int):
            return work
        try:
            self._run(work)
        except _STOP:
            return _INTERRUPTED
        return _NO_ERROR

    def _collected(self, ids: list[str]) -> list[tuple[str, Any, Any]] | int:
        """Each test with what it is, or the exit code of a session that cannot find them all."""
        for name in dict.fromkeys(test.partition("::")[0] for test in ids):
            try:
                self._modules[name] = self._module(name)
            except _STOP:
                return _INTERRUPTED
            except BaseException:  # noqa: BLE001 - whatever a module raised, its tests cannot be had
                self._channel.send(collect=name, message=traceback.format_exc()[-MESSAGE:])
        if not all(test.partition("::")[0] in self._modules for test in ids):
            return _INTERRUPTED
        try:
            return [each for test in ids for each in self._cases_of(test)]
        except LookupError:
            return _USAGE

    def script(self, test: str) -> None:
        """Run a file as `__main__`; it passes when it ends by itself or by leaving with 0."""
        started = _clock()
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
        seconds = round(_clock() - started, 4)
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

    def _cases_of(self, test: str) -> list[tuple[str, Any, Any]]:
        """A test case's class and the name of its method, or a function and its arguments: of each row, if of none."""
        name, _, rest = test.partition("::")
        head, bracket, row = rest.partition("[")
        first, _, method = head.partition("::")
        try:
            thing = vars(self._modules[name])[first]
            if method:
                getattr(thing, method)
                return [(test, thing, method)]
            rows = self._rows(thing)
            if bracket:
                return [(test, thing, rows[row[:-1]])]
            return [(f"{test}[{each}]", thing, values) for each, values in rows.items()] or [(test, thing, {})]
        except AttributeError:
            raise LookupError(test) from None

    def _rows(self, function: Any) -> dict[str, dict[str, Any]]:
        """The rows of a parametrized function by their ids, as pytest makes them."""
        if function in self._tables:
            return self._tables[function]
        rows: dict[str, dict[str, Any]] = {}
        for mark in getattr(function, "pytestmark", ()):
            names, sets = _row_sets(*mark.args, function, None, "")
            maker: Any = _pytest.python.IdMaker
            ids = maker(names, sets, *[None] * (len(maker.__slots__) - 2)).make_unique_parameterset_ids()
            values = {name: dict(zip(names, each.values)) for name, each in zip(ids, sets)}  # noqa: B905 - older Pythons
            if rows:
                values = {f"{old}-{new}": {**rows[old], **values[new]} for old in rows for new in values}
            rows = values
        self._tables[function] = rows
        return rows

    def _run(self, work: list[tuple[str, Any, Any]]) -> None:
        for place, (test, thing, how) in enumerate(work):
            started = _clock()
            self._hook.start()
            self._around.renew_streams()
            with self._warnings():
                if not isinstance(how, str):
                    result = self._called(test, thing, how)
                else:
                    result = self._case(test, thing, how, *(each[1] is thing for each in _neighbours(work, place)))
            self._around.leave()
            seconds = round(_clock() - started, 4)
            self._channel.send(id=test, seen=self._hook.seen, outcome=result[0], seconds=seconds, message=result[1])

    def _phase(self, test: str, name: str, work: Callable[[], object]) -> tuple[str, str]:
        """Do what belongs to a phase of a test: what came of it."""
        try:
            with self._around.phase(test, name):
                work()
        except _STOP:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever was raised, the test did not pass
            return _word(error, "failed" if name == "call" else "error")
        return _PASSED

    def _called(self, test: str, function: Any, values: dict[str, Any]) -> tuple[str, str]:
        """Call a test function with its fixtures: what was wrong first counts."""
        name, _, inner = test.partition("::")
        stack = contextlib.ExitStack()
        fixtures = self._fixtures(self._modules[name], inner, stack)
        arguments: dict[str, Any] = {}
        result = self._phase(test, "setup", lambda: arguments.update(fixtures.arguments(function, values)))
        if result == _PASSED:
            result = self._phase(test, "call", lambda: _call(function, arguments))
        end = self._phase(test, "teardown", stack.close)
        return end if result == _PASSED else result

    def _case(self, test: str, kind: Any, method: str, after: bool, before: bool) -> tuple[str, str]:
        """Run a test case, with what belongs to its class where the one before or after is of another."""
        if not after:
            self._class_fault = self._phase(test, "setup", lambda: _set_up(kind))
        if self._class_fault != _PASSED:
            return self._class_fault
        result = _CaseOutcome()
        wrong = self._phase(test, "call", lambda: kind(method)(result=result))
        result.note(*wrong)
        end = _PASSED if before else self._phase(test, "teardown", lambda: _tear_down(kind))
        return result.first or end


def _neighbours(work: list[tuple[str, Any, Any]], place: int) -> list[tuple[str, Any, Any]]:
    nobody = ("", None, None)
    return [work[place - 1] if place else nobody, work[place + 1] if place + 1 < len(work) else nobody]


def _call(function: Any, arguments: dict[str, Any]) -> None:
    result = function(**arguments)
    if hasattr(result, "__await__") or hasattr(result, "__aiter__"):
        pytest.fail("What the test returned would have to be awaited.", pytrace=False)


def _word(error: BaseException, bad: str = "failed") -> tuple[str, str]:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") in _MACHINERY:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    return "skipped" if isinstance(error, _SKIP) else bad, text[-MESSAGE:]


_MACHINERY = (__name__, "repoassay_plain_fixtures", "unittest.case", "contextlib")


class _CaseOutcome:
    """What a test case tells of itself: the first word that is no pass counts."""

    def __init__(self) -> None:
        self.first: tuple[str, str] | None = None

    def note(self, word: str, message: str) -> None:
        """Take the first."""
        self.first = self.first or ((word, message) if word != "passed" else None)

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


def _set_up(kind: Any) -> None:
    try:
        kind.setUpClass()
    except Exception:
        _clean_up(kind)
        raise


def _tear_down(kind: Any) -> None:
    try:
        kind.tearDownClass()
    finally:
        _clean_up(kind)


def _clean_up(kind: Any) -> None:
    """As pytest does it, which of old did not look at what was raised there."""
    kind.doClassCleanups()
    raised = [each[1] for each in getattr(kind, "tearDown_exceptions", None) or ()]
    if raised and getattr(pytest, "version_tuple", ()) >= (8, 2):
        raise raised[0]
