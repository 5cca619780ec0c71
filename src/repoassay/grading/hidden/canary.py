"""Changed copies of hidden tests that an honest solution must fail.

Two kinds of change to one assertion at the top level of a test function (or of a script): *altered* (a constant it
compares with is another) and *inverted* (`assert a == b` becomes `assert a != b`, `self.assertEqual` becomes
`self.assertNotEqual`). Code that makes tests pass by touching the test machinery makes these pass too; an object equal
to all passes the altered one. Neither leaves a mark by which code that reads the test could tell it from a real one,
save that few tests hold that things are unequal: hence grading inverts only where nothing can be altered.
"""

from __future__ import annotations

import ast
import random
import string
from dataclasses import dataclass

from repoassay.grading.hidden.parsing import parse

__all__ = ["Site", "mutate", "other", "sites"]

_PAIRS = (
    ("assertEqual", "assertNotEqual"), ("assertTrue", "assertFalse"), ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"), ("assertIsNone", "assertIsNotNone"), ("assertIsInstance", "assertNotIsInstance"),
    ("assertGreater", "assertLessEqual"), ("assertGreaterEqual", "assertLess"), ("assertRegex", "assertNotRegex"),
    ("assertAlmostEqual", "assertNotAlmostEqual"), ("assertListEqual", "assertNotEqual"),
    ("assertDictEqual", "assertNotEqual"), ("assertTupleEqual", "assertNotEqual"), ("assertSetEqual", "assertNotEqual"),
    ("assertMultiLineEqual", "assertNotEqual"), ("assertSequenceEqual", "assertNotEqual"),
)  # fmt: skip
_OPPOSITE = {**{second: first for first, second in reversed(_PAIRS)}, **dict(_PAIRS)}
"""What each assertion method of unittest becomes; where several would do, the plainest."""
_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
_LETTERS, _DIGITS = string.ascii_lowercase, string.digits
_EQUALITIES = frozenset(name for name, _ in _PAIRS if name.endswith("Equal") and name not in ("assertGreaterEqual",))


@dataclass(frozen=True, slots=True)
class Site:
    """One assertion that can be changed: its place among the test function's top-level statements, and how."""

    test: str
    line: int
    kind: str


def sites(source: str, test: str) -> list[Site]:
    """Every way to change the test `NAME` or `CLASS::NAME` (parameters left out) of a test file."""
    found = []
    for statement in _body(parse(source), test):
        if isinstance(statement, ast.Assert):
            found.append(Site(test, statement.lineno, "inverted"))
            if _constants(statement.test):
                found.append(Site(test, statement.lineno, "altered"))
        elif (call := _method(statement)) is not None:
            found.append(Site(test, statement.lineno, "inverted"))
            if _compared(call):
                found.append(Site(test, statement.lineno, "altered"))
    return found


def mutate(source: str, site: Site, chance: random.Random) -> str:
    """The source with one assertion changed; all else stays to the letter, line for line."""
    tree = parse(source)
    statement = next(
        each for each in _body(tree, site.test)
        if each.lineno == site.line and (isinstance(each, ast.Assert) or _method(each) is not None)
    )  # fmt: skip
    if isinstance(statement, ast.Assert):
        if site.kind == "inverted":
            return _replace(source, statement.test, ast.unparse(_inverse(statement.test)))
        constants = _constants(statement.test)
    else:
        call = _method(statement)
        assert call is not None
        if site.kind == "inverted":
            assert isinstance(call.func, ast.Attribute)
            return _replace(source, call.func, f"{ast.unparse(call.func.value)}.{_OPPOSITE[call.func.attr]}")
        constants = _compared(call)
    constant = chance.choice(constants)
    return _replace(source, constant, repr(other(constant.value, chance)))


def _inverse(test: ast.expr) -> ast.expr:
    """The opposite of a condition as a person would write it, where there is such a way."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPERATORS:
        return ast.Compare(test.left, [_OPERATORS[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _body(tree: ast.Module, test: str) -> list[ast.stmt]:
    """Statements at the top of a test function, or of the module for a script."""
    if test == "__script__":
        return tree.body
    function = _find(tree, test.partition("[")[0].split("::"))
    return function.body if function else []


def _method(statement: ast.stmt) -> ast.Call | None:
    """The call of an assertion method that has an opposite, when a statement is nothing else."""
    if not (isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call)):
        return None
    known = isinstance(call.func, ast.Attribute) and call.func.attr in _OPPOSITE
    return call if known and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) else None


def _compared(call: ast.Call) -> list[ast.Constant]:
    """Constants that an equality method compares with, whose change must make it fail."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in _EQUALITIES) or len(call.args) < 2:
        return []
    if "Almost" in call.func.attr and (len(call.args) > 3 or any(given.arg != "msg" for given in call.keywords)):
        return []  # within a tolerance another value may be as good
    return _constants(ast.Compare(call.args[0], [ast.Eq()], [call.args[1]]))


def _find(tree: ast.Module, path: list[str]) -> ast.FunctionDef | None:
    body: list[ast.stmt] = tree.body
    for name in path[:-1]:
        inner = [node for node in body if isinstance(node, ast.ClassDef) and node.name == name]
        if not inner:
            return None
        body = inner[-1].body
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == path[-1]]
    return found[-1] if found else None


def _constants(test: ast.expr) -> list[ast.Constant]:
    """Constants on one side of a single `==`, whose change must make it false."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return []
    for side in (test.comparators[0], test.left):
        found = [side] if isinstance(side, ast.Constant) else _elements(side)
        usable = [item for item in found if isinstance(item.value, str | int | float | bytes)]
        if usable:
            return usable
    return []


def _elements(side: ast.expr) -> list[ast.Constant]:
    if isinstance(side, ast.List | ast.Tuple):
        items = side.elts
    elif isinstance(side, ast.Dict):
        items = side.values
    else:
        return []
    return [each for item in items for each in ([item] if isinstance(item, ast.Constant) else _elements(item))]


def other(value: object, chance: random.Random) -> object:
    """Another value of the same kind, near enough to look meant and too far to be taken for equal."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((1, 2, 3) if 0 <= value < 4 else (-3, -2, -1, 1, 2, 3))
    if isinstance(value, float):
        return value + chance.choice((1, 2, 3)) * max(1.0, abs(value)) if abs(value) < 1e300 else 1.5
    if isinstance(value, bytes):
        return str(other(value.decode("latin-1"), chance)).encode("latin-1")
    assert isinstance(value, str)
    places = [at for at, letter in enumerate(value) if letter in _LETTERS or letter in _DIGITS]
    if not places:
        return value + chance.choice(_LETTERS)
    at = chance.choice(places)
    return (
        value[:at]
        + chance.choice((_LETTERS if value[at] in _LETTERS else _DIGITS).replace(value[at], ""))
        + value[at + 1 :]
    )


def _replace(source: str, node: ast.expr, text: str) -> str:
    """Put `text` where `node` stands, keeping every line where it was."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    content = source.encode()
    padding = b"\n" * content[start:end].count(b"\n")
    if padding:  # keep the lines that follow where they were: inside brackets a line break changes nothing
        return (content[:start] + b"(" + text.encode() + padding + b")" + content[end:]).decode()
    return (content[:start] + text.encode() + content[end:]).decode()
