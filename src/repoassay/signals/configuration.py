"""The project's own configuration: which tools it configures, and the base's files laid over the head.

A change may not choose what it is judged by: whatever it does to configuration, tools run with the base's, and what it
did is a signal of its own (`loosened`).
"""

from __future__ import annotations

import configparser
import json
import re
from pathlib import PurePosixPath
from typing import Any

from repoassay.records import load_toml
from repoassay.signals.bench import TreeSide
from repoassay.signals.change import Change
from repoassay.signals.worktrees import Tree
from repoassay.types import FileEdit

__all__ = ["SECTIONS", "configured_checks", "head_side", "is_configuration", "mentioned", "places_checked", "settings"]

SECTIONS = {
    "ruff": ("ruff.toml", ".ruff.toml", "pyproject.toml:ruff"),
    "mypy": ("mypy.ini", ".mypy.ini", "pyproject.toml:mypy", "setup.cfg:mypy"),
    "black": ("pyproject.toml:black",),
    "coverage": (".coveragerc", "pyproject.toml:coverage", "setup.cfg:coverage:run", "tox.ini:coverage:run"),
    "flake8": (".flake8", "setup.cfg:flake8", "tox.ini:flake8"),
    "pylint": (".pylintrc", "pylintrc", "pyproject.toml:pylint"),
    "pyright": ("pyrightconfig.json", "pyproject.toml:pyright", "pyproject.toml:basedpyright"),
    "eslint": (
        "eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".eslintrc", ".eslintrc.js",
        ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml", ".eslintignore",
        "package.json:eslintConfig",
    ),
    "prettier": (
        ".prettierrc", ".prettierrc.json", ".prettierrc.yml", ".prettierrc.yaml", ".prettierrc.js", ".prettierrc.cjs",
        ".prettierrc.mjs", ".prettierrc.toml", "prettier.config.js", "prettier.config.mjs", "prettier.config.cjs",
        ".prettierignore", "package.json:prettier",
    ),
    "tsc": ("tsconfig.json",),
    "pre-commit": (".pre-commit-config.yaml",),
    "editorconfig": (".editorconfig",),
}  # fmt: skip
"""Where each tool's configuration lies: a file, or `FILE:SECTION`. pyproject.toml's sections are those of `tool`."""

_WHOLE = frozenset(place for places in SECTIONS.values() for place in places if ":" not in place)
_SHARED = frozenset(place.partition(":")[0] for places in SECTIONS.values() for place in places if ":" in place)
_TSCONFIG = re.compile(r"tsconfig[\w.-]*\.json")
_SAYING = (
    ".pre-commit-config.yaml", "Makefile", "justfile", "tox.ini", "noxfile.py", "CONTRIBUTING.md", "CONTRIBUTING.rst",
    ".github/CONTRIBUTING.md", "package.json",
)  # fmt: skip


def is_configuration(path: str) -> bool:
    """Whether a file may configure a checker; any folder, as these may be nested."""
    name = PurePosixPath(path).name
    return name in _WHOLE or name in _SHARED or _TSCONFIG.fullmatch(name) is not None


def head_side(change: Change) -> TreeSide:
    """The head with every configuration file as the base has it."""
    edits: dict[str, FileEdit | None] = {}
    for each in change.diff.files:
        for path in {each.old, each.new}:
            if path is None or not is_configuration(path):
                continue
            before = change.base.bytes(path)
            if before is not None:
                edits[path] = FileEdit(before)
            elif change.head.has(path):
                edits[path] = None
    return TreeSide(change.head, edits)


def configured_checks(tree: Tree, tool: str) -> str:
    """The first place at the top of the repository that configures a tool; empty where none does."""
    for place in SECTIONS[tool]:
        file, _, section = place.partition(":")
        if tree.has(file) and (not section or settings(tree, file).get(section) is not None):
            return place
    return ""


def mentioned(tree: Tree, words: str, checks: tuple[str, ...] = ()) -> str:
    """Where the project says to run something, matched by a regular expression; empty where nowhere."""
    workflows = [path for path in tree.files if path.startswith(".github/workflows/")][:20]
    pattern = re.compile(words)
    if any(pattern.search(check) for check in checks):
        return "the task's checks"
    return next((path for path in (*_SAYING, *workflows) if pattern.search(tree.text(path) or "")), "")


def places_checked(tree: Tree, words: str, checks: tuple[str, ...]) -> tuple[str, ...]:
    """Files and folders that the task's checks name in commands matched by a regular expression; empty for all."""
    named = [word.rstrip("/") for check in checks if re.search(words, check) for word in check.split()]
    top = {path.partition("/")[0] for path in tree.files} | set(tree.files)
    return tuple(name for name in named if name in top or any(path.startswith(f"{name}/") for path in tree.files))


def settings(tree: Tree, file: str) -> dict[str, Any]:
    """The sections of a configuration file that several tools share, by name; empty where it cannot be read."""
    text = tree.text(file)
    if text is None:
        return {}
    try:
        if file.endswith(".toml"):
            found: Any = load_toml(text)
            if PurePosixPath(file).name == "pyproject.toml":
                found = found.get("tool", {})
        elif file.endswith(".json"):
            found = json.loads(text)
        else:
            parser = configparser.ConfigParser(interpolation=None, strict=False)
            parser.read_string(text)
            found = {name: dict(parser[name]) for name in parser.sections()}
    except (ValueError, configparser.Error, RecursionError):
        return {}
    return dict(found) if isinstance(found, dict) else {}
