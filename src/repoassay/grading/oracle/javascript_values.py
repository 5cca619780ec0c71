"""Encoded JavaScript values: whether two are the same, and which tell nothing of what they stand for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

__all__ = ["same_javascript_value", "tells"]

_DEEPEST = 100
_SILENT = frozenset({"opaque", "accessor", "more", "deeper"})
# What follows a kind: a value, values in order or in none, pairs in no order; all else (text, numbers, class names)
# stands for itself.
_VALUE, _VALUES, _SET, _PAIRS, _TEXT = "value", "values", "set", "pairs", "text"
_PARTS = {
    "array": (_VALUES,), "set": (_SET,), "map": (_PAIRS,), "object": (_TEXT, _PAIRS), "with": (_VALUE, _TEXT, _PAIRS),
    "error": (_TEXT, _TEXT, _TEXT, _PAIRS, _PAIRS), "boxed": (_VALUE,), "arguments": (_VALUE,), "date": (_VALUE,),
    "regexp": (_TEXT, _TEXT, _VALUE), "threw": (_VALUE,),
}  # fmt: skip


def same_javascript_value(one: object, other: object) -> bool:
    """Whether two operands are the same value, however their properties, keys and members are ordered."""
    try:
        if len(json.dumps(one)) != len(json.dumps(other)):  # another order does not change it
            return False
        return _plain(one) == _plain(other)
    except RecursionError:
        return False


def tells(node: object) -> bool:
    """Whether a value says what it is: nothing in it is opaque or was left out."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, list) and found and isinstance(found[0], str) and found[0] in _SILENT:
            return False
        waiting += _inner(found)
    return True


def _inner(node: object) -> Iterator[object]:
    """Values within a value; none where it is none that was ever encoded."""
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        return
    for kind, part in zip(_PARTS.get(node[0], ()), node[1:], strict=False):
        if kind == _VALUE:
            yield part
        elif kind in (_VALUES, _SET) and isinstance(part, list):
            yield from part
        elif kind == _PAIRS and isinstance(part, list):
            yield from (each for pair in part if isinstance(pair, list) for each in pair)


def _plain(node: object, depth: int = 0) -> str:
    """One text for one value."""
    if depth > _DEEPEST:
        raise RecursionError
    if not isinstance(node, list):
        return json.dumps(node)  # true is not 1 here, as it is to Python
    kinds = _PARTS.get(node[0]) if node and isinstance(node[0], str) else None
    if kinds is None or len(kinds) != len(node) - 1:
        return f"raw {json.dumps(node)}"

    def inner(part: object) -> str:
        return _plain(part, depth + 1)

    parts = [_part(kind, part, inner) for kind, part in zip(kinds, node[1:], strict=True)]
    return f"{node[0]}({', '.join(parts)})"


def _part(kind: str, part: object, inner: Callable[[object], str]) -> str:
    if kind == _VALUE:
        return inner(part)
    if kind == _TEXT or not isinstance(part, list):
        return json.dumps(part)
    if kind == _PAIRS:
        return str(sorted(f"{[inner(each) for each in pair] if isinstance(pair, list) else pair!r}" for pair in part))
    texts = [inner(each) for each in part]
    return str(sorted(texts) if kind == _SET else texts)
