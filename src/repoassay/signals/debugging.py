"""Statements that helped somebody look, left in program code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.diffs import FileChange
from repoassay.signals.names import dotted
from repoassay.signals.signal import Signal, SignalAxis, at_line, judged
from repoassay.signals.worktrees import JAVASCRIPT

__all__ = ["debugging"]

_STOPS = frozenset({"breakpoint", "pdb.set_trace", "ipdb.set_trace", "pudb.set_trace", "embed", "IPython.embed",
                    "traceback.print_stack", "ic"})  # fmt: skip
_PRINTS = frozenset({"print", "pprint", "pprint.pprint", "pp", "rich.print"})
_TELLING = re.compile(
    r"(^|[/_.-])(cli|main|__main__|scripts?|bin|tools?|examples?|demo|setup|console|report\w*|benchmarks?)"
)
_SCRIPT = re.compile(r"(?<![\w.])(debugger\s*;|console\.(?:log|debug|dir|trace|table)\s*\()")
_SCRIPT_STOPS = re.compile(r"(?<![\w.])debugger\s*;")
_RULE = "print or console.log where the file had none before and is not a command line's; debugger calls anywhere"


def debugging(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look for prints and debugger calls on added lines of program code."""
    evidence = []
    for each in change.sources():
        suffix = PurePosixPath(each.path).suffix
        found = _python(change, each) if suffix == ".py" else _script(change, each) if suffix in JAVASCRIPT else ()
        evidence += [at_line(each.path, line, each.added[line], f"{name} was added.") for line, name in found]
    return [judged("debug_prints", SignalAxis.QUALITY, "Debug prints and debugger calls", evidence, threshold=_RULE)]


def _python(change: Change, each: FileChange) -> Iterator[tuple[int, str]]:
    tree = change.head.python(each.path)
    if tree is None:
        return
    before = change.base_tree(each)
    printed = before is not None and any(name in _PRINTS for _, name, _ in _calls(before))
    tells = bool(_TELLING.search(each.path)) or printed
    guarded = _guarded(tree)
    for line, name, to_file in _calls(tree):
        if (
            line in each.added
            and line not in guarded
            and (name in _STOPS or (name in _PRINTS and not tells and not to_file))
        ):
            yield line, f"{name}()"


def _calls(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            to_file = any(word.arg == "file" for word in node.keywords)
            yield node.lineno, dotted(node.func), to_file


def _guarded(tree: ast.Module) -> set[int]:
    """Lines below `if __name__ == ...`."""
    lines: set[int] = set()
    for node in tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test)[:500]:
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _script(change: Change, each: FileChange) -> Iterator[tuple[int, str]]:
    before = change.base.text(each.old) if each.old else None
    tells = bool(_TELLING.search(each.path)) or (before is not None and _SCRIPT.search(before) is not None)
    for line, text in sorted(each.added.items()):
        code = text.split("//")[0][:2000]
        found = _SCRIPT_STOPS.search(code) or (None if tells else _SCRIPT.search(code))
        if found and not code.lstrip().startswith("*"):
            yield line, found[0].rstrip("( ;")
