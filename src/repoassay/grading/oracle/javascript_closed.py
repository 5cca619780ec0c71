"""Expressions of a test that hold nothing of the code under test: they may leave the file and be run by the judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from repoassay.grading.oracle.javascript_scopes import JavaScriptBinding, JavaScriptScopes
from repoassay.grading.oracle.javascript_tree import FUNCTIONS, arguments_of, called, named, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["CLASSES", "ClosedBindings", "is_compound"]

_ERRORS = frozenset(
    {"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "EvalError", "URIError", "AggregateError"}
)
CLASSES = _ERRORS | {
    "Map", "Set", "Date", "RegExp", "Array", "Object", "Number", "String", "Boolean", "Promise", "Function", "Symbol",
    "WeakMap", "WeakSet", "ArrayBuffer", "DataView", "URL", "URLSearchParams", "Buffer", "Uint8Array", "Int8Array",
    "Uint16Array", "Int16Array", "Uint32Array", "Int32Array", "Float32Array", "Float64Array", "BigInt64Array",
    "BigUint64Array", "Uint8ClampedArray", "SharedArrayBuffer",
}  # fmt: skip
_FUNCTIONS = frozenset({"BigInt", "Number", "String", "Boolean", "Symbol", "parseInt", "parseFloat", "isNaN"})
_SPACES = frozenset(
    {"Number", "Math", "Object", "Array", "JSON", "Symbol", "Buffer", "Date", "String", "BigInt", "Reflect"}
)
_VALUES = frozenset({"NaN", "Infinity"})
_CHANGING = frozenset({"now", "random"})
_LITERALS = frozenset({"number", "string", "true", "false", "null", "undefined", "regex"})
_PASSED = frozenset(
    {
        "array", "object", "pair", "parenthesized_expression", "unary_expression", "binary_expression",
        "spread_element", "ternary_expression", "template_substitution", "computed_property_name",
        "sequence_expression",
    }
)  # fmt: skip
_COMPOUND = frozenset({"array", "object", "new_expression", "call_expression", "regex", "member_expression"})


def is_compound(node: Node) -> bool:
    """Whether a closed expression may be an object, which others could change."""
    inner = node
    while inner.type == "parenthesized_expression" and named(inner):
        inner = named(inner)[0]
    return inner.type in _COMPOUND or inner.type in FUNCTIONS or inner.type == "ternary_expression"


class ClosedBindings:
    """Tells closed expressions, given which names stand for such.

    `constants` are names bound to closed values; `columns` those that walk over a column of a table, row by row;
    `judges` those of the assertion library, which the judge has too.
    """

    def __init__(
        self,
        scopes: JavaScriptScopes,
        constants: Mapping[JavaScriptBinding, Node],
        columns: Mapping[JavaScriptBinding, Sequence[Node]],
        judges: Iterable[JavaScriptBinding],
    ) -> None:
        self._scopes, self._constants, self._columns, self._judges = scopes, constants, columns, frozenset(judges)
        self._open: list[JavaScriptBinding] = []

    def text(self, node: Node, rows: list[JavaScriptBinding], *, classes: bool = False) -> str | None:
        """The expression as the judge is to read it, or None when it is not closed.

        Columns stand in it as `{number}`-th of `rows`, to which they are added: `[...][\\0number\\0]`.
        """
        if classes and node.type == "identifier" and self._is_global(node, CLASSES):
            return text_of(node)
        if classes and node.type in FUNCTIONS and node.type != "method_definition":
            return self._function(node, rows)
        return self._text(node, rows)

    def _text(self, node: Node, rows: list[JavaScriptBinding]) -> str | None:
        if node.type in _LITERALS or node.type in ("property_identifier", "string_fragment", "escape_sequence"):
            return text_of(node)
        if node.type == "identifier":
            return self._name(node, rows)
        if node.type == "shorthand_property_identifier":
            text = self._name(node, rows)
            return None if text is None else f"{text_of(node)}: {text}"
        if node.type in _PASSED or node.type == "template_string":
            return self._whole(node, rows)
        if node.type == "member_expression":
            return self._member(node, rows)
        if node.type in ("call_expression", "new_expression"):
            return self._call(node, rows)
        return None

    def _whole(self, node: Node, rows: list[JavaScriptBinding]) -> str | None:
        """The text of a node with that of its parts in their places."""
        found, at = b"", node.start_byte
        whole = node.text or b""
        for part in node.named_children:
            text = "" if part.type == "comment" else self._text(part, rows)
            if text is None:
                return None
            found += whole[at - node.start_byte : part.start_byte - node.start_byte] + text.encode()
            at = part.end_byte
        return (found + whole[at - node.start_byte :]).decode(errors="replace")

    def _name(self, node: Node, rows: list[JavaScriptBinding]) -> str | None:
        binding = self._scopes.of(node)
        if binding is None:
            return text_of(node) if text_of(node) in _VALUES else None
        if binding in self._columns:
            if binding not in rows:
                rows.append(binding)
            values = [self._text(value, []) for value in self._columns[binding]]
            if any(value is None for value in values):
                return None
            return f"[{', '.join(value or '' for value in values)}][\0{rows.index(binding)}\0]"
        value = self._constants.get(binding)
        if value is None or binding in self._open:
            return None
        self._open.append(binding)
        text = self._text(value, rows)
        self._open.pop()
        return None if text is None else f"({text})"

    def _is_global(self, node: Node | None, names: frozenset[str]) -> bool:
        return (
            node is not None and node.type == "identifier" and text_of(node) in names and self._scopes.of(node) is None
        )

    def _member(self, node: Node, rows: list[JavaScriptBinding]) -> str | None:
        owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if owner is None or name is None or name.type != "property_identifier":
            return None
        if self._is_global(owner, _SPACES):
            return None if text_of(name) in _CHANGING else text_of(node)
        if owner.type in ("array", "string", "template_string", "parenthesized_expression", "regex", "call_expression"):
            text = self._text(owner, rows)
            return None if text is None else f"{text}.{text_of(name)}"
        return None

    def _call(self, node: Node, rows: list[JavaScriptBinding]) -> str | None:
        new = node.type == "new_expression"
        function = node.child_by_field_name("constructor") if new else called(node)
        arguments = arguments_of(node)
        if function is None or arguments is None:
            return None
        if self._is_global(function, CLASSES if new else _FUNCTIONS | _ERRORS):
            if (
                new
                and text_of(function) in ("Date", "Promise", "Function")
                and (text_of(function) != "Date" or not arguments)
            ):
                return None
            callee: str | None = text_of(function)
        else:
            callee = None if new or function.type != "member_expression" else self._member(function, rows)
        texts = [self.text(each, rows, classes=each.type in FUNCTIONS) for each in arguments]
        if callee is None or any(text is None for text in texts):
            return None
        return f"{'new ' if new else ''}{callee}({', '.join(text or '' for text in texts)})"

    def _function(self, node: Node, rows: list[JavaScriptBinding]) -> str | None:
        """A function whose names are all its own, global, constant, or the assertion library's."""
        replaced: list[tuple[int, int, str]] = []
        for part in walk(node):
            if part.type in ("this", "super", "import", "await_expression", "yield_expression", "meta_property"):
                return None
            if part.type not in ("identifier", "shorthand_property_identifier"):
                continue
            binding = self._scopes.of(part)
            if binding in self._judges or (binding is not None and _within(binding.name, node)):
                continue
            if binding is None and text_of(part) in CLASSES | _FUNCTIONS | _SPACES | _VALUES:
                continue
            text = self._text(part, rows)
            if text is None:
                return None
            replaced.append((part.start_byte, part.end_byte, text))
        found, at, whole = b"", node.start_byte, node.text or b""
        for start, end, text in replaced:
            found += whole[at - node.start_byte : start - node.start_byte] + text.encode()
            at = end
        return f"({(found + whole[at - node.start_byte :]).decode(errors='replace')})"


def _within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte
