"""Tests that are missing, cannot fail, are not run, or ask for less than they did."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.names import dotted
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, at_path, judged, silent
from repoassay.signals.test_functions import TestFunction, assertions, changed_tests, test_functions
from repoassay.signals.worktrees import JAVASCRIPT
from repoassay.survey import is_test, is_test_support

__all__ = ["tests_added", "vacuous_tests", "weakened_tests"]

_ADDED, _VACUOUS = "No test was added or changed", "Tests that cannot fail or are not run"
_WEAKENED = "Tests that were removed or assert less"
_SKIPS = re.compile(r"(^|\.)(skip|skipIf|skipif|skipUnless|xfail|expectedFailure)$")
_SCRIPT = re.compile(
    r"(?<![\w.])(?:x(?:it|test|describe)\(|(?:it|test|describe)\.(?:skip|todo)\(|expect\((true|false|1)\)\.to(?:Be|Equal)\(\1\)"
    r"|assert(?:\.ok)?\(true\)|assert\.(?:strictE|e)qual\((\w+), ?\2\))"
)


def tests_added(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look whether program files changed and no test did."""
    id, axis = "tests_added", SignalAxis.TESTING
    sources = list(change.sources())
    if not sources:
        return [silent(id, axis, _ADDED, notes=("The change touches no program file.",))]
    tests = changed_tests(change)
    others = (each for each in change.tests() if each.added and not each.path.endswith(".py"))
    if tests or any(is_test(each.path) or PurePosixPath(each.path).suffix in JAVASCRIPT for each in others):
        count = sum(len(assertions(test)) for test in tests)
        return [silent(id, axis, _ADDED, notes=(f"{len(tests)} Python tests added or changed, {count} assertions.",))]
    if change.does_not_touch(is_test_support):
        return [silent(id, axis, _ADDED, notes=("The reference changes no test either.",))]
    evidence = []
    for each in sources[:10]:
        line = each.first
        sentence = "Changed without a test."
        evidence.append(at_line(each.path, line, each.added[line], sentence) if line else at_path(each.path, sentence))
    return [judged(id, axis, _ADDED, evidence)]


def vacuous_tests(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look at added and changed tests: empty, without assertion, with assertions that always hold, skipped."""
    evidence: list[SignalEvidence] = []
    for test in changed_tests(change):
        evidence += [
            at_line(test.path, line, change.head.line(test.path, line), sentence) for line, sentence in _faults(test)
        ]
    for each in change.tests():
        if PurePosixPath(each.path).suffix in JAVASCRIPT:
            for line, text in sorted(each.added.items()):
                if found := _SCRIPT.search(text[:2000]):
                    evidence.append(at_line(each.path, line, text, f"{found[0]} cannot fail or is not run."))
    return [judged("vacuous_tests", SignalAxis.TESTING, _VACUOUS, evidence)]


def weakened_tests(change: Change, bench: ToolRunner) -> list[Signal]:
    """Compare tests of the base with the head's, by name within a file: gone, or with fewer assertions."""
    evidence: list[SignalEvidence] = []
    kept = {test.name for each in change.tests() if (tree := change.head.python(each.path))
            for test in test_functions(tree, each.path)}  # fmt: skip
    for each in change.diff.files:
        if each.old is None or not is_test(each.old) or not each.old.endswith(".py"):
            continue
        before = change.base_tree(each)
        after = change.head.python(each.new) if each.new else None
        now = {test.name: test for test in test_functions(after, each.path)} if after else {}
        for test in test_functions(before, each.old) if before else ():
            if _altered_too(change, test):
                continue
            if test.name not in kept:
                quoted = change.base.line(each.old, test.line)
                evidence.append(at_line(each.old, test.line, quoted, f"{test.name} was removed.", "old"))
            elif test.name in now and (fewer := len(assertions(test)) - len(assertions(now[test.name]))) > 0:
                line = now[test.name].line
                sentence = f"{test.name} has {fewer} assertions fewer than before."
                evidence.append(at_line(each.path, line, change.head.line(each.path, line), sentence))
    return [judged("weakened_tests", SignalAxis.TESTING, _WEAKENED, evidence,
                   threshold="any, but for tests where the reference removes lines too")]  # fmt: skip


def _altered_too(change: Change, test: TestFunction) -> bool:
    """Whether the reference removes lines of a test of the base."""
    theirs = change.reference.by_old().get(test.path) if change.reference else None
    return theirs is not None and any(test.first <= line <= test.last for line in theirs.removed)


def _faults(test: TestFunction) -> Iterator[tuple[int, str]]:
    skipped = [mark for mark in test.node.decorator_list if _SKIPS.search(dotted(mark))]
    if skipped:
        yield skipped[0].lineno, f"{test.name} is marked {dotted(skipped[0])}."
    body = [
        node for node in test.node.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if all(isinstance(node, ast.Pass) for node in body):
        yield test.line, f"{test.name} is empty."
        return
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Call) and _SKIPS.search(dotted(first.value)):
        yield first.lineno, f"{test.name} skips itself."
    if isinstance(first, ast.Return):
        yield first.lineno, f"{test.name} returns at once."
    found = assertions(test)
    always = [node for node in found if _always(node)]
    if not found:
        yield test.line, f"{test.name} asserts nothing."
    elif len(always) == len(found):
        yield always[0].lineno, f"{test.name} asserts only what always holds."


def _always(node: ast.expr | ast.stmt) -> bool:
    """Whether an assertion holds whatever the program does."""
    if isinstance(node, ast.Assert):
        return _true(node.test)
    assert isinstance(node, ast.Call)
    name = dotted(node.func).rpartition(".")[2]
    if name == "assertTrue" and node.args:
        return _true(node.args[0])
    if name in ("assertFalse", "assertIsNone") and node.args:
        return isinstance(node.args[0], ast.Constant) and not node.args[0].value
    if name in ("assertEqual", "assertIs") and len(node.args) > 1:
        return _same(node.args[0], node.args[1])
    return False


def _true(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts)
    if isinstance(node, ast.BoolOp):
        return (any if isinstance(node.op, ast.Or) else all)(_true(value) for value in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return isinstance(node.operand, ast.Constant) and not node.operand.value
    if (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE)
    ):
        return _same(node.left, node.comparators[0])
    return False


def _same(one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions are the same, and nothing is called in them."""
    calls = any(isinstance(node, ast.Call | ast.Await) for node in ast.walk(one))
    return not calls and ast.dump(one) == ast.dump(other)
