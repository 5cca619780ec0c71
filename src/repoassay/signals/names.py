"""Names a Python module defines: which are public, their signatures and docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

__all__ = ["Name", "definitions", "dotted", "is_public_module", "public"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Name:
    """A function, class or method. `name` is `CLASS.METHOD` for methods; `parameters` leave out self and cls."""

    name: str
    line: int
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    parameters: tuple[str, ...]
    signature: str
    docstring: str | None


def definitions(tree: ast.Module) -> Iterator[Name]:
    """Functions and classes at the top of a module (also below `if` and `try`), and methods of the classes."""
    for node in _top(tree.body):
        if isinstance(node, _Function):
            yield _name(node, "")
        elif isinstance(node, ast.ClassDef):
            yield _name(node, "")
            for inner in _top(node.body):
                if isinstance(inner, _Function):
                    yield _name(inner, f"{node.name}.")


def public(tree: ast.Module) -> dict[str, Name]:
    """Public definitions by name; `__all__`, where it is a plain list, decides for names at the top."""
    exported = _exported(tree)
    found: dict[str, Name] = {}
    for each in definitions(tree):
        first, _, method = each.name.partition(".")
        shown = first in exported if exported is not None else not first.startswith("_")
        overload = any(dotted(mark).endswith("overload") for mark in each.node.decorator_list)
        if shown and not method.startswith("_") and not overload:
            found.setdefault(each.name, each)
    return found


def is_public_module(path: str) -> bool:
    """Whether a module's names are for others: no part of its path starts with an underscore, but for packages."""
    parts = PurePosixPath(path).with_suffix("").parts
    return not any(part.startswith("_") and part not in ("__init__", "__main__") for part in parts)


def dotted(node: ast.expr) -> str:
    """`a.b.c` of an expression that is such a name, or a call of one; empty otherwise."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        else:
            node = node.func
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            yield from (inner for inner in [*node.body, *node.orelse] if not isinstance(inner, ast.If))
        elif isinstance(node, ast.Try):
            yield from [*node.body, *node.orelse, *(each for handler in node.handlers for each in handler.body)]
        else:
            yield node


def _name(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, before: str) -> Name:
    if isinstance(node, ast.ClassDef):
        return Name(node.name, node.lineno, node, (), "", ast.get_docstring(node, clean=False))
    arguments = node.args
    plain = [each.arg for each in [*arguments.posonlyargs, *arguments.args]]
    static = any(dotted(mark) == "staticmethod" for mark in node.decorator_list)
    parameters = plain[1:] if before and not static else plain
    parameters += [each.arg for each in arguments.kwonlyargs]
    try:
        signature = ast.unparse(arguments)
    except RecursionError:
        signature = "?"
    return Name(
        before + node.name, node.lineno, node, tuple(parameters), signature, ast.get_docstring(node, clean=False)
    )


def _exported(tree: ast.Module) -> frozenset[str] | None:
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            if not isinstance(value, ast.List | ast.Tuple):
                return None
            items = [item.value for item in value.elts if isinstance(item, ast.Constant)]
            return frozenset(item for item in items if isinstance(item, str))
    return None
