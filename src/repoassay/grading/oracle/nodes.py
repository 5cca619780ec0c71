"""Nodes as they come out of the sandbox: their form is checked, and two are compared, without making values of them.

A node is what `observer.encode` writes and JSON carries: None, a bool, an int, a text, or a list that begins with a
tag.
Whoever controls the sandbox may send anything else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from repoassay.grading.oracle.forms import PAIRED, UNORDERED, canonical

__all__ = ["alike", "check", "is_plain", "opaque", "same_node", "size"]

_DEPTH, _ITEMS, _LENGTH, _BITS = 64, 1_000_000, 16 * 2**20, 14_284
_PLAIN = frozenset(
    ["...", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"]
)
TAGS = _PLAIN | frozenset(
    ["?", "ChainMap", "Counter", "Fraction", "NotImplemented", "OrderedDict", "UUID", "array", "date", "datetime",
     "decimal", "deep", "defaultdict", "deque", "digest", "enum", "exc", "function", "ipaddress", "items", "keys",
     "mappingproxy", "match", "memoryview", "method", "module", "object", "partial", "pathlib", "pattern", "range",
     "slice", "sub", "time", "timedelta", "timezone", "type", "up", "values", "view"]
)  # fmt: skip
_RAW = {"exc": str, "array": int}
"""Nodes whose third item is a plain list, of what."""


def check(node: object) -> None:
    """Make sure that a node is small and shallow enough to be walked, and made of nothing but tagged lists.

    Raises:
        ValueError: When it is not.
    """
    items = length = 0
    stack: list[tuple[object, int]] = [(node, 0)]
    while stack:
        item, depth = stack.pop()
        items += 1
        if type(item) is list:
            if items + len(stack) + len(item) > _ITEMS:
                raise ValueError("a node is too large")
            _check_list(item, depth)
            raw = _RAW.get(item[0])
            stack += [(part, depth + 1) for place, part in enumerate(item) if not (raw and place == 2)]
            if raw:
                stack += [(part, depth + 1) for part in item[2]]
        elif type(item) is str:
            length += len(item)
            item.encode()  # raises a ValueError for surrogates, which have a node of their own
        elif type(item) is int:
            if item.bit_length() > _BITS:
                raise ValueError("a number has too many digits")
        elif item is not None and type(item) is not bool:
            raise ValueError(f"a node holds a {type(item).__name__}")
        if length > _LENGTH:
            raise ValueError("a node is too large")


def _check_list(node: list[Any], depth: int) -> None:
    if depth > _DEPTH:
        raise ValueError("a node is too deep")
    if not node or type(node[0]) is not str or node[0] not in TAGS:
        raise ValueError("a node has no known tag")
    tag = node[0]
    if len(node) < UNORDERED.get(tag, 1) or (tag in PAIRED and (len(node) - UNORDERED[tag]) % 2):
        raise ValueError(f"a {tag} is not made of pairs")
    if tag in _RAW:
        inner = node[2] if len(node) > 2 else None
        if type(inner) is not list or len(inner) > 64 or any(type(part) is not _RAW[tag] for part in inner):
            raise ValueError(f"an {tag} has no list of its own")


def same_node(first: object, second: object) -> bool:
    """Whether two nodes stand for equal values: structurally, types too, without the order of mappings and sets.

    NaN equals NaN, a digest equals the same digest, 1 equals neither 1.0 nor True. What is no node equals nothing.
    """
    try:
        check(first)
        check(second)
    except ValueError:
        return False
    return canonical(first) == canonical(second)


def alike(first: Sequence[object], second: Sequence[object]) -> bool:
    """Whether two rows of operands are the same, one by one."""
    if len(first) != len(second):
        return False
    try:  # as text, since lists with 1 and with True in it are equal to Python
        texts = [json.dumps(row, separators=(",", ":")) for row in (first, second)]
    except RecursionError:
        return False
    if len(texts[0]) != len(texts[1]):  # another order does not change it; spares large nodes the walk
        return False
    return texts[0] == texts[1] or all(map(same_node, first, second))


def opaque(nodes: Sequence[object]) -> bool:
    """Whether something in a row of operands is known by its type alone, so that others of the type look the same."""
    stack = list(nodes)
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            if item and item[0] in ("?", "deep"):
                return True
            stack += item
    return False


def is_plain(node: object) -> bool:
    """Whether it holds scalars and containers of exact builtin types only."""
    try:
        check(node)
    except ValueError:
        return False
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            if item[0] not in _PLAIN:
                return False
            stack += item[1:]
    return True


def size(node: object) -> int:
    """How many characters its canonical text has.

    Raises:
        ValueError: When it is no node.
    """
    check(node)
    return len(canonical(node))
