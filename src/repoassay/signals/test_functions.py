"""Test functions of a Python file: where they are, what they assert, and whether they can fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from repoassay.signals.change import Change
from repoassay.signals.diffs import FileChange
from repoassay.signals.names import dotted
from repoassay.survey import is_test

__all__ = ["TestFunction", "assertions", "changed_tests", "test_functions"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_CHECKS = re.compile(
    r"(^|\.)(assert\w*|_?check\w*|_?verify\w*|_?expect\w*|ensure\w*|_?compare\w*|fail|raises|warns|deprecated_call|approx"
    r"|mock_calls|should\w*|match\w*|given|run_test\w*|_?test_\w+)$"
)


@dataclass(frozen=True, slots=True)
class TestFunction:
    """A test: `name` is `FUNCTION` or `CLASS::METHOD`; lines from the first decorator to the end."""

    __test__ = False  # not one of pytest's own

    path: str
    name: str
    line: int
    first: int
    last: int
    node: ast.FunctionDef | ast.AsyncFunctionDef

    def holds(self, node_id: str) -> bool:
        """Whether a node id of pytest's, parameters and all, is of this test."""
        return node_id.partition("[")[0] == f"{self.path}::{self.name}"


def test_functions(tree: ast.Module, path: str) -> Iterator[TestFunction]:
    """Tests as pytest finds them by default: functions `test*`, and such methods of classes."""
    for node in tree.body:
        if isinstance(node, _Function) and node.name.startswith("test"):
            yield _test(node, path, "")
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, _Function) and inner.name.startswith("test"):
                    yield _test(inner, path, f"{node.name}::")


test_functions.__test__ = False  # type: ignore[attr-defined]  # keeps pytest from taking it for a test


def changed_tests(change: Change) -> list[TestFunction]:
    """Tests of the head with an added line in them."""
    return [
        test
        for each in _python_tests(change)
        if (tree := change.head.python(each.path))
        for test in test_functions(tree, each.path)
        if any(test.first <= line <= test.last and text.strip() for line, text in each.added.items())
    ]


def assertions(test: TestFunction) -> list[ast.expr | ast.stmt]:
    """Statements and calls of a test that can make it fail by intention; calls by their names."""
    return [
        node
        for node in ast.walk(test.node)
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _CHECKS.search(dotted(node.func)))
    ]


def _python_tests(change: Change) -> Iterator[FileChange]:
    return (each for each in change.tests() if each.path.endswith(".py") and is_test(each.path))


def _test(node: ast.FunctionDef | ast.AsyncFunctionDef, path: str, before: str) -> TestFunction:
    first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
    return TestFunction(path, before + node.name, node.lineno, first, node.end_lineno or node.lineno, node)
