"""Docstrings: on new public names, and of new parameters where the docstring documents the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from repoassay.signals.bench import ToolRunner
from repoassay.signals.change import Change
from repoassay.signals.diffs import FileChange
from repoassay.signals.names import Name, is_public_module, public
from repoassay.signals.signal import Signal, SignalAxis, SignalEvidence, at_line, judged, unknown_signal
from repoassay.signals.worktrees import Tree, is_source

__all__ = ["docstrings"]

_ID, _TITLE = "docstrings", "New public names and parameters without a docstring"
_SHARE, _MOST_FILES, _FEWEST = 0.5, 300, 3
_RULE = f"any, where at least {_SHARE:.0%} of the base's public names have a docstring (of {_FEWEST} or more)"


def docstrings(change: Change, bench: ToolRunner) -> list[Signal]:
    """Look at Python modules of the change; how many docstrings the project has decides whether one is missed."""
    files = [each for each in change.sources() if each.path.endswith(".py") and is_public_module(each.path)]
    if not files:
        return [unknown_signal(_ID, SignalAxis.DOCUMENTATION, _TITLE, "The change touches no public Python module.")]
    written, names = bench.remember(change.base, "docstrings", lambda: _count_documented(change.base))
    sentence = f"{written} of {names} public names of the base have a docstring."
    if names < _FEWEST or written < _SHARE * names:
        return [
            unknown_signal(_ID, SignalAxis.DOCUMENTATION, _TITLE, f"The project does not keep docstrings: {sentence}")
        ]
    evidence = [found for each in files for found in _missed(change, each)]
    return [judged(_ID, SignalAxis.DOCUMENTATION, _TITLE, evidence, threshold=_RULE, notes=(sentence,))]


def _count_documented(base: Tree) -> tuple[int, int]:
    files = [path for path in base.files if path.endswith(".py") and is_source(path) and is_public_module(path)]
    trees = (base.python(path) for path in files[:_MOST_FILES] if PurePosixPath(path).name != "setup.py")
    every = [name for tree in trees if tree for name in public(tree).values()]
    return sum(name.docstring is not None for name in every), len(every)


def _missed(change: Change, each: FileChange) -> Iterator[SignalEvidence]:
    tree = change.head.python(each.path)
    if tree is None:
        return
    before = change.base_tree(each)
    known = public(before) if before else {}
    for name, now in public(tree).items():
        was = known.get(name)
        if was is None and not now.docstring and not _obvious(now):
            yield at_line(
                each.path, now.line, change.head.line(each.path, now.line), f"{name} is new and has no docstring."
            )
        elif was is not None and was.docstring and not now.docstring:
            yield at_line(each.path, now.line, change.head.line(each.path, now.line), f"{name} lost its docstring.")
        for parameter in _undocumented(was, now):
            sentence = f"{name} documents its parameters, but not {parameter}, which is new."
            yield at_line(each.path, now.line, change.head.line(each.path, now.line), sentence)


def _obvious(name: Name) -> bool:
    """Whether a name takes its meaning from another: property setters, and overrides marked as such."""
    marks = {getattr(mark, "attr", getattr(mark, "id", "")) for mark in name.node.decorator_list}
    return bool(marks & {"setter", "deleter", "override"})


def _undocumented(was: Name | None, now: Name) -> Iterator[str]:
    if not now.docstring:
        return
    known = was.parameters if was else ()
    documented = [each for each in now.parameters if _documents(now.docstring, each)]
    others = any(_documents(was.docstring or "", each) for each in known) if was else bool(documented)
    if others:
        yield from (each for each in now.parameters
                    if each not in known and each not in documented and not each.startswith("_"))  # fmt: skip


def _documents(docstring: str, parameter: str) -> bool:
    name = re.escape(parameter)
    return (
        re.search(rf"(?m)^[ \t]*(?:\*{{0,2}}{name}[ \t]*(?:\([^)\n]*\))?[ \t]*:|:param[^:\n]*\b{name}:)", docstring)
        is not None
    )
