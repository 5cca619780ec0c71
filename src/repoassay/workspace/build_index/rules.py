"""Which projects and files a loopback index holds back: refused names, and whatever was uploaded after a day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import lru_cache

__all__ = ["IndexRequest", "IndexRules", "Withheld", "day_of"]

_AFFIXES = frozenset(
    (
        "python", "python2", "python3", "py", "py2", "py3", "lib", "node", "js", "conda", "nightly", "dev", "pre", "rc",
        "alpha", "beta", "unstable", "stable", "latest", "master", "main", "head", "git", "src", "source", "release",
        "fork", "forked", "mirror", "unofficial", "slim", "full", "core", "base", "ng", "next", "lts", "patched",
        "fixed", "vendor", "vendored", "bundle", "bundled", "standalone", "headless", "binary",
    )
)  # fmt: skip
"""Parts of a name that say how a project is packaged, not which one it is: `typer-slim`, `python-dateutil`."""
_TOOLS = frozenset(("flit-core", "pip", "poetry-core", "setuptools", "wheel"))
_TOOLS_DAY = date(2023, 6, 30)
"""Since then all of them install a project in place by the standard (PEP 660); they still took the old ways, too."""
_ANEW = {"atomicwrites": date(2022, 7, 8)}
"""Projects whose files were all deleted, and uploaded again on a day that says nothing of how old a version is.

pytest 3.6 to 5.3 needs this one: without it, what is as of 2018 to 2020 had a pytest of years before.
"""
_VERSION = re.compile(r"-v?\d")


class Withheld(StrEnum):
    """Why something is held back: its name, its upload time, or that the index tells none."""

    NAME = "name"
    DATE = "date"
    UNDATED = "undated"


@dataclass(frozen=True, slots=True)
class IndexRules:
    """What an index holds back.

    Attributes:
        newest: The last day, in UTC, whose uploads are passed on; None for files of any age.
        refused: Names of projects none of whose files are passed on, in any spelling and under names that say the
            same with how it is packaged beside it (`typer-slim` for `typer`).
        tools: The last day for tools that build packages, where that is later; with it, what was uploaded anew counts.
        undated: Whether, with `newest`, files are passed on whose upload time the index does not tell.
    """

    newest: date | None = None
    refused: frozenset[str] = frozenset()
    undated: bool = False
    tools: date | None = None

    @classmethod
    def until(cls, day: str) -> IndexRules:
        """What a build of a day, `YYYY-MM-DD`, is given: tools that build packages may be somewhat younger."""
        return cls(newest=date.fromisoformat(day), tools=_TOOLS_DAY)

    @property
    def identity(self) -> str:
        """What an environment that was built by these rules is known by: the day, and which exceptions it had."""
        anew = any(self.newest < day for day in _ANEW.values()) if self.newest else False
        return f"{self.newest or '-'}{'+' if anew else ''}"

    def refuses(self, project: str) -> bool:
        """Whether a project, of Python or npm, is a refused one."""
        return not _shapes(project).isdisjoint(shape for name in self.refused for shape in _shapes(name))

    def file(self, name: str, uploaded: str) -> Withheld | None:
        """Why a file is held back; None when it is passed on. `uploaded` is an ISO 8601 time, or empty."""
        if self.refused and any(self.refuses(project) for project in _projects(name)):
            return Withheld.NAME
        if self.newest is None:
            return None
        day = day_of(uploaded)
        if day is None:
            return None if self.undated else Withheld.UNDATED
        last = self.newest
        if self.tools is not None:
            projects = {each.lower().replace("_", "-") for each in _projects(name)}
            later = [_ANEW[each] for each in projects & _ANEW.keys()] + [self.tools] * bool(projects & _TOOLS)
            last = max(last, *later) if later else last
        return Withheld.DATE if day > last else None


@dataclass(slots=True)
class IndexRequest:
    """One request to a loopback index, as it is journalled.

    `rule` is why it was refused (see `Withheld`; empty when it was not by the rules), `withheld` how many files of a
    listing were left out.
    """

    at: str
    project: str = ""
    file: str = ""
    allowed: bool = False
    rule: str = ""
    why: str = ""
    withheld: int = 0


@lru_cache(maxsize=4096)
def _shapes(project: str) -> frozenset[str]:
    """A name without separators, and without what says how it is packaged; of npm's also without a scope."""
    scope, _, bare = project.strip().lower().rpartition("/")
    if not scope:
        found = (_joined(bare), _joined(bare, _AFFIXES))
    else:
        found = (_joined(f"{scope}-{bare}"), "" if scope == "@types" else _joined(bare))
    return frozenset(found) - {""}


def _joined(name: str, without: frozenset[str] = frozenset()) -> str:
    return "".join(part for part in re.split(r"[^a-z0-9]+", name) if part not in without)


def _projects(file: str) -> Iterator[str]:
    """Which projects a file's name may speak of: what stands before anything that may be a version."""
    return (file[: found.start()] for found in _VERSION.finditer(file))


def day_of(uploaded: str) -> date | None:
    """The day, in UTC, of an ISO 8601 time; None when it is none."""
    try:
        moment = datetime.fromisoformat(uploaded)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).date()
    except (ValueError, OverflowError):
        return None
