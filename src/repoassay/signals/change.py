"""The change under judgement: two worktrees, the diff between them, and the reference's diff."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from repoassay.signals.diffs import Diff, FileChange
from repoassay.signals.worktrees import Tree, is_source
from repoassay.survey import is_test_support

__all__ = ["Change"]


@dataclass(frozen=True, slots=True)
class Change:
    """What every signal is computed from. `reference` is None where the task has none."""

    base: Tree
    head: Tree
    diff: Diff
    reference: Diff | None = None

    def sources(self) -> Iterator[FileChange]:
        """Changed program files that are not the tests'."""
        return (each for each in self.diff.files if each.new and is_source(each.new))

    def tests(self) -> Iterator[FileChange]:
        """Changed files of the tests that are still there."""
        return (each for each in self.diff.files if each.new and is_test_support(each.new))

    def base_tree(self, change: FileChange) -> ast.Module | None:
        """The base's syntax tree of a changed Python file; None where it had none."""
        return self.base.python(change.old) if change.old else None

    def does_not_touch(self, wanted: object) -> bool:
        """Whether there is a reference and it changes no file for which `wanted(path)` holds."""
        assert callable(wanted)
        return self.reference is not None and not any(wanted(each.path) for each in self.reference.files)
