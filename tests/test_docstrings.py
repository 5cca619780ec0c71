"""Docstrings and code agree: errors that are named exist, and so do parameters."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache

from house_lists import house_tree

_SECTION = r"^{title}:\n((?:(?:    .*)?\n?)+)"
_ERROR = re.compile(r"^    (\w+):", re.MULTILINE)
_PARAMETER = re.compile(r"^    \*{0,2}(\w+):", re.MULTILINE)
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def section(node: Documented, title: str) -> str:
    found = re.search(_SECTION.format(title=title), ast.get_docstring(node) or "", re.MULTILINE)
    return found[1] if found else ""


@cache
def documented() -> list[tuple[str, ast.Module, Documented]]:
    return [
        (f"{name}:{node.name}", module.syntax, node)
        for name, module in house_tree().modules.items()
        for node in ast.walk(module.syntax)
        if isinstance(node, Documented) and "\n" in (ast.get_docstring(node, clean=False) or "")
    ]


def parameters(node: Documented) -> set[str]:
    """Parameters of a function; of a class those of its constructor, or its fields."""
    if isinstance(node, ast.ClassDef):
        made = [
            each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "__new__")
        ]
        if not made:
            return {each.target.id for each in node.body
                    if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)}  # fmt: skip
        node = made[0]
    given = node.args
    return {
        each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if each
    }


def words(syntax: ast.Module) -> set[str]:
    """Names that code uses, as they stand or as an attribute or an import."""
    found = {node.id for node in ast.walk(syntax) if isinstance(node, ast.Name)}
    found |= {node.attr for node in ast.walk(syntax) if isinstance(node, ast.Attribute)}
    return found | {node.name for node in ast.walk(syntax) if isinstance(node, ast.alias)}


def test_errors_that_docstrings_name_are_there() -> None:
    classes = {name for module in house_tree().modules.values() for name in module.public(ast.ClassDef)}
    classes |= set(dir(builtins))
    assert [
        (place, error)
        for place, syntax, node in documented()
        for error in _ERROR.findall(section(node, "Raises"))
        if error not in classes and error not in words(syntax)
    ] == []


def test_parameters_that_docstrings_name_are_there() -> None:
    assert [
        (place, name)
        for place, _, node in documented()
        for name in _PARAMETER.findall(section(node, "Args"))
        if name not in parameters(node)
    ] == []
