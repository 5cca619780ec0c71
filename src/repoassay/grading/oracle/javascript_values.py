"""Encoded JavaScript values: whether two are the same, and which tell nothing of what they stand for."""

from __future__ import annotations

import json

__all__ = ["same", "tells"]

_DEEPEST = 100
_UNORDERED = {"object": (2,), "with": (3,), "error": (4, 5), "map": (1,), "set": (1,)}
"""Where in a node of a kind stands what has no order."""
_SILENT = frozenset({"opaque", "accessor", "more", "deeper"})


def same(one: object, other: object) -> bool:
    """Whether two operands are the same value, however their properties, keys and members are ordered."""
    try:
        return _plain(one) == _plain(other)
    except RecursionError:
        return False


def tells(node: object) -> bool:
    """Whether a value says what it is: nothing in it is opaque or was left out."""
    if not isinstance(node, list) or not node:
        return True
    if node[0] in _SILENT:
        return False
    return all(tells(part) for part in node[1:]) if isinstance(node[0], str) else all(tells(part) for part in node)


def _plain(node: object, depth: int = 0) -> str:
    """One text for one value."""
    if depth > _DEEPEST:
        raise RecursionError
    if not isinstance(node, list):
        return json.dumps(node)  # true is not 1 here, as it is to Python
    parts = [_plain(part, depth + 1) for part in node]
    for at in _UNORDERED.get(node[0] if node and isinstance(node[0], str) else "", ()):
        if at < len(node) and isinstance(part := node[at], list):
            parts[at] = _unordered(part, depth)
    return f"[{','.join(parts)}]"


def _unordered(parts: list[object], depth: int) -> str:
    return f"[{','.join(sorted(_plain(part, depth + 2) for part in parts))}]"
