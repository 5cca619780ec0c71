"""JavaScript as a syntax tree, by tree-sitter's grammar; nothing of it is run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["FUNCTIONS", "arguments_of", "called", "named", "parse_javascript", "plain_text", "text_of", "walk"]

FUNCTIONS = frozenset(
    {
        "arrow_function", "function_expression", "function_declaration", "generator_function",
        "generator_function_declaration", "method_definition",
    }
)  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


@cache
def _parser() -> Parser:
    import tree_sitter_javascript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language()))


def parse_javascript(source: bytes) -> Node:
    """The tree of a source text; `has_error` tells of what is no JavaScript."""
    return _parser().parse(source).root_node


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(found.children))


def text_of(node: Node) -> str:
    """The text of a node."""
    return (node.text or b"").decode(errors="replace")


def named(node: Node) -> list[Node]:
    """A node's named children, comments left out."""
    return [child for child in node.named_children if child.type != "comment"]


def called(node: Node) -> Node | None:
    """What a call calls; None for anything but a call with arguments in brackets."""
    if node.type != "call_expression" or arguments_of(node) is None:
        return None
    return node.child_by_field_name("function")


def arguments_of(node: Node) -> list[Node] | None:
    """The arguments of a call; None where there are none in brackets."""
    arguments = node.child_by_field_name("arguments")
    if arguments is None or arguments.type != "arguments" or node.child_by_field_name("optional_chain"):
        return None
    return named(arguments)


def plain_text(node: Node) -> str | None:
    """What a text literal stands for; None for what is no text or holds substitutions or rare escapes."""
    if node.type not in ("string", "template_string"):
        return None
    found = ""
    for part in node.named_children:
        if part.type == "string_fragment":
            found += text_of(part)
        elif part.type == "escape_sequence":
            escape = text_of(part)[1:]
            if escape[:1] in "ux" or escape.isdigit():
                code = escape[1:].strip("{}") if escape[:1] in "ux" else escape
                try:
                    found += chr(int(code, 16 if escape[:1] in "ux" else 8))
                except ValueError:
                    return None
            else:
                found += "" if escape == "\n" else _ESCAPES.get(escape, escape)
        else:
            return None
    return found
