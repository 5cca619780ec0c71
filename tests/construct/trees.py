"""Trees of made-up projects, without git."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.construct.history import HistoryEntry
from repoassay.construct.recipe.project import Project

__all__ = ["project"]


def project(files: Mapping[str, str], root: str = "") -> Project:
    """A project of these files."""
    entries = {path: HistoryEntry("100644", path, len(text)) for path, text in files.items()}
    return Project(entries, lambda entry: files[entry.object].encode(), root)
