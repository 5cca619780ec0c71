"""A project's files at one commit, read and never run."""

from __future__ import annotations

import ast
import configparser
import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from repoassay.construct.history import HistoryEntry
from repoassay.records import load_toml

__all__ = ["Project", "at", "read_ini", "string_list"]

_MOST_BYTES = 2**20
"""Configuration is short; what is longer is a lock file or an attack, and is passed over."""
_MOST_LOCK = 16 * 2**20
_MOST_PROJECTS = 60
_DESCRIBE = ("pyproject.toml", "setup.py", "setup.cfg")
_PLACE = re.compile(r"(?:(?:-e|--editable)[ =]\s*)?((?:\.{1,2}/)*\w[\w./-]*?)/?(?:\[[^\]]*\])?")
_TRIED = re.compile(r"/(tests?|testing|fixtures?|samples?|examples?|templates?|docs?|benchmarks?|vendor|_vendor)/")
"""Folders whose projects nobody installs to run tests."""


@dataclass(frozen=True, slots=True)
class Project:
    """The tree of one commit and, below `root`, the project in it. A file that cannot be read says nothing.

    Args:
        files: Every file of the commit.
        read: Returns what one holds.
        root: Folder with the project's pyproject.toml or setup.py, with a slash; empty for the repository's own root.
    """

    files: Mapping[str, HistoryEntry]
    read: Callable[[HistoryEntry], bytes]
    root: str = ""
    _texts: dict[str, str] = field(default_factory=dict, compare=False)

    def has(self, path: str) -> bool:
        """Whether the project has a file."""
        entry = self.files.get(self.root + path)
        return entry is not None and entry.regular

    def text(self, path: str, most: int = _MOST_BYTES) -> str:
        """What a file holds; empty where there is none."""
        entry = self.files.get(self.root + path)
        if entry is None or not entry.regular or entry.size > most:
            return ""
        if path not in self._texts:
            self._texts[path] = self.read(entry).decode(errors="replace").removeprefix("\ufeff")
        return self._texts[path]

    def matching(self, *patterns: str) -> list[str]:
        """Paths, relative to the project, that match a glob whose `*` does not cross folders."""
        inside = [path.removeprefix(self.root) for path in self.files if path.startswith(self.root)]
        return sorted(
            path for path in inside for pattern in patterns
            if path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)
        )  # fmt: skip

    def toml(self, path: str) -> dict[str, Any]:
        """A TOML file; empty where it is none."""
        text = self.text(path, _MOST_LOCK if path.endswith(".lock") else _MOST_BYTES)
        try:
            return load_toml(text)
        except (ValueError, RecursionError):  # the former also of numbers that are too long
            return {}

    def json(self, path: str) -> dict[str, Any]:
        """A JSON file; empty where it is no object."""
        try:
            found = json.loads(self.text(path))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def ini(self, path: str) -> configparser.RawConfigParser:
        """An INI file; empty where it is none."""
        return read_ini(self.text(path))

    def python(self, path: str) -> ast.Module:
        """The syntax of a Python file; an empty module where it is none."""
        try:
            return ast.parse(self.text(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    def below(self, path: str) -> Project:
        """The project that a changed file belongs to: the nearest folder above it that can be installed."""
        for parent in PurePosixPath(path).parents:
            root = "" if str(parent) == "." else f"{parent}/"
            if any(f"{root}{name}" in self.files for name in _DESCRIBE):
                return Project(self.files, self.read, root)
        return self

    def folder_of(self, line: str) -> str | None:
        """The root of the repository's project that a requirement names as a folder, seen from here or from its top."""
        found = _PLACE.fullmatch(line.strip("'\" "))
        for start in (self.root, "") if found else ():
            root = posixpath.normpath(posixpath.join(start, found[1])) + "/" if found else ""
            if any(f"{root}{name}" in self.files for name in _DESCRIBE):
                return root
        return None

    def others(self) -> list[Project]:
        """Other projects of the same repository, those near to its root first, without what is there to be tested."""
        folders = {path.rpartition("/")[0] for path in self.files if path.rpartition("/")[2] in _DESCRIBE}
        roots = {f"{folder}/" if folder else "" for folder in folders if not _TRIED.search(f"/{folder}/")}
        nearest = sorted(roots - {self.root}, key=lambda root: (root.count("/"), root))
        return [Project(self.files, self.read, root) for root in nearest[:_MOST_PROJECTS]]


def read_ini(text: str) -> configparser.RawConfigParser:
    """Text as INI; empty where it is none."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as its documents say to keep capitals
    try:
        parser.read_string(text)
    except configparser.Error:
        return configparser.RawConfigParser()
    return parser


def at(document: object, *keys: str) -> Any:
    """What stands at a path of keys in a document; None where one of them is missing."""
    for key in keys:
        if not isinstance(document, Mapping):
            return None
        document = document.get(key)
    return document


def string_list(value: object) -> list[str]:
    """The strings of a list, or the lines of a text, joined where one ends in a backslash; empty for anything else."""
    if isinstance(value, str):
        return [line.strip() for line in value.replace("\\\n", " ").splitlines() if line.strip()]
    return [each for each in value if isinstance(each, str)] if isinstance(value, (list, tuple, set)) else []
