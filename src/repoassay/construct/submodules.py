"""Submodules of a commit: which they are, their files where somebody says where these lie, and tests that need them.

What a repository says of places is never fetched on its own: a stranger would choose what this machine asks for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repoassay.construct.history import History
from repoassay.errors import BadInput, InfraFault
from repoassay.text import printable, quote
from repoassay.types import inner_path
from repoassay.workspace import fetch_commit, run_git

__all__ = ["Submodule", "SubmoduleMissing", "fill_submodules", "needed_submodule", "submodules_of"]

_LINK = "160000"


class SubmoduleMissing(BadInput):
    """A submodule whose repository was given has not the commit that is asked for."""


@dataclass(frozen=True, slots=True)
class Submodule:
    """Another repository inside of one: the folder it lies in, the URL that `.gitmodules` has of it, and its commit."""

    path: str
    url: str
    commit: str

    def place(self, mirrors: Mapping[str, str]) -> str | None:
        """Where its repository was said to lie; URLs are the same with and without `.git`."""
        known = {_bare(url): place for url, place in mirrors.items()}
        return known.get(_bare(self.url))


def submodules_of(history: History, commit: str) -> list[Submodule]:
    """Submodules of a commit; one that `.gitmodules` does not speak of has no URL."""
    links = {path: entry.object for path, entry in history.tree(commit).items() if entry.mode == _LINK}
    if not links:
        return []
    values: dict[str, dict[str, str]] = {}
    try:
        shown = run_git(history.place, "config", "--no-includes", "-z", "--blob", f"{commit}:.gitmodules", "--list")
    except InfraFault:
        shown = b""
    for item in shown.decode(errors="replace").split("\0"):
        key, _, value = item.partition("\n")
        if found := re.fullmatch(r"submodule\.(.*)\.(path|url)", key, re.DOTALL):
            values.setdefault(found[1], {})[found[2]] = value
    urls = {each["path"]: each.get("url", "") for each in values.values() if "path" in each}
    return [Submodule(path, urls.get(path, ""), linked) for path, linked in sorted(links.items())]


def fill_submodules(submodules: Sequence[Submodule], mirrors: Mapping[str, str], tree: Path) -> None:
    """Put the files of submodules into a tree, as far as it is said where their repositories lie.

    Args:
        submodules: Those of the tree's commit.
        mirrors: URL as `.gitmodules` has it -> a folder, a bare repository or a URL.
        tree: The files of the commit.

    Raises:
        SubmoduleMissing: When such a repository has not the commit that is asked for.
    """
    for each in submodules:
        place = each.place(mirrors)
        if place is None:
            continue
        try:
            into = tree / inner_path(each.path)
        except ValueError as error:
            raise SubmoduleMissing(f"A submodule lies at {quote(each.path)}.", "Leave its mirror out.") from error
        into.mkdir(parents=True, exist_ok=True)
        try:
            fetch_commit(place, each.commit, into)
        except InfraFault as error:
            raise SubmoduleMissing(
                f"The submodule {quote(each.path)} cannot be had: {printable(place, 300)} has no commit"
                f" {each.commit[:12]}, or cannot be read.", "Give a whole copy with --mirror.",
            ) from error  # fmt: skip


def needed_submodule(submodules: Sequence[Submodule], texts: Sequence[str]) -> Submodule | None:
    """The first submodule whose folder texts of tests speak of."""
    for each in submodules:
        name = re.escape(PurePosixPath(each.path).name)
        if any(re.search(rf"(?<![\w-]){name}(?![\w-])", text) for text in texts):
            return each
    return None


def _bare(url: str) -> str:
    return url.rstrip("/").removesuffix(".git")
