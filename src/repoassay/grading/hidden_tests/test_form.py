"""Which test files are so simple that they need no pytest session: read from their source, by nobody's word.

A file is simple when all its tests are functions whose arguments are given by `parametrize` or are fixtures that
`plain_fixtures.py` makes, or methods of `unittest.TestCase` itself, and nothing in it could ask for more of pytest: no
other fixtures or marks, hooks or classes of its own kind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Set

from repoassay.grading.hidden_tests.parsing import parse

__all__ = ["is_simple"]

_MADE = frozenset(("capsys", "monkeypatch", "tmp_path"))
_WORDS = re.compile(
    r"fixture\(|fixtures|capsysb|disabled|capfd|tmp_path_\w|tmpdir|caplog|recwarn|pytestconfig|pytest_\w|pytestmark"
    r"|__test__|importorskip|skip|xfail|\bparam\(|subTest|setUpModule|tearDownModule|setup_\w|teardown_\w|load_tests"
    r"|Isolated|sys\.modules|__file__|sys\.argv|\basync\b|\byield\b|request|logging|_pytest|inspect"
)


def is_simple(source: str) -> bool:
    """Whether a test file's tests can be run one by one; false for what cannot be parsed."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    foreign = {"TestCase", "*", *_MADE} & {name for node in tree.body for name in _bound(node)}
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_fixture(node)}
    if foreign or _WORDS.search(source) or own.keys() & _MADE:
        return False
    known = _MADE | own.keys()
    return all(_plain(node) and _names(node) <= known for node in own.values()) and all(
        _simple(node, known) for node in tree.body if node not in own.values()
    )


def _bound(node: ast.stmt) -> list[str]:
    """Names a statement imports from elsewhere than the standard library's test framework."""
    if isinstance(node, ast.ImportFrom) and node.module == "unittest" and not node.level:
        return [each.asname for each in node.names if each.asname]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [each.asname or each.name for each in node.names]
    return []


def _simple(node: ast.stmt, known: Set[str]) -> bool:
    match node:
        case ast.FunctionDef(name=name):
            return name not in known and (not name.startswith("test") or _simple_function(node, known))
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


def _is_fixture(node: ast.FunctionDef) -> bool:
    return [ast.unparse(each) for each in node.decorator_list] == ["pytest.fixture"]


def _plain(node: ast.FunctionDef) -> bool:
    arguments = node.args
    return not (arguments.vararg or arguments.kwarg or arguments.defaults or arguments.kwonlyargs)


def _names(node: ast.FunctionDef) -> set[str]:
    return {each.arg for each in (*node.args.posonlyargs, *node.args.args)}


def _simple_function(node: ast.FunctionDef, known: Set[str]) -> bool:
    names_of_rows: list[str] = []
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(args=[ast.Constant(value=str(names)), _], keywords=[]) if (
                ast.unparse(decorator.func) == "pytest.mark.parametrize"
            ):
                names_of_rows += [name.strip() for name in names.split(",") if name.strip()]
            case _:
                return False
    rows = set(names_of_rows)
    return _plain(node) and not node.args.posonlyargs and rows <= _names(node) <= known | rows and not rows & known
