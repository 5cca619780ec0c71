"""The assertion forms of pytest and unittest, each as a check over operands."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from repoassay.grading.oracle.names import ClosedNames
from repoassay.grading.oracle.split import SplitCall

__all__ = ["COMPARISONS", "Raises", "method", "raises", "unittest_check"]

COMPARISONS: dict[str, type[ast.cmpop]] = {
    "assertEqual": ast.Eq, "assertEquals": ast.Eq, "assertNotEqual": ast.NotEq, "assertIs": ast.Is,
    "assertIsNot": ast.IsNot, "assertIn": ast.In, "assertNotIn": ast.NotIn, "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE, "assertLess": ast.Lt, "assertLessEqual": ast.LtE, "assertListEqual": ast.Eq,
    "assertTupleEqual": ast.Eq, "assertDictEqual": ast.Eq, "assertSetEqual": ast.Eq, "assertSequenceEqual": ast.Eq,
    "assertMultiLineEqual": ast.Eq,
}  # fmt: skip
"""Methods that compare their first two arguments."""
_CALLS = frozenset({
    "assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone", "assertAlmostEqual", "assertNotAlmostEqual",
    "assertCountEqual", "assertRegex", "assertNotRegex",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Raises:
    """An expected exception, as a context or as a call.

    Attributes:
        call: The call of `pytest.raises` or `assertRaises`.
        owner: The test case in unittest's form, empty in pytest's.
        kind: The expression of the expected type.
        names: Its names where it is builtin, and so leaves.
        pattern: What its text must match, None for anything.
        called: What is called with it in the form without `with`.
    """

    call: ast.Call
    owner: str
    kind: ast.expr
    names: tuple[str, ...]
    pattern: ast.expr | None
    called: tuple[ast.expr, ...]


def method(node: ast.stmt) -> ast.Call | None:
    """The call of an assertion method when a statement is nothing else."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr, value=ast.Name())) as call):
            return call if attr in COMPARISONS or attr in _CALLS else None
    return None


def unittest_check(split: SplitCall, call: ast.Call) -> ast.expr | None:
    """What an assertion method asks, as a check; None where it is not understood."""
    assert isinstance(call.func, ast.Attribute)
    name, args = call.func.attr, call.args
    options = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg != "msg"}
    if any(isinstance(each, ast.Starred) for each in args):
        return None
    if "Almost" in name:
        return _almost(split, name, args, options)
    if options:
        return None
    if name in COMPARISONS and len(args) in (2, 3):
        node = ast.Compare(args[0], [COMPARISONS[name]()], [args[1]])
        return split.truth(node) if split.comparable(node) else None
    match name, args:
        case "assertTrue", [value, *_]:
            return split.truth(value)
        case "assertFalse", [value, *_]:
            return ast.UnaryOp(ast.Not(), split.truth(value))
        case "assertIsNone", [value, *_]:
            return ast.Compare(split.value(value), [ast.Is()], [ast.Constant(None)])
        case "assertIsNotNone", [value, *_]:
            return ast.Compare(split.value(value), [ast.IsNot()], [ast.Constant(None)])
        case "assertCountEqual", [first, second, *_] if split.names.closed(first) or split.names.closed(second):
            return ast.Call(ast.Name("count_equal"), [split.value(first), split.value(second)], [])
        case (("assertRegex" | "assertNotRegex"), [text, pattern, *_]) if split.names.closed(pattern):
            check: ast.expr = ast.Call(ast.Name("searched"), [split.convert(pattern), split.value(text)], [])
            return check if name == "assertRegex" else ast.UnaryOp(ast.Not(), check)
    return None


def _almost(split: SplitCall, name: str, args: list[ast.expr], options: dict[str | None, ast.expr]) -> ast.expr | None:
    keywords = dict(options)
    for place, option in ((2, "places"), (4, "delta")):
        if len(args) > place:
            keywords[option] = args[place]
    if len(args) < 2 or not set(keywords) <= {"places", "delta"}:
        return None
    if not all(map(split.names.closed, keywords.values())) or not any(map(split.names.closed, args[:2])):
        return None
    options_ = [keywords.get(option) for option in ("places", "delta")]
    nodes = [ast.Constant(None) if each is None else split.convert(each) for each in options_]
    check: ast.expr = ast.Call(ast.Name("almost"), [split.value(args[0]), split.value(args[1]), *nodes], [])
    return check if name == "assertAlmostEqual" else ast.UnaryOp(ast.Not(), check)


def raises(call: ast.expr, names: ClosedNames) -> Raises | None:
    """An expectation of an exception, in any of its forms; None where it is something else or not understood."""
    if not isinstance(call, ast.Call) or not call.args or any(isinstance(each, ast.Starred) for each in call.args[:1]):
        return None
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    match call.func:
        case ast.Attribute(attr="raises", value=ast.Name(id=module)) if _is(names, call, module, ("pytest", "")):
            owner = ""
        case ast.Name(id=name) if _is(names, call, name, ("pytest", "raises")):
            owner = ""
        case ast.Attribute(attr="assertRaises" | "assertRaisesRegex" as form, value=ast.Name(id=owner)):
            rest = list(call.args[1:])
            pattern = rest.pop(0) if form == "assertRaisesRegex" and rest else None
            if (options and not rest) or (pattern is not None and not names.closed(pattern)):
                return None
            return Raises(call, owner, call.args[0], _names(call.args[0], names), pattern, tuple(rest))
        case _:
            return None
    pattern = options.pop("match", None)
    called = tuple(call.args[1:])
    if (options and not called) or (pattern is not None and (called or not names.closed(pattern))):
        return None
    return Raises(call, owner, call.args[0], _names(call.args[0], names), pattern, called)


def _names(kind: ast.expr, names: ClosedNames) -> tuple[str, ...]:
    """Names of builtin exceptions; nothing where one is not."""
    each = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    found = []
    for one in each:
        if not isinstance(one, ast.Name) or names.scope_of.get(one, names.module).find(one.id) is not None:
            return ()
        real = getattr(builtins, one.id, None)
        if not (isinstance(real, type) and issubclass(real, BaseException)):
            return ()
        found.append(f"builtins.{real.__name__}")
    return tuple(found)


def _is(names: ClosedNames, call: ast.Call, name: str, origin: tuple[str, str]) -> bool:
    func = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    return names.imported(names.scope_of.get(func, names.module), name) == origin
