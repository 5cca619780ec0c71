"""Tables written out in a JavaScript test, and loops over their rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from repoassay.grading.oracle.javascript_scopes import JavaScriptBinding, JavaScriptScopes
from repoassay.grading.oracle.javascript_tree import FUNCTIONS, arguments_of, called, named, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["find_columns"]


def find_columns(root: Node, scopes: JavaScriptScopes) -> dict[JavaScriptBinding, list[Node]]:
    """Names that take the values of one column of a table in turn, and these values.

    `for (const [input, expected] of TABLE)` and `TABLE.forEach(({input, expected}) => ...)`, where the table is
    written out in place or is a constant that nothing else uses.
    """
    found: dict[JavaScriptBinding, list[Node]] = {}
    for node in walk(root):
        if node.type == "for_in_statement" and text_of(node.child_by_field_name("operator") or node) == "of":
            if text_of(node.child_by_field_name("kind") or node) in ("const", "let"):
                found |= _columns(node.child_by_field_name("left"), node.child_by_field_name("right"), scopes)
        elif (callee := called(node)) is not None and callee.type == "member_expression":
            arguments = arguments_of(node) or []
            name = callee.child_by_field_name("property")
            if (
                name is not None
                and text_of(name) == "forEach"
                and len(arguments) == 1
                and arguments[0].type in FUNCTIONS
            ):
                parameters = arguments[0].child_by_field_name("parameters")
                each = named(parameters) if parameters else []
                if len(each) == 1:
                    found |= _columns(each[0], callee.child_by_field_name("object"), scopes)
    return found


def _columns(pattern: Node | None, table: Node | None, scopes: JavaScriptScopes) -> dict[JavaScriptBinding, list[Node]]:
    rows = None if table is None else _rows(table, scopes)
    if pattern is None or not rows:
        return {}
    found: dict[JavaScriptBinding, list[Node]] = {}
    for name, key in _names(pattern):
        binding = scopes.of(name)
        cells = [_cell(row, key) for row in rows]
        if binding is not None and all(cell is not None for cell in cells):
            found[binding] = [cell for cell in cells if cell is not None]
    return found


def _rows(table: Node, scopes: JavaScriptScopes) -> list[Node]:
    """The rows of a table written out; none where they are not certain."""
    if table.type == "identifier":
        binding = scopes.of(table)
        if binding is None or binding.kind != "const" or len(binding.uses) != 1:
            return []
        declarator = binding.name.parent
        value = (
            declarator.child_by_field_name("value") if declarator and declarator.type == "variable_declarator" else None
        )
        if value is None:
            return []
        table = value
    if table.type != "array":
        return []
    rows = named(table)
    kinds = {row.type for row in rows}
    return rows if kinds in ({"array"}, {"object"}) and not _holes(table) else []


def _holes(array: Node) -> bool:
    """Whether two commas stand side by side, or one at the beginning."""
    kinds = [child.type for child in array.children if child.type != "comment"]
    return any(pair in ((",", ","), ("[", ",")) for pair in pairwise(kinds))


def _names(pattern: Node) -> list[tuple[Node, int | str]]:
    """Names that a pattern gives to cells, by place or key; none when it does more than that."""
    found: list[tuple[Node, int | str]] = []
    if pattern.type == "array_pattern":
        if _holes(pattern):
            return []
        found = [(child, at) for at, child in enumerate(named(pattern)) if child.type == "identifier"]
    elif pattern.type == "object_pattern":
        for child in named(pattern):
            if child.type == "shorthand_property_identifier_pattern":
                found.append((child, text_of(child)))
            elif child.type == "pair_pattern":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and value is not None and value.type == "identifier":
                    found.append((value, text_of(key)))
            else:
                return []
    return found


def _cell(row: Node, key: int | str) -> Node | None:
    cells = named(row)
    if isinstance(key, int):
        if row.type != "array" or any(cell.type == "spread_element" for cell in cells) or key >= len(cells):
            return None
        return None if _holes(row) else cells[key]
    found = [cell for cell in cells if cell.type == "pair" and text_of(cell.child_by_field_name("key") or cell) == key]
    plain = all(cell.type == "pair" for cell in cells)
    return found[0].child_by_field_name("value") if plain and len(found) == 1 else None
