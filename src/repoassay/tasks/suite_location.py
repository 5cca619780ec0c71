"""Where a suite lies and which task folders it has, before any of them is read.

Four things can be named::

    starter                  a bundled suite, or one that a plug-in brings
    FOLDER/suite.toml        a suite: suite.toml, tasks/ID/, repositories/NAME/
    FOLDER/ID/task.toml      a folder of task folders, perhaps with repositories/NAME/ among or beside them
    FOLDER/task.toml         one task folder
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput, BadTask, Problem
from repoassay.tasks.bundled import bundled_suites, named_suite, named_suites
from repoassay.tasks.contents import read_regular, real_folder, unreadable
from repoassay.tasks.suite_manifest import Manifest, read_manifest
from repoassay.tasks.task_toml import check_schema
from repoassay.tasks.toml import MAX_TOML, parse_toml
from repoassay.tasks.validation_errors import dotted, explain
from repoassay.text import printable, quote, suggest
from repoassay.types import StrengthSettings, Suite

__all__ = ["Located", "locate"]

_FILE = "suite.toml"
_KEYS = frozenset({"schema", "suite", "strength"})
_UNVERSIONED = "unversioned"


@dataclass(frozen=True, slots=True)
class Located:
    """A suite whose task folders were found but not read.

    `folders` are sorted by name. `repositories` is where bundled repositories lie, if there are any. `manifest` says
    what data lies apart from the task folders, if there is any.
    """

    path: Path
    suite: Suite
    folders: tuple[Path, ...]
    repositories: Path | None
    manifest: Manifest | None = None

    def placed(self, folder: Path, problems: Sequence[Problem]) -> list[Problem]:
        """Problems of one task folder, their files named relative to the suite."""
        if folder == self.path:
            return list(problems)
        start = printable(folder.relative_to(self.path).as_posix())
        return [replace(problem, file=f"{start}/{problem.file}") for problem in problems]

    def refuse_link(self, folder: Path) -> None:
        """Raise `BadTask` when a task folder is itself a link, which could lead anywhere."""
        if folder.is_symlink():
            problem = Problem(".", "", "is a link.", "Put the task folder itself in its place.")
            raise BadTask(printable(str(folder), 500), [problem])


def locate(name_or_path: str | Path) -> Located:
    """Find a suite by the name of a bundled one or a plug-in's, or by path.

    Raises:
        BadInput: When there is no such suite, or the folder holds no tasks.
        BadTask: When `suite.toml` cannot be used.
    """
    path = named_suite(str(name_or_path)) or _existing(str(name_or_path))
    if _is_there(path / _FILE):
        return _suite(path)
    if _looks_like_task(path):
        return Located(path, _unnamed(path), (path,), _first(path.parent, path.parent.parent))
    folders = [item for item in _subfolders(path) if _looks_like_task(item)]
    if not folders:
        raise BadInput(
            f"The folder {printable(str(path), 500)} holds no tasks.",
            "Name a folder with suite.toml, with task.toml, or with task folders in it.",
        )
    return Located(path, _unnamed(path), tuple(folders), _first(path, path.parent))


def _first(*places: Path) -> Path | None:
    """The nearest folder of bundled repositories."""
    return next((found for place in places if real_folder(found := place / "repositories")), None)


def _existing(name: str) -> Path:
    try:
        path = Path(name).resolve(strict=True)
        if name and path.is_dir():
            return path
        what = f"{quote(name)} is not a folder." if name else "No suite or folder is named."
    except (OSError, ValueError, RuntimeError):
        what = f"There is no suite or folder {quote(name)}."
    bundled, known = bundled_suites(), named_suites()
    others = f" Suites of plug-ins: {', '.join(known[len(bundled) :])}." if len(known) > len(bundled) else ""
    raise BadInput(
        what, f"{suggest(name, known, list_known=False)} Bundled suites: {', '.join(bundled)}.{others}".lstrip()
    )


def _suite(path: Path) -> Located:
    tasks = path / "tasks"
    suite = _read_suite(path)
    folders = _subfolders(tasks) if real_folder(tasks) else []
    if not folders:
        raise BadInput(
            f"The suite {printable(str(path), 500)} holds no tasks.", "Put its task folders into its folder tasks/."
        )
    manifest = read_manifest(path, suite.name, suite.data) if suite.data else None
    return Located(path, suite, tuple(folders), _first(path), manifest)


def _read_suite(path: Path) -> Suite:
    problems: list[Problem] = []
    try:
        data = parse_toml(read_regular(path / _FILE, MAX_TOML), _FILE)
    except OSError as error:
        data = unreadable(_FILE, error)
    if isinstance(data, Problem):
        raise BadTask(printable(str(path), 500), [data], noun="suite")
    problems += check_schema(data, _FILE)
    for key in data.keys() - _KEYS:
        problems.append(Problem(_FILE, dotted((key,)), "is not a known key.", suggest(key, sorted(_KEYS))))
    try:
        suite = Suite.model_validate(data.get("suite", {}))
    except ValidationError as error:
        problems += explain(error, Suite, _FILE, lambda place: dotted(("suite", *place)))
    try:
        strength = StrengthSettings.model_validate(data.get("strength", {}))
    except ValidationError as error:
        problems += explain(error, StrengthSettings, _FILE, lambda place: dotted(("strength", *place)))
    if problems:
        raise BadTask(printable(str(path), 500), problems[:50], noun="suite")
    return suite.model_copy(update={"strength": strength}) if "strength" in data else suite


def _unnamed(path: Path) -> Suite:
    """What to call tasks that belong to no suite: by their folder."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.name)[:64].lstrip("-._") or "tasks"
    return Suite(name=name, version=_UNVERSIONED, title=f"Tasks of {name}")


def _subfolders(path: Path) -> list[Path]:
    """Folders and links in a folder, hidden ones and `repositories` apart; links are refused when they are read."""
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if entry.is_symlink() or entry.is_dir(follow_symlinks=False)]
    except OSError as error:
        raise BadInput(
            f"The folder {printable(str(path), 500)} cannot be read: {error.strerror}.", "Check who may read it."
        ) from error
    hidden = {"repositories", "__pycache__"}
    return [path / name for name in sorted(names) if name not in hidden and not name.startswith(".")]


def _is_there(path: Path) -> bool:
    """Whether something has this name, be it what it should be or not."""
    return os.path.lexists(path)


def _looks_like_task(path: Path) -> bool:
    return _is_there(path / "task.toml") or _is_there(path / "instruction.md")
