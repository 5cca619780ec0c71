"""What an agent's pull request consists of besides its diff: commits, branch, and what is to be known of them."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from repoassay.types.base import Record

__all__ = ["Commit", "CommitFile", "Commits"]


class CommitFile(Record):
    """One file of a commit: path and git's letter for what became of it (A added, M changed, D deleted, T type)."""

    path: str
    status: str


class Commit(Record):
    """One commit as its author wrote it; every text is hostile, bounded, and escaped where it cannot be printed.

    Attributes:
        id: Full object id.
        parents: Ids of its parents.
        author: `NAME <EMAIL>`.
        time: When it was authored, None where that cannot be read.
        subject: First line of its message.
        body: The rest.
        files: What it changes against its first parent, at most 1000; `more` counts the others.
    """

    id: str
    parents: tuple[str, ...] = ()
    author: str = ""
    time: datetime | None = None
    subject: str = ""
    body: str = ""
    files: tuple[CommitFile, ...] = ()
    more: int = Field(default=0, ge=0)


class Commits(Record):
    """The commits of a pull request, the oldest first, and how they relate to what was submitted.

    Attributes:
        base: Id of the commit the agent was given.
        branch: The branch they are on; empty where there is none.
        tip: Id of the last one; empty where there is none.
        commits: At most 200; `more` counts the others.
        uncommitted: Whether the files at the end were not those of the last commit. The diff is of the files.
        taken: Where the diff comes from: `files` of the working tree, or the `branch` where these were untouched.
        notes: What else is to be known, a sentence each.
    """

    base: str = ""
    branch: str = ""
    tip: str = ""
    commits: tuple[Commit, ...] = ()
    more: int = Field(default=0, ge=0)
    uncommitted: bool = False
    taken: str = "files"
    notes: tuple[str, ...] = ()
