"""Every problem of every task of a suite, and advice; nothing is raised but for a suite that cannot be found."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from repoassay.errors import BadTask, Problem
from repoassay.suites.locate import locate
from repoassay.tasks import lint

__all__ = ["lint_suite"]


def lint_suite(name_or_path: str | Path, *, metrics: Collection[str] | None = None) -> dict[str, list[Problem]]:
    """Return problems and `Advice` by task folder name, files named relative to the suite; sound tasks have neither.

    Args:
        name_or_path: As for `find_suite`.
        metrics: Names of the known metrics; None to accept any name.

    Raises:
        BadInput: When there is no such suite or it holds no tasks.
        BadTask: When `suite.toml` cannot be used.
    """
    located = locate(name_or_path)
    found: dict[str, list[Problem]] = {}
    for folder in located.folders:
        try:
            located.refuse_link(folder)
            problems = lint(folder, repositories=located.repositories, metrics=metrics)
        except BadTask as error:
            problems = list(error.problems)
        found[folder.name] = located.placed(folder, problems)
    return found
