"""Whether new and changed tests tell the base from the head, test by test; and tests the change broke."""

from __future__ import annotations

from repoassay.signals.bench import ToolRunner, TreeSide
from repoassay.signals.change import Change
from repoassay.signals.signal import (
    Signal,
    SignalAxis,
    SignalEvidence,
    at_line,
    at_path,
    judged,
    silent,
    unknown_signal,
)
from repoassay.signals.stubs import taken_back
from repoassay.signals.suite import SuiteRun, run_suite
from repoassay.signals.test_functions import TestFunction, changed_tests
from repoassay.signals.tools import CannotRun

__all__ = ["existing_tests", "tests_on_base"]

_ID, _TITLE = "tests_on_base", "New or changed tests that pass without the change"
_RULE = (
    "a new or changed test that runs none of the changed code and does not fail on the base; or none that fails there;"
    " or one that fails on the head"
)
_BROKEN = "Tests that passed on the base and fail on the head"
_MOST_AGAIN = 20
_FAILED = frozenset({"failed", "error"})


def tests_on_base(change: Change, bench: ToolRunner, head: SuiteRun) -> list[Signal]:
    """Run changed test files with the base's program; a test that cannot be collected there is inconclusive.

    Args:
        change: What is judged.
        bench: Where tests run.
        head: All tests, as they ran on the head.
    """
    axis = SignalAxis.TESTING
    tests = changed_tests(change)
    if not tests:
        return [unknown_signal(_ID, axis, _TITLE, "The change adds and changes no Python test.")]
    if not any(True for _ in change.sources()):
        return [silent(_ID, axis, _TITLE, notes=("The change touches no program file.",))]
    try:
        base = run_suite(bench, taken_back(change), "The changed tests on the base",
                         paths=sorted({test.path for test in tests}))  # fmt: skip
    except CannotRun as reason:
        return [unknown_signal(_ID, axis, _TITLE, str(reason))]
    states = {test: (_state(base, test), _state(head, test)) for test in tests}
    telling = [test for test, (before, after) in states.items() if before == "failed" and after == "passed"]
    notes = [f"{test.name}: {_change_text(*states[test], test in telling)}" for test in tests[:15]]
    evidence = [found for test in tests for found in _faults(change, head, test, states[test], any_tells=bool(telling))]
    return [judged(_ID, axis, _TITLE, evidence, threshold=_RULE, notes=(*base.notes, *notes))]


def existing_tests(change: Change, bench: ToolRunner, head: SuiteRun) -> list[Signal]:
    """Look for tests that the change broke: the base's are run only where one fails on the head."""
    id, axis = "existing_tests", SignalAxis.CORE
    bad = [name for name, outcome in head.outcomes.items() if outcome in _FAILED]
    if not head.outcomes and not head.broken:
        return [unknown_signal(id, axis, _BROKEN, "pytest finds no tests in the project.")]
    if not bad and not head.broken:
        return [silent(id, axis, _BROKEN, notes=(f"{len(head.outcomes)} tests ran on the head.",))]
    try:
        base = bench.remember(
            change.base, "suite", lambda: run_suite(bench, TreeSide(change.base), "The project's tests on the base")
        )
    except CannotRun as reason:
        return [unknown_signal(id, axis, _BROKEN, str(reason))]
    worse = [name for name in sorted(bad) if base.outcomes.get(name) == "passed"]
    flaky = _pass_again(change, bench, worse)
    evidence = [_place(change, name, head.reasons.get(name, "")) for name in worse if name not in flaky]
    files = {name.partition("::")[0] for name, outcome in base.outcomes.items() if outcome == "passed"}
    evidence += [at_path(file, f"Its tests ran on the base and cannot be collected on the head: {why}")
                 for file, why in head.broken.items() if file and file in files]  # fmt: skip
    notes = tuple(f"{name} failed on the head and passed when run again." for name in sorted(flaky))
    return [judged(id, axis, _BROKEN, evidence, notes=notes)]


def _pass_again(change: Change, bench: ToolRunner, names: list[str]) -> set[str]:
    """Tests of the head that pass when they are run once more; where there are many, none is taken to."""
    known = [name for name in names if change.head.has(name.partition("::")[0])]
    if not known or len(known) > _MOST_AGAIN:
        return set()
    try:
        again = run_suite(bench, TreeSide(change.head), "Failed tests on the head", paths=known)
    except CannotRun:
        return set()
    return {name for name in known if again.outcomes.get(name) == "passed"}


def _state(ran: SuiteRun, test: TestFunction) -> str:
    """`failed` if one of its cases does, else `passed`; `inconclusive` where it could not be asked."""
    outcomes = [outcome for name, outcome in ran.outcomes.items() if test.holds(name)]
    if "failed" in outcomes:
        return "failed"
    if not outcomes or "error" in outcomes:
        return "inconclusive"
    return "passed" if "passed" in outcomes or "xpassed" in outcomes else "skipped"


def _faults(
    change: Change, head: SuiteRun, test: TestFunction, states: tuple[str, str], *, any_tells: bool
) -> list[SignalEvidence]:
    before, after = states
    touches = any(test.holds(name) for name in head.touching)
    sentence = ""
    if after in ("failed", "inconclusive"):
        sentence = f"{test.name} does not pass on the head ({after})."
    elif before == "passed" and not touches and head.touching:
        sentence = f"{test.name} passes on the base, and runs none of the changed code."
    elif before == "inconclusive" and not touches and head.touching:
        sentence = f"{test.name} could not be run on the base, and runs none of the changed code."
    elif before == "passed" and not any_tells:
        sentence = f"{test.name} passes on the base, and no other new test fails there."
    return [at_line(test.path, test.line, change.head.line(test.path, test.line), sentence)] if sentence else []


def _change_text(before: str, after: str, tells: bool) -> str:
    return "fails on the base, passes on the head." if tells else f"{before} on the base, {after} on the head."


def _place(change: Change, name: str, why: str) -> SignalEvidence:
    """The definition of a test by its node id."""
    path, _, rest = name.partition("[")[0].partition("::")
    own = rest.rpartition("::")[2]
    text = change.head.text(path) or ""
    for number, line in enumerate(text.split("\n"), 1):
        if own and line.lstrip().removeprefix("async ").startswith(f"def {own}("):
            return at_line(path, number, line, f"{name} passed on the base; now: {why}")
    return at_path(path or "?", f"{name} passed on the base; now: {why}")
