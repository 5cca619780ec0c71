"""A forge pull: a pull request of a forge (GitLab: a merge request), whatever exported it; all of it hostile text."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["ForgeAccount", "ForgeCommit", "ForgePull", "ForgeRemark", "PullProblem"]


class PullProblem(ValueError):
    """One pull request that cannot be taken: the field, and what is wrong with it as a sentence without its subject."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"`{place}` {what}" if place else f"it {what}")
        self.place = place


@dataclass(frozen=True, slots=True)
class ForgeAccount:
    """Who did something. `app` is whether the forge itself says that it is a program; None where it does not say."""

    login: str = ""
    name: str = ""
    mail: str = ""
    app: bool | None = None


@dataclass(frozen=True, slots=True)
class ForgeCommit:
    """One commit of a pull request."""

    sha: str = ""
    message: str = ""
    author: ForgeAccount = ForgeAccount()


@dataclass(frozen=True, slots=True)
class ForgeRemark:
    """What somebody said below a pull request; `state` is GitHub's of a review, `path` and `line` of a line comment."""

    by: ForgeAccount = ForgeAccount()
    text: str = ""
    state: str = ""
    path: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ForgePull:
    """One pull request.

    `forge` is `github` or `gitlab`, `repository` its path there (empty where the export does not say), `diff` made anew
    from what was read (empty where there was none). `shas` are all commits by which a revert may name it. Times are
    UTC. `issue` is the number of the one issue that it says it closes.
    """

    forge: str
    repository: str
    number: int
    title: str = ""
    body: str = ""
    diff: str = ""
    files: tuple[str, ...] = ()
    author: ForgeAccount = ForgeAccount()
    branch: str = ""
    target: str = ""
    base: str = ""
    start: str = ""
    head: str = ""
    merge: str = ""
    draft: bool = False
    opened: datetime | None = None
    closed: datetime | None = None
    merged: datetime | None = None
    was_merged: bool = False
    updated: datetime | None = None
    issue: int | None = None
    issue_text: str = ""
    commits: tuple[ForgeCommit, ...] = ()
    remarks: tuple[ForgeRemark, ...] = field(default=())

    @property
    def name(self) -> str:
        """As the forge writes it: `OWNER/NAME#12`, on GitLab `GROUP/NAME!12`."""
        return f"{self.repository}{'!' if self.forge == 'gitlab' else '#'}{self.number}"

    @property
    def shas(self) -> tuple[str, ...]:
        """Ids of its commits, of its head and of the commit that merged it."""
        every = (self.merge, self.head, *(commit.sha for commit in self.commits))
        return tuple(dict.fromkeys(sha for sha in every if sha))
