"""Named sets of tasks: the bundled ones, which lie in this folder, and anybody's own on disk.

Knows how to find a suite and read its tasks. Must not know how tasks are laid out, run or graded.
"""

from __future__ import annotations

from repoassay.suites.bundled import bundled_suites
from repoassay.suites.find import SuiteFolder, find_suite
from repoassay.suites.lint import lint_suite
from repoassay.suites.locate import Located, locate

__all__ = ["Located", "SuiteFolder", "bundled_suites", "find_suite", "lint_suite", "locate"]
