"""Which test files are so simple that they need no pytest session: read from their source, by nobody's word.

A file is simple when all its tests are functions whose arguments `parametrize` gives, or methods of `unittest.TestCase`
itself, and nothing in it could ask for more of pytest: no fixtures, other marks, hooks or classes of its own kind.
"""

from __future__ import annotations

import ast
import re

from repoassay.grading.hidden_tests.parsing import parse

__all__ = ["is_simple"]

_WORDS = re.compile(
    r"fixture|capsys|capfd|monkeypatch|tmp_path|tmpdir|caplog|recwarn|pytestconfig|pytest_\w|pytestmark|__test__"
    r"|usefixtures|importorskip|skip|xfail|\bparam\(|subTest|setUpModule|tearDownModule|setup_\w|teardown_\w|load_tests"
    r"|Isolated|sys\.modules|__file__|sys\.argv|\basync\b|\byield\b|request|logging|_pytest|inspect"
)


def is_simple(source: str) -> bool:
    """Whether a test file's tests can be run one by one; false for what cannot be parsed."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    foreign = "TestCase" in {name for node in tree.body for name in _bound(node)}
    return not (foreign or _WORDS.search(source)) and all(_simple(node) for node in tree.body)


def _bound(node: ast.stmt) -> list[str]:
    """Names a statement imports from elsewhere than the standard library's test framework."""
    if isinstance(node, ast.ImportFrom) and node.module == "unittest" and not node.level:
        return [each.asname for each in node.names if each.asname]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [each.asname or each.name for each in node.names]
    return []


def _simple(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(name=name):
            return not name.startswith("test") or _simple_function(node)
        case ast.ClassDef(name=name, bases=bases):
            case = [ast.unparse(base) for base in bases] in (["unittest.TestCase"], ["TestCase"])
            return case and not node.decorator_list and not node.keywords if bases else not name.startswith("Test")
        case ast.If():
            return _is_main(node)
        case ast.Import() | ast.ImportFrom() | ast.Assign() | ast.AnnAssign() | ast.Expr():
            return True
    return False


def _is_main(node: ast.If) -> bool:
    return ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _simple_function(node: ast.FunctionDef) -> bool:
    given: list[str] = []
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(args=[ast.Constant(value=str(names)), _], keywords=[]) if (
                ast.unparse(decorator.func) == "pytest.mark.parametrize"
            ):
                given += [name.strip() for name in names.split(",") if name.strip()]
            case _:
                return False
    arguments = node.args
    plain = not (arguments.vararg or arguments.kwarg or arguments.defaults or arguments.kwonlyargs)
    return plain and sorted(each.arg for each in (*arguments.posonlyargs, *arguments.args)) == sorted(given)
