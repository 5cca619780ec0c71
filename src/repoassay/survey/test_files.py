"""Which files of a repository are tests, or belong to them, by their names and places alone.

For work on repositories of which no more is known. Where it is known what a repository calls its tests, as `construct`
reads it off its settings, that decides; and what a patch may replace of tests is for `grading` to say.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

__all__ = ["is_test", "is_test_support"]

_TEST_NAME = re.compile(r"test_.*\.py|.*_tests?\.py|tests?\.py|.*[._-](test|spec)\.[cm]?[jt]sx?|.*_test\.(go|rb)")
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs"})


def is_test(path: str) -> bool:
    """Whether a file holds tests, going by its name."""
    return bool(_TEST_NAME.fullmatch(PurePosixPath(path).name))


def is_test_support(path: str) -> bool:
    """Whether a file belongs to the tests: holds them, configures them, or lies in their folder."""
    pure = PurePosixPath(path)
    return is_test(path) or pure.name == "conftest.py" or bool(_TEST_FOLDERS & set(pure.parts[:-1]))
