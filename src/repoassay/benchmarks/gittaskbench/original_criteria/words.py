"""A word in a text file as simple scripts read it: UTF-8 without regard to a byte-order mark, stripped."""

from __future__ import annotations

from pathlib import Path

from repoassay.benchmarks.gittaskbench.original_criteria.plain_text import utf8
from repoassay.grading import content

__all__ = ["bare_word"]


def bare_word(path: Path) -> str:
    """The stripped text; a byte-order mark stays part of it.

    Raises:
        UnreadableOutput: When the file is missing, empty or not UTF-8.
    """
    return utf8(content(path)).strip()
