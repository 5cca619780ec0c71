"""Code that cannot run or that nothing uses, added by the change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.diffs import FileChange
from repoassay.signals.names import definitions
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, judged

__all__ = ["dead_code"]

_RULE = "statements after return, raise, break or continue; new private functions and classes that nothing mentions"
_MOST_FILES = 2_000


def dead_code(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look at added lines of Python program files."""
    evidence = [found for each in change.sources() if each.path.endswith(".py") for found in _dead(change, each)]
    return [judged("dead_code", SignalAxis.QUALITY, "Unreachable or unused code", evidence, threshold=_RULE)]


def _dead(change: Change, each: FileChange) -> Iterator[SignalEvidence]:
    tree = change.head.python(each.path)
    if tree is None:
        return
    for line in sorted(set(_unreachable(tree)) & set(each.added)):
        yield at_line(each.path, line, each.added[line], "This statement cannot be reached.")
    for name in definitions(tree):
        own = name.name.rpartition(".")[2]
        private = own.startswith("_") and not own.endswith("__")
        if (
            private
            and name.line in each.added
            and not name.node.decorator_list
            and not _mentioned(change, each.path, own)
        ):
            yield at_line(each.path, name.line, each.added[name.line], f"Nothing mentions {name.name}.")


def _unreachable(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                for first, second in pairwise(body):
                    if isinstance(first, ast.Return | ast.Raise | ast.Break | ast.Continue):
                        yield second.lineno
                        break


def _mentioned(change: Change, path: str, name: str) -> bool:
    """Whether a name stands anywhere besides its definition."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    if len(word.findall(change.head.text(path) or "")) > 1:
        return True
    others = [other for other in change.head.files if other.endswith(".py") and other != path]
    return any(
        name in text and word.search(text) for other in others[:_MOST_FILES] if (text := change.head.text(other))
    )
