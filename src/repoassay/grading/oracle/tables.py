"""Tables of a test: loops over literal rows and `parametrize`, whose expected columns can leave the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repoassay.grading.oracle.names import ClosedNames, Scope

__all__ = ["ParameterColumn", "columns"]


@dataclass(frozen=True, slots=True)
class ParameterColumn:
    """One name of a table and its entries, row by row, all closed."""

    scope: Scope
    name: str
    entries: tuple[ast.expr, ...]


def columns(tree: ast.Module, names: ClosedNames) -> list[ParameterColumn]:
    """Every column of closed entries whose name is bound by its table alone."""
    found: list[ParameterColumn] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.AsyncFor):
            scope = names.scope_of.get(node)
            rows = _rows(node.iter, names)
            if scope is not None and rows:
                found += _columns(node.target, rows, scope)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                found += _parametrized(decorator, names, names.scopes[node])
    return [column for column in found if _alone(column, names)]


def _alone(column: ParameterColumn, names: ClosedNames) -> bool:
    if len(column.scope.bindings.get(column.name, ())) != 1:
        return False
    return all(names.closed(entry) for entry in column.entries)


def _parametrized(decorator: ast.expr, names: ClosedNames, scope: Scope) -> Iterator[ParameterColumn]:
    match decorator:
        case ast.Call(func=ast.Attribute(attr="parametrize"), args=[given, table, *_]):
            wanted = _argument_names(given)
            rows = _rows(table, names)
            if not wanted or not rows:
                return
            target: ast.expr = ast.Tuple([ast.Name(name) for name in wanted])
            yield from _columns(target if len(wanted) > 1 else ast.Name(wanted[0]), rows, scope)


def _argument_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    if isinstance(node, ast.List | ast.Tuple):
        values = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return values if len(values) == len(node.elts) else []
    return []


def _rows(node: ast.expr, names: ClosedNames) -> list[ast.expr]:
    """The rows of a literal table, or of a constant that serves as this table alone; nothing for any other."""
    if isinstance(node, ast.Name):
        owner = names.scope_of.get(node, names.module).find(node.id)
        bindings = owner.bindings[node.id] if owner else []
        if owner is None or len(bindings) != 1 or not bindings[0].direct or len(names.uses[owner, node.id]) != 1:
            return []
        return _rows(bindings[0].value, names) if isinstance(bindings[0].value, ast.List | ast.Tuple) else []
    match node:
        case ast.List() | ast.Tuple():
            rows = [_row(each) for each in node.elts]
            return [] if any(isinstance(each, ast.Starred) for each in rows) else rows
        case ast.Call(func=ast.Attribute(value=ast.Dict() as table, attr="items"), args=[], keywords=[]):
            return [ast.Tuple([key, value]) for key, value in zip(table.keys, table.values, strict=True) if key]
    return []


def _row(node: ast.expr) -> ast.expr:
    """`pytest.param(a, b, id=...)` as the row it stands for."""
    match node:
        case ast.Call(func=ast.Attribute(attr="param"), args=args):
            return ast.Tuple(list(args)) if len(args) > 1 else (args[0] if args else node)
    return node


def _columns(target: ast.expr, rows: Sequence[ast.expr], scope: Scope) -> Iterator[ParameterColumn]:
    if isinstance(target, ast.Name):
        yield ParameterColumn(scope, target.id, tuple(rows))
        return
    if not isinstance(target, ast.Tuple | ast.List):
        return
    wide = [row.elts for row in rows if isinstance(row, ast.Tuple | ast.List)]
    if len(wide) != len(rows) or any(len(row) != len(target.elts) for row in wide):
        return
    for place, name in enumerate(target.elts):
        entries = [row[place] for row in wide]
        if isinstance(name, ast.Name) and not any(isinstance(entry, ast.Starred) for entry in entries):
            yield ParameterColumn(scope, name.id, tuple(entries))
