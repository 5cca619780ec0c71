"""Mutation operators of JavaScript, and of TypeScript as far as JavaScript's grammar reads it: nothing in its types.

As in Python, messages of what is thrown, logs and imports are left alone. In a file that the grammar cannot read
whole, an operator needs blanks around it, so that no type's bracket is taken for one, and literals must be operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repoassay.grading import parse_javascript, walk
from repoassay.mutants.edits.mutant import Replacement
from repoassay.types import MutantKind

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["SUFFIXES", "count_errors", "javascript_meaning", "javascript_replacements"]

SUFFIXES = frozenset({".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"})
_COMPARISONS = {
    "==": ("!=",), "!=": ("==",), "===": ("!==",), "!==": ("===",), "<": ("<=", ">="), "<=": ("<", ">"),
    ">": (">=", "<="), ">=": (">", "<"),
}  # fmt: skip
_CONDITIONS = {"&&": ("||",), "||": ("&&",), "??": ("&&",)}
_OPERATORS = {
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",), "**": ("*",), "&": ("|",), "|": ("&",),
    "^": ("|",), "<<": (">>",), ">>": ("<<",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",),
    "++": ("--",), "--": ("++",), "||=": ("&&=",), "&&=": ("||=",), "??=": ("&&=",),
}  # fmt: skip
_TABLES = (
    (MutantKind.COMPARISON, _COMPARISONS),
    (MutantKind.CONDITION, _CONDITIONS),
    (MutantKind.OPERATOR, _OPERATORS),
)
_OF_TYPES = frozenset({"|", "&"})
_SKIPPED = frozenset({"import_statement", "comment", "throw_statement", "string", "regex"})
"""Below these nothing is looked for; a text is a constant of its own."""
_LOGS = ("console.", "log.", "logger.", "debug(", "this.log.", "this.logger.")
_HOLDERS = frozenset({"binary_expression", "arguments", "return_statement", "unary_expression", "ternary_expression"})
"""What may hold a literal in a file that could hold types."""


def javascript_replacements(source: bytes, lines: frozenset[int]) -> list[Replacement]:
    """Every replacement in some lines (numbers from 1) of a file."""
    root = parse_javascript(source)
    finder = _Finder(source, lines, partly=root.has_error)
    return [one for node in _places(root) if not node.has_error for one in finder.of(node) if finder.within(one)]


def javascript_meaning(source: bytes) -> bytes:
    """A text that two files share that differ in comments and layout alone."""
    leaves = (node for node in walk(parse_javascript(source)) if not node.children and node.type != "comment")
    return b" ".join(node.text or b"" for node in leaves)


def count_errors(source: bytes) -> int:
    """Places that are no JavaScript; types are such."""
    root = parse_javascript(source)
    return sum(node.is_error or node.is_missing for node in walk(root)) if root.has_error else 0


def _places(root: Node) -> Iterator[Node]:
    """Nodes that may be mutated; what is thrown, logged and imported is not looked into."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        logged = node.type == "call_expression" and (node.text or b"").decode(errors="replace").startswith(_LOGS)
        if node.type not in _SKIPPED and not logged:
            stack.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class _Finder:
    """Replacements of single nodes; `partly` says that the grammar cannot read the whole file."""

    source: bytes
    lines: frozenset[int]
    partly: bool

    def within(self, one: Replacement) -> bool:
        """Whether a replacement is in one of the lines."""
        first = self.source.count(b"\n", 0, one.start) + 1
        last = first + self.source.count(b"\n", one.start, one.end)
        return any(line in self.lines for line in range(first, last + 1))

    def of(self, node: Node) -> Iterator[Replacement]:
        """What operators make of a node."""
        match node.type:
            case "binary_expression" | "augmented_assignment_expression" | "update_expression":
                yield from self.operator(node)
            case "unary_expression":
                operator, operand = node.child_by_field_name("operator"), node.child_by_field_name("argument")
                if operator and operand and operator.type in ("!", "-", "~"):
                    yield Replacement(MutantKind.OPERATOR, operator.start_byte, operand.start_byte, b"")
            case "if_statement" | "while_statement" | "ternary_expression":
                yield from self.condition(node)
            case "return_statement":
                value = next((child for child in node.named_children if child.type != "comment"), None)
                if value and value.type not in ("null", "undefined", "true", "false", "number", "string"):
                    yield Replacement(MutantKind.RETURN, value.start_byte, value.end_byte, b"undefined")
            case "throw_statement" | "expression_statement":
                yield from self.statement(node)
            case "break_statement" | "continue_statement" if len(node.children) <= 2:
                other = {"break_statement": b"continue;", "continue_statement": b"break;"}[node.type]
                yield Replacement(MutantKind.STATEMENT, node.start_byte, node.end_byte, other)
            case "true" | "false" | "number" | "string":
                yield from self.constant(node)

    def operator(self, node: Node) -> Iterator[Replacement]:
        """Another operator between the same operands."""
        operator = node.child_by_field_name("operator")
        if operator is None:
            return
        text = operator.type
        around = self.source[operator.start_byte - 1 : operator.start_byte] + self.source[operator.end_byte :][:1]
        if self.partly and node.type == "binary_expression" and (text in _OF_TYPES or around.strip()):
            return
        operands = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        if text == "+" and any(each is not None and each.type in ("string", "template_string") for each in operands):
            return  # makes text of its operands
        for kind, table in _TABLES:
            for other in table.get(text, ()):
                yield Replacement(kind, operator.start_byte, operator.end_byte, other.encode())

    def condition(self, node: Node) -> Iterator[Replacement]:
        """A condition turned round, and a branch taken always or never."""
        test = node.child_by_field_name("condition")
        if test is None:
            return
        texts = [b"!(" + (test.text or b"") + b")"]
        if node.type != "while_statement":
            texts += [b"true", b"false"]
        for text in texts:
            braced = b"(" + text + b")" if test.type == "parenthesized_expression" else text
            yield Replacement(MutantKind.CONDITION, test.start_byte, test.end_byte, braced)

    def statement(self, node: Node) -> Iterator[Replacement]:
        """A statement left out; not logs, directives and bare names."""
        text = (node.text or b"").decode(errors="replace")
        inner = next(iter(node.named_children), None)
        plain = node.type == "expression_statement" and (
            inner is None or inner.type in ("string", "identifier", "number")
        )
        if not plain and not text.startswith(_LOGS):
            yield Replacement(MutantKind.STATEMENT, node.start_byte, node.end_byte, b";")

    def constant(self, node: Node) -> Iterator[Replacement]:
        """Another literal."""
        holder = node.parent.type if node.parent else ""
        if holder in ("import_statement", "export_statement", "expression_statement", "import_attribute"):
            return
        operator = node.parent.child_by_field_name("operator") if node.parent else None
        if self.partly and (holder not in _HOLDERS or (operator is not None and operator.type in _OF_TYPES)):
            return
        text = (node.text or b"").decode(errors="replace")
        match node.type:
            case "true" | "false":
                others = ["false" if text == "true" else "true"]
            case "number" if text.isdigit():
                others = [
                    str(int(text[:100]) + 1),
                    f"({int(text[:100]) - 1})" if text == "0" else str(int(text[:100]) - 1),
                ]
            case "string":
                others = ['""' if len(text) > 2 else '"mutant"']
            case _:
                others = []
        for other in others:
            yield Replacement(MutantKind.CONSTANT, node.start_byte, node.end_byte, other.encode())
