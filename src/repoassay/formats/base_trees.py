"""The repository of a row as a folder: one that is at hand, or the one-commit checkout of its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput, RepoAssayError
from repoassay.formats.edit_row import EditRow
from repoassay.formats.mirrors import is_git
from repoassay.formats.task_source import repository_of
from repoassay.sandbox import Cache
from repoassay.tasks import TaskFolder
from repoassay.text import quote
from repoassay.types import Grading, HiddenTests, Task, TaskKind
from repoassay.workspace import checkout

__all__ = ["BaseTrees"]


@dataclass(frozen=True, slots=True)
class BaseTrees:
    """Finds the repository of a row at its base commit.

    `mirrors` maps what rows call a repository to a folder: a git repository, of which the base commit is taken, or
    plain files, which are taken as they are. Others are fetched when `fetch` says so, into
    `cache`, or the usual one.
    """

    mirrors: Mapping[str, str]
    fetch: bool = False
    cache: Cache | None = None

    def find(self, row: EditRow) -> Path | None:
        """Return the folder; None when the repository is not at hand.

        Raises:
            RepoAssayError: When it should be and cannot be had.
        """
        mirror = self.mirrors.get(row.repo_url)
        if mirror is not None and not is_git(Path(mirror)) and not mirror.endswith(".bundle"):
            if not Path(mirror).is_dir():
                raise BadInput(f"The mirror {quote(mirror)} is no folder.", "Correct --mirror URL=PATH.")
            return Path(mirror)
        if mirror is None and not self.fetch:
            return None
        source = repository_of(row.repo_url, row.base_commit, self.mirrors)
        tests = HiddenTests(fail_to_pass=("test.py::test",))
        task = Task(
            id="row",
            title="Row",
            kind=TaskKind.EDIT,
            domain="Software",
            repository=source,
            grading=Grading(tests=tests),
        )
        return checkout(TaskFolder(Path(), task, "", ""), None, self.cache or Cache())

    def find_or_say(self, row: EditRow) -> Path | str | None:
        """Return the folder, why it cannot be had, or None when it is not at hand."""
        try:
            return self.find(row)
        except RepoAssayError as error:
            return str(error)
