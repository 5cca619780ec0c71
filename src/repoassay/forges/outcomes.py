"""What became of pull requests: merged after how long, reverted by what after how long; and what kinds of files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from repoassay.diffs import read
from repoassay.forges.pull import ForgePull
from repoassay.signals import is_document, is_source
from repoassay.survey import is_test_support

__all__ = ["LandedCommit", "PullOutcome", "outcomes_of_pulls"]

_COMMIT = re.compile(r"\bThis reverts commits?\s+([0-9a-f]{7,64})\b", re.IGNORECASE)
_MORE = re.compile(r"\bThis reverts commits?\s+((?:[0-9a-f]{7,64}[,\s]+(?:and\s+)?)+[0-9a-f]{7,64})\b", re.IGNORECASE)
# GitHub's button writes "Reverts OWNER/NAME#12" into the pull request, GitLab's "This reverts merge request !12".
_BUTTON = re.compile(
    r"^\W{0,3}(?:This )?reverts (?:(?:merge|pull) request )?(?:([\w.-]+(?:/[\w.-]+)+))?[#!](\d{1,9})\b",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE = re.compile(r"^Revert:? \"(.+)\"", re.IGNORECASE | re.MULTILINE)
_SHORTEST = 7
"""Digits of a commit's id that a revert names at least."""
_AS_TITLE = "title: "
_NUMBER = re.compile(r"\s*\([#!](\d{1,9})\)$")


@dataclass(frozen=True, slots=True)
class LandedCommit:
    """A commit of the target branch: what may revert a pull request without being one."""

    sha: str
    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PullOutcome:
    """What became of one pull request.

    `hours_to_merge` is from opening, `hours_to_revert` from merging; None where it did not happen or a time is not
    known. `reverted_by` names the pull request or the commit. `files` counts the changed ones by kind: `test`, `docs`,
    `code` and `other`.
    """

    merged: bool
    hours_to_merge: float | None
    reverted: bool
    hours_to_revert: float | None
    reverted_by: str
    files: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Revert:
    """Something that landed and says that it reverts: its own ids, by which it may be reverted itself."""

    name: str
    at: datetime | None
    commits: frozenset[str]
    numbers: frozenset[int]
    titles: frozenset[str]
    own_title: str
    own_number: int | None
    own_commits: tuple[str, ...]
    repository: str


def outcomes_of_pulls(
    pulls: Sequence[ForgePull], commits: Iterable[LandedCommit] = ()
) -> dict[tuple[str, int], PullOutcome]:
    """Return what became of each pull request, by repository and number.

    A revert counts where it was merged (a pull request) or stands on the target branch (a commit), names the pull
    request by one of its commits, by its number or by its title alone among those merged before, and was not itself
    reverted later.

    Args:
        pulls: All that an export holds; what is reverted by one that it does not hold is not found.
        commits: Of the target branch, where the repository is at hand.
    """
    found = [_of_pull(pull) for pull in pulls if pull.was_merged]
    known = {sha for pull in pulls for sha in pull.shas}
    found += [_of_commit(commit) for commit in commits if commit.sha not in known]
    reverts = [each for each in found if each is not None]
    titles = Counter(_plain(pull.title) for pull in pulls if pull.was_merged)
    every = _RevertIndex(reverts)
    standing = _RevertIndex(
        each for each in reverts
        if not any(
            _is_later(other, each) for other in every.naming(each.own_title, each.own_number, each.own_commits)
            if other is not each
        )
    )  # fmt: skip
    return {(pull.repository, pull.number): _outcome(pull, standing, titles) for pull in pulls}


def _of_pull(pull: ForgePull) -> _Revert | None:
    text = "\n".join([pull.title, pull.body, *(commit.message for commit in pull.commits)])
    return _revert(text, pull.title, pull.name, pull.merged, pull.number, pull.shas, pull.repository)


def _of_commit(commit: LandedCommit) -> _Revert | None:
    title = commit.message.partition("\n")[0]
    return _revert(commit.message, title, commit.sha[:12], commit.at, None, (commit.sha,), "")


def _revert(
    text: str, title: str, name: str, at: datetime | None, number: int | None, commits: tuple[str, ...], repository: str
) -> _Revert | None:
    shas = {found.lower() for found in _COMMIT.findall(text)}
    shas |= {sha.lower() for found in _MORE.findall(text) for sha in re.findall(r"[0-9a-f]{7,64}", found)}
    numbers = {int(found[2]) for found in _BUTTON.finditer(text) if not found[1] or found[1] == repository}
    titles = set[str]()
    if (quoted := _TITLE.match(title)) is not None:
        titles.add(_plain(quoted[1]))
        if (named := _NUMBER.search(quoted[1])) is not None:
            numbers.add(int(named[1]))
    if not (shas or numbers or titles):
        return None
    return _Revert(
        name, at, frozenset(shas), frozenset(numbers), frozenset(titles), _plain(title), number, commits, repository
    )


class _RevertIndex:
    """Reverts by what they name: a large repository has tens of thousands, too many to hold each against each."""

    def __init__(self, reverts: Iterable[_Revert]) -> None:
        self._reverts = tuple(reverts)
        self._places: dict[str | int, list[int]] = {}
        for place, each in enumerate(self._reverts):
            keys: set[str | int] = {*each.numbers, *(part[:_SHORTEST] for part in each.commits)}
            # A commit or number is surer than a title.
            for key in keys or {_AS_TITLE + title for title in each.titles}:
                self._places.setdefault(key, []).append(place)

    def naming(self, title: str, number: int | None, shas: Iterable[str], unique: bool = True) -> Iterator[_Revert]:
        """Yield, in order, those that name this number, one of these commits, or this title where it is unique."""
        places = set(self._places.get(_AS_TITLE + title, ())) if unique else set[int]()
        places |= set(() if number is None else self._places.get(number, ()))
        for full in shas:
            near = self._places.get(full[:_SHORTEST], ())
            places |= {place for place in near if any(map(full.startswith, self._reverts[place].commits))}
        return (self._reverts[place] for place in sorted(places))


def _is_later(other: _Revert, revert: _Revert) -> bool:
    return other.at is None or revert.at is None or other.at >= revert.at


def _outcome(pull: ForgePull, reverts: _RevertIndex, titles: Counter[str]) -> PullOutcome:
    title = _plain(pull.title)
    by = [
        each for each in reverts.naming(title, pull.number, pull.shas, unique=titles[title] == 1)
        if pull.was_merged and each.own_number != pull.number
        and (each.at is None or pull.merged is None or each.at >= pull.merged)
        and each.repository in ("", pull.repository)
    ]  # fmt: skip
    first = min(by, key=lambda each: each.at or datetime.max.replace(tzinfo=UTC), default=None)
    return PullOutcome(
        merged=pull.was_merged, hours_to_merge=_hours(pull.opened, pull.merged), reverted=first is not None,
        hours_to_revert=_hours(pull.merged, first.at if first else None), reverted_by=first.name if first else "",
        files=dict(sorted(Counter(_kind(file.path) for file in read(pull.diff)).items())),
    )  # fmt: skip


def _plain(title: str) -> str:
    return _NUMBER.sub("", title.strip())


def _hours(begin: datetime | None, end: datetime | None) -> float | None:
    return None if begin is None or end is None else round((end - begin).total_seconds() / 3600, 4)


def _kind(path: str) -> str:
    if is_test_support(path):
        return "test"
    return "docs" if is_document(path) else "code" if is_source(path) else "other"
