"""Which declaration a name in JavaScript refers to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repoassay.grading.oracle.javascript_tree import FUNCTIONS, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["JavaScriptBinding", "JavaScriptScopes"]

_BLOCKS = frozenset(
    {"program", "statement_block", "for_statement", "for_in_statement", "catch_clause", "switch_body",
     "class_static_block"}
)  # fmt: skip
_NAMES = frozenset({"identifier", "shorthand_property_identifier_pattern"})


@dataclass(slots=True, eq=False)
class JavaScriptBinding:
    """One declared name: the identifier that declares it, how (`const`, `let`, `var`, `import`, `parameter`, ...),
    and every other place where it is meant.
    """

    name: Node
    kind: str
    uses: list[Node] = field(default_factory=list)


class JavaScriptScopes:
    """Every name of a source and what it refers to."""

    def __init__(self, root: Node) -> None:
        self._declared: dict[int, dict[str, JavaScriptBinding]] = {}
        self._at: dict[int, JavaScriptBinding] = {}
        nodes = list(walk(root))
        for node in nodes:
            self._declare(node)
        for node in nodes:
            if node.type in ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"):
                self._refer(node)

    def of(self, name: Node) -> JavaScriptBinding | None:
        """What a name refers to; None for a global."""
        return self._at.get(name.id)

    def bindings(self) -> list[JavaScriptBinding]:
        """Every declaration."""
        return [binding for names in self._declared.values() for binding in names.values()]

    def _declare(self, node: Node) -> None:
        if node.type == "variable_declarator":
            parent = node.parent
            assert parent is not None
            kind = "var" if parent.type == "variable_declaration" else text_of(parent.children[0])
            self._add(_scope(node, whole=kind == "var"), node.child_by_field_name("name"), kind)
        elif node.type == "for_in_statement":
            if node.child_by_field_name("kind"):
                kind = text_of(node.child_by_field_name("kind"))  # type: ignore[arg-type]
                place = _scope(node.parent or node, whole=True) if kind == "var" else node
                self._add(place, node.child_by_field_name("left"), kind)
        elif node.type in FUNCTIONS:
            parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
            self._add(node, parameters, "parameter")
            name = node.child_by_field_name("name")
            if name is not None and node.type.endswith("declaration"):
                self._add(_scope(node.parent or node), name, "function")
            elif name is not None and node.type != "method_definition":
                self._add(node, name, "function")
        elif node.type in ("class_declaration", "class"):
            place = _scope(node.parent or node) if node.type == "class_declaration" else node
            self._add(place, node.child_by_field_name("name"), "class")
        elif node.type == "catch_clause":
            self._add(node, node.child_by_field_name("parameter"), "parameter")
        elif node.type in ("import_clause", "namespace_import", "import_specifier"):
            alias = node.child_by_field_name("alias") or node.child_by_field_name("name")
            for name in [alias] if alias else [child for child in node.children if child.type == "identifier"]:
                self._add(_scope(node), name, "import")

    def _add(self, scope: Node, pattern: Node | None, kind: str) -> None:
        if pattern is None:
            return
        for name in _bound(pattern):
            names = self._declared.setdefault(scope.id, {})
            text = text_of(name)
            if text in names:  # declared twice, as `var` and functions may be: nobody knows which is meant
                names[text].kind = "several"
                self._at[name.id] = names[text]
            else:
                names[text] = self._at[name.id] = JavaScriptBinding(name, kind)

    def _refer(self, node: Node) -> None:
        if node.id in self._at:
            return
        text, at = text_of(node), node.parent
        while at is not None:
            binding = self._declared.get(at.id, {}).get(text)
            if binding is not None:
                self._at[node.id] = binding
                binding.uses.append(node)
                return
            at = at.parent


def _bound(pattern: Node) -> list[Node]:
    """Names that a pattern declares; what defaults and computed keys mention is not declared."""
    if pattern.type in _NAMES:
        return [pattern]
    if pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        left = pattern.child_by_field_name("left")
        return _bound(left) if left else []
    if pattern.type == "pair_pattern":
        value = pattern.child_by_field_name("value")
        return _bound(value) if value else []
    if pattern.type in ("array_pattern", "object_pattern", "rest_pattern", "formal_parameters"):
        return [name for child in pattern.named_children for name in _bound(child)]
    return []


def _scope(node: Node, whole: bool = False) -> Node:
    """The nearest block, or function, around a node."""
    at = node
    while at.parent is not None:
        at = at.parent
        if at.type in FUNCTIONS or (at.type in _BLOCKS and not whole):
            return at
    return at
