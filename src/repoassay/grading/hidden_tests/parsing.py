"""Python source to a syntax tree, from any thread.

CPython 3.11 counts the depth of a tree under construction once for all threads; two that parse at a time can make it
raise `SystemError: AST constructor recursion depth mismatch` (python/cpython issue 106905).
"""

from __future__ import annotations

import ast
import threading
from functools import lru_cache
from typing import Any

__all__ = ["literal_value", "parse", "parse_anew"]

_ONE = threading.Lock()


def parse(source: str | bytes) -> ast.Module:
    """The tree of a source text, not to be changed; raises what `ast.parse` raises."""
    return _parsed(source)


@lru_cache(maxsize=64)  # the tests of a task are looked at with every pass
def _parsed(source: str | bytes) -> ast.Module:
    with _ONE:
        return ast.parse(source)


def parse_anew(source: str | bytes, mode: str = "exec") -> Any:
    """A tree of one's own, as `ast.parse` makes it; raises what that raises."""
    with _ONE:
        return ast.parse(source, mode=mode)


def literal_value(source: str) -> Any:
    """The value of a literal's text; raises what `ast.literal_eval` raises."""
    with _ONE:
        return ast.literal_eval(source)
