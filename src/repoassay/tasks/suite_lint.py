"""Every problem of every task of a suite, and advice; nothing is raised but for a suite that cannot be found."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from repoassay.errors import BadTask, Problem
from repoassay.tasks import Advice, lint
from repoassay.tasks.suite_location import locate
from repoassay.tasks.suite_manifest import DataState, Manifest

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
            elsewhere = located.manifest.elsewhere(folder.name) if located.manifest else None
            problems = lint(folder, repositories=located.repositories, metrics=metrics, elsewhere=elsewhere)
        except BadTask as error:
            problems = list(error.problems)
        found[folder.name] = [*located.placed(folder, problems), *_on_data(located.manifest, folder.name)]
    return found


def _on_data(manifest: Manifest | None, task: str) -> Iterator[Problem]:
    """Data that is not what it must be is a problem; what is not here can be fetched or lived without."""
    if manifest and not manifest.here:
        yield Advice(str(manifest.root), "", "is not here.", "Fetch the suite's data with `repoassay fetch`.")
        return
    for file in manifest.of(task) if manifest else ():
        state = file.state(manifest.root) if manifest else DataState.MISSING
        if state is DataState.CHANGED:
            yield Problem(file.path, "", "is not the file its sha256 names.", "Fetch it anew; delete this one first.")
        elif state is DataState.MISSING:
            remedy = "Fetch it." if file.sha256 else "Nobody had it when the manifest was made."
            yield Advice(file.path, "", "is absent.", remedy)
