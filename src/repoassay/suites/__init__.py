"""Named sets of tasks: the bundled ones, those of plug-ins, and anybody's own on disk.

Knows how to find a suite and read its tasks. Must not know how tasks are laid out, run or graded.
"""

from __future__ import annotations

from repoassay.suites.bundled import bundled_suites, named_suites
from repoassay.suites.find import SuiteFolder, find_suite
from repoassay.suites.lint import lint_suite
from repoassay.suites.locate import Located, locate
from repoassay.suites.manifest import DataFile, Manifest, State, data_folder
from repoassay.suites.take import take_data

__all__ = [
    "DataFile",
    "Located",
    "Manifest",
    "State",
    "SuiteFolder",
    "bundled_suites",
    "data_folder",
    "find_suite",
    "lint_suite",
    "locate",
    "named_suites",
    "take_data",
]
