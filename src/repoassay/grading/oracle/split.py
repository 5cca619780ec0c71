"""Splits an assertion into what must be evaluated inside and what can be withheld.

The result is an expression over `_0`, `_1`, ..., the values that stay inside, in which everything closed has left the
test file.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from repoassay.grading.oracle.names import MODULES, ClosedNames, Scope

__all__ = ["Definitions", "SplitCall"]

_ASKS = frozenset({
    "startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isidentifier",
    "issubset", "issuperset", "isdisjoint",
})  # fmt: skip
"""Methods of plain values that answer yes or no; with them the value itself is sent."""


@dataclass(slots=True)
class Definitions:
    """What the judge must know beside a check: imports, module constants and columns of tables.

    Args:
        names: The names of the test file.
    """

    names: ClosedNames
    imports: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    tables: dict[tuple[Scope, str], str] = field(default_factory=dict)

    def source(self) -> str:
        """As statements, imports first, each constant after those it needs."""
        lines = [*self.imports.values(), *(f"{name} = {value}" for name, value in self.constants.items())]
        return "".join(f"{line}\n" for line in lines)

    def take_import(self, name: str, origin: tuple[str, str]) -> None:
        """Have the judge import what a name stands for."""
        module, what = origin
        if what:
            self.imports[name] = f"from {module} import {what} as {name}"
        elif module in MODULES:
            self.imports[name] = f"import {module} as {name}"
        else:  # `import os`, of which only os.path is used
            self.imports.update({known: f"import {known}" for known in MODULES if known.startswith(f"{module}.")})


class SplitCall:
    """One assertion on its way apart.

    Args:
        names: The names of the test file.
        definitions: Collects what the judge needs.

    Attributes:
        operands: What stays inside, in order.
        pinned: Which of them tell a row of a table.
        consumed: Uses of names that are needed outside only.
        respelled: Whether an operand lies in an f-string, where trees do not tell places in every version of Python.
    """

    def __init__(self, names: ClosedNames, definitions: Definitions) -> None:
        self.names, self.definitions = names, definitions
        self.operands: list[ast.expr] = []
        self.pinned: list[int] = []
        self.consumed: list[ast.Name] = []
        self.respelled = False

    def operand(self, node: ast.expr) -> ast.expr:
        """Keep an expression inside."""
        self.operands.append(node)
        return ast.Name(f"_{len(self.operands) - 1}")

    def truth(self, node: ast.expr) -> ast.expr:
        """A condition; what is not understood is asked inside for yes or no."""
        match node:
            case ast.BoolOp(op=ast.And()):
                return ast.BoolOp(ast.And(), [self.truth(value) for value in node.values])
            case ast.UnaryOp(op=ast.Not()):
                return ast.UnaryOp(ast.Not(), self.truth(node.operand))
            case ast.Compare() if self.comparable(node):
                return ast.Compare(self.value(node.left), node.ops, [self.value(each) for each in node.comparators])
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in _ASKS and self._all_closed(node):
                assert isinstance(node.func, ast.Attribute)
                receiver = self.value(node.func.value)
                return ast.Call(ast.Attribute(receiver, attr), [self.value(each) for each in node.args], [])
            case ast.Call(func=ast.Attribute(attr="search" | "match" | "fullmatch")) if self._searches(node):
                return ast.Call(self.convert(node.func), [self.value(each) for each in node.args], [])
        return ast.UnaryOp(ast.Not(), self.operand(ast.UnaryOp(ast.Not(), node)))

    def value(self, node: ast.expr) -> ast.expr:
        """A value: what is closed leaves, what holds closed parts leaves save the open ones, the rest stays."""
        if self.names.closed(node):
            return self.convert(node)
        if isinstance(node, ast.Starred):
            return ast.Starred(self.value(node.value))
        if self._holds_closed(node):
            match node:
                case ast.List() | ast.Tuple() | ast.Set():
                    return type(node)([self.value(each) for each in node.elts])
                case ast.Dict():
                    keys = [None if key is None else self.value(key) for key in node.keys]
                    return ast.Dict(keys, [self.value(each) for each in node.values])
                case ast.BinOp():
                    return ast.BinOp(self.value(node.left), node.op, self.value(node.right))
                case ast.JoinedStr():
                    return ast.JoinedStr([self._piece(each) for each in node.values])
        return self.operand(node)

    def convert(self, node: ast.expr) -> ast.expr:
        """A closed expression as the judge sees it."""
        result = self._convert(node)
        assert isinstance(result, ast.expr)
        return result

    def _piece(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, ast.FormattedValue):
            return self.convert(node)
        self.respelled |= not self.names.closed(node.value)
        return ast.FormattedValue(self.value(node.value), node.conversion, node.format_spec)

    def _convert(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self._name(node)
        fields: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                fields[name] = [self._convert(each) if isinstance(each, ast.AST) else each for each in value]
            else:
                fields[name] = self._convert(value) if isinstance(value, ast.AST) else value
        return type(node)(**fields)

    def _name(self, node: ast.Name) -> ast.expr:
        scope = self.names.scope_of.get(node, self.names.module)
        owner = scope.find(node.id)
        if owner is None or isinstance(owner.node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return ast.Name(node.id)
        if self.names.column(node):
            self.consumed.append(node)
            self.pinned.append(len(self.operands))
            return ast.Subscript(ast.Name(self.definitions.tables[owner, node.id]), self.operand(node))
        origin = self.names.imported(scope, node.id)
        if origin is not None:
            if origin[0] != "pytest":  # the judge has an approx of its own, under both of its names
                self.definitions.take_import(node.id, origin)
            return ast.Name(node.id)
        value = self.names.constant(scope, node.id)
        assert value is not None
        self.consumed.append(node)
        result = self._convert(value)
        assert isinstance(result, ast.expr)
        if owner is not self.names.module:
            return result
        self.definitions.constants.setdefault(f"_c_{node.id}", ast.unparse(result))
        return ast.Name(f"_c_{node.id}")

    def comparable(self, node: ast.Compare) -> bool:
        """Whether a comparison has something to withhold and something that must stay."""
        sides = [node.left, *node.comparators]
        if not any(self.names.closed(side) or self._holds_closed(side) for side in sides):
            return False
        if not all(self.names.closed(side) for side in sides):
            for op, side in zip(node.ops, node.comparators, strict=True):
                if isinstance(op, ast.Is | ast.IsNot) and not (_singleton(side) or _singleton(node.left)):
                    return False
            return True
        return False

    def _holds_closed(self, node: ast.expr) -> bool:
        """Whether a display, an f-string or a sum holds something closed that is worth withholding."""
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                return any(self.names.closed(each) or self._holds_closed(each) for each in node.elts)
            case ast.Dict():
                parts = [part for part in (*node.keys, *node.values) if part is not None]
                return any(self.names.closed(each) or self._holds_closed(each) for each in parts)
            case ast.JoinedStr():
                simple = all(
                    isinstance(each, ast.Constant) or _simple(each) or self.names.closed(each) for each in node.values
                )
                return simple and any(isinstance(each, ast.Constant) and each.value for each in node.values)
            case ast.BinOp(op=ast.Add() | ast.Mod()):
                return any(
                    (self.names.closed(each) and not _number(each)) or self._holds_closed(each)
                    for each in (node.left, node.right)
                )
        return False

    def _all_closed(self, node: ast.Call) -> bool:
        return not node.keywords and all(self.names.closed(each) for each in node.args)

    def _searches(self, node: ast.Call) -> bool:
        assert isinstance(node.func, ast.Attribute)
        return (
            not node.keywords
            and len(node.args) == 2
            and isinstance(node.func.value, ast.Name)
            and self.names.imported(self.names.scope_of.get(node.func.value, self.names.module), node.func.value.id)
            == ("re", "")
            and self.names.closed(node.args[0])
        )


def _singleton(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool | type(...)))) or (
        isinstance(node, ast.Name)
    )


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)


def _simple(node: ast.expr) -> bool:
    """A piece of an f-string whose expression can be written again on one line without a change of meaning."""
    return (
        isinstance(node, ast.FormattedValue)
        and isinstance(node.value, ast.Name | ast.Attribute)
        and node.conversion == -1  # what an object calls itself is not known outside
        and (node.format_spec is None or all(isinstance(each, ast.Constant) for each in ast.walk(node.format_spec)
                                            if isinstance(each, ast.expr) and not isinstance(each, ast.JoinedStr)))
    )  # fmt: skip
