"""What a check asks of the value that is sent: to be one value, to be near one, to hold one, or hardly anything."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from repoassay.grading.hidden_tests.parsing import parse_anew
from repoassay.grading.oracle.sites import AssertionSite, SiteMode

__all__ = ["Demand", "demand_of"]

_Kind = Literal["hit", "near", "one", "holds", "starts", "ends", "nothing"]


@dataclass(frozen=True, slots=True)
class Demand:
    """What an assertion asks.

    Attributes:
        kind: `hit` when every operand must be what the reference yields; `near` within `slack` of it; `one` of
            `values`; to hold, start or end with one of `values`; `nothing` when very many values would do.
        values: Literals that the kind is about.
        slack: Relative and absolute tolerance.
    """

    kind: _Kind
    values: tuple[Any, ...] = ()
    slack: tuple[float, float] = (0.0, 0.0)


_HIT, _NOTHING = Demand("hit"), Demand("nothing")


def demand_of(site: AssertionSite, nodes: Sequence[Any], definitions: str) -> Demand:
    """What a site asks of its operands, which are what the reference yields.

    Of operands that depend on each other each must be the reference's, or the pass is not attested.
    """
    if site.mode is not SiteMode.WITHHELD:
        return _HIT
    try:
        check = _parsed(site.check)
    except (SyntaxError, ValueError, RecursionError):
        return _NOTHING
    free = len(nodes) - len(site.pinned)
    return _demand_of(check, _Scope(nodes, _constants(definitions)), many=free > 1)


class _Scope:
    """What names in a check stand for, as far as it is literal."""

    def __init__(self, nodes: Sequence[Any], constants: Mapping[str, ast.expr]) -> None:
        self._nodes, self._constants = nodes, constants

    def literal(self, node: ast.expr | None, depth: int = 0) -> Any:
        """The value of a closed expression.

        Raises:
            ValueError: When it is not a literal.
        """
        if isinstance(node, ast.Name) and node.id in self._constants and depth < 8:
            return self.literal(self._constants[node.id], depth + 1)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name):
            table, row = self._constants.get(node.value.id), self._nodes[int(node.slice.id[1:])]
            if isinstance(table, ast.List) and type(row) is int and row < len(table.elts):
                return self.literal(table.elts[row], depth + 1)
        try:
            return ast.literal_eval(node or "")
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise ValueError("not a literal") from None


def _demand_of(check: ast.expr, scope: _Scope, *, many: bool) -> Demand:
    match check:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name()):
            return _HIT
        case ast.UnaryOp(op=ast.Not(), operand=ast.UnaryOp(op=ast.Not(), operand=ast.Name())):
            return _HIT
        case ast.BoolOp(op=ast.And(), values=values) if many:
            kinds = [_demand_of(value, scope, many=False).kind for value in values]
            return _HIT if "hit" in kinds else _NOTHING
        case ast.Compare(ops=ops) if any(isinstance(op, ast.Eq | ast.Is) for op in ops):
            return _equal(check, scope)
        case ast.Compare(left=left, ops=[ast.In()], comparators=[right]):
            return _contained(left, right, scope)
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith" as name), args=[part]):
            assert isinstance(check.func, ast.Attribute)
            kind: _Kind = "starts" if name == "startswith" else "ends"
            return _values(kind, part, scope) if _sent(check.func.value) else _NOTHING
        case ast.Call(func=ast.Name(id="count_equal")):
            return _HIT
        case ast.Call(func=ast.Name(id="almost"), args=[_, _, places, delta]):
            return _almost(places, delta, scope)
    return _NOTHING


def _equal(check: ast.Compare, scope: _Scope) -> Demand:
    sides = [check.left, *check.comparators]
    for call in (side for side in sides if isinstance(side, ast.Call)):
        if getattr(call.func, "id", "") == "approx" or getattr(call.func, "attr", "") == "approx":
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            keywords |= dict(zip(("rel", "abs"), call.args[1:], strict=False))
            return _approx(keywords, scope)
    return _HIT


def _approx(keywords: Mapping[str | None, ast.expr], scope: _Scope) -> Demand:
    try:
        tolerances = {name: float(scope.literal(node)) for name, node in keywords.items() if name in ("rel", "abs")}
    except (ValueError, TypeError):
        return _NOTHING
    relative = tolerances.get("rel", 0.0 if "abs" in tolerances else 1e-6)
    return Demand("near", slack=(relative, tolerances.get("abs", 1e-12)))


def _almost(places: ast.expr, delta: ast.expr, scope: _Scope) -> Demand:
    try:
        digits, within = scope.literal(places), scope.literal(delta)
        absolute = float(within) if within is not None else 0.5 * 10.0 ** -int(7 if digits is None else digits)
    except (ValueError, TypeError, OverflowError):
        return _NOTHING
    return Demand("near", slack=(0.0, absolute))


def _contained(left: ast.expr, right: ast.expr, scope: _Scope) -> Demand:
    if _sent(right):
        return _values("holds", left, scope)
    if _sent(left):
        found = _values("one", right, scope)
        values = found.values[0] if found.values else ()
        if isinstance(values, list | tuple | set | frozenset | dict) and values:
            return Demand("one", tuple(values))
    return _NOTHING


def _values(kind: _Kind, node: ast.expr, scope: _Scope) -> Demand:
    try:
        value = scope.literal(node)
    except ValueError:
        return _NOTHING
    if kind in ("starts", "ends") and isinstance(value, tuple):
        return Demand(kind, value)
    return Demand(kind, (value,))


def _sent(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith("_") and node.id[1:].isdecimal()


@functools.lru_cache(maxsize=4096)
def _parsed(check: str) -> ast.expr:
    tree: ast.Expression = parse_anew(check, "eval")
    return tree.body


@functools.lru_cache(maxsize=64)
def _constants(definitions: str) -> dict[str, ast.expr]:
    """Constants and columns that left the file."""
    found: dict[str, ast.expr] = {}
    for node in parse_anew(definitions).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found
