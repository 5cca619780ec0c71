"""Candidates: git repositories, bundles and source distributions, each with what a metadata file says of it."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.construct import HistoryEntry, Project, find_repository, open_history
from repoassay.curate.evidence import read_toml
from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox import temporary_folder
from repoassay.text import normalize_name, printable, quote
from repoassay.workspace import fetch_commit, unpack

__all__ = ["RepositoryCandidate", "RepositorySource", "find_candidates", "open_candidate", "project_of"]

_ARCHIVES = (".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz")
_VERSION = re.compile(r"-(\d[A-Za-z0-9.+!_]*)$")
_NAME = re.compile(r"(?m)^Name:\s*(\S+)")
_HEAD_VERSION = re.compile(r"(?m)^Version:\s*(\S+)")


@dataclass(frozen=True, slots=True)
class RepositoryCandidate:
    """A repository that may be chosen: its name in the pool, where it lies, and what the metadata file says of it."""

    name: str
    place: str
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RepositorySource:
    """A candidate's tree on this disk and how it is pinned.

    `kind` is git, sdist or folder; `pin` the commit, or the sha256 of the archive; `day` that of the commit or upload,
    None where nobody says. `package` and `version` are a distribution's.
    """

    kind: str
    tree: Path
    pin: str
    day: datetime.date | None
    day_source: str
    commits: int | None = None
    package: str = ""
    version: str = ""
    archive: Path | None = None


def find_candidates(where: Path, metadata: Path | None = None) -> tuple[RepositoryCandidate, ...]:
    """Find the candidates of a folder, or those that a list names, a path or URL a line.

    Args:
        where: The folder or the list.
        metadata: A TOML file with a table a name: `stars`, `uploaded` and what else is known, with its `source`.

    Raises:
        BadInput: When there is none, or the metadata file is none.
    """
    facts = read_toml(metadata, "The metadata file", "Name one with --metadata FILE.") if metadata else {}
    if where.is_dir():
        places = [str(path) for path in sorted(where.iterdir()) if _may_be(path)]
    else:
        try:
            lines = where.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(
                f"The candidates {printable(str(where), 300)} cannot be read.", "Name a folder or a list."
            ) from error
        places = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        places = [_beside(where, place) for place in places]
    found = [_candidate(place, facts) for place in places]
    twice = {one.name for one in found if sum(one.name == other.name for other in found) > 1}
    if twice:
        raise BadInput(f"Two candidates are called {quote(min(twice))}.", "Name one of them in a list of its own.")
    if not found:
        raise BadInput(
            f"{printable(str(where), 300)} holds no candidates.",
            "Put git repositories, bundles or source distributions there.",
        )
    return tuple(found)


def _beside(listing: Path, place: str) -> str:
    near = listing.parent / place
    return str(near) if "://" not in place and near.exists() else place


def _may_be(path: Path) -> bool:
    if path.name.startswith(".") or path.is_symlink():
        return False
    return path.is_dir() or path.name.endswith((*_ARCHIVES, ".bundle"))


def _candidate(place: str, known_facts: Mapping[str, Any]) -> RepositoryCandidate:
    stem = place.rstrip("/").rpartition("/")[2]
    for ending in (*_ARCHIVES, ".bundle", ".git"):
        stem = stem.removesuffix(ending)
    bare = _VERSION.sub("", stem)
    name = re.sub(r"[^a-z0-9_-]+", "-", bare.lower()).strip("-_")[:60] or "repository"
    wanted = normalize_name(name)
    facts = next((facts for key, facts in known_facts.items()
                  if normalize_name(key) == wanted and isinstance(facts, Mapping)), {})  # fmt: skip
    return RepositoryCandidate(name, place, facts)


@contextlib.contextmanager
def open_candidate(candidate: RepositoryCandidate) -> Iterator[RepositorySource]:
    """Lay a candidate's tree out, for as long as it is looked at; nothing of it is run.

    Raises:
        BadInput: When it is none of what a candidate may be, or cannot be read.
    """
    with temporary_folder("candidate") as place:
        tree = Path(place, "tree")
        tree.mkdir()
        path = Path(candidate.place)
        if path.is_file() and path.name.endswith(_ARCHIVES):
            yield _sdist(candidate, path, tree)
        elif path.is_dir() and not ((path / ".git").exists() or (path / "HEAD").is_file()):
            yield _folder(candidate, path)
        else:
            yield _git(candidate, tree)


def _git(candidate: RepositoryCandidate, tree: Path) -> RepositorySource:
    bundle = candidate.place.endswith(".bundle") and Path(candidate.place).is_file()
    url = str(Path(candidate.place).resolve()) if bundle else find_repository(candidate.place)[0]
    with open_history(url, ["HEAD"], tags=True) as history:
        commit = history.commit(str(candidate.given.get("revision") or "HEAD"))
        fetch_commit(str(history.place), commit, tree)
        return RepositorySource(
            "git", tree, commit, history.day(commit), f"git, commit {commit[:12]}", commits=history.count(commit)
        )


def _sdist(candidate: RepositoryCandidate, archive: Path, tree: Path) -> RepositorySource:
    try:
        unpack(archive, tree)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    except (InfraFault, OSError) as error:
        raise BadInput(
            f"The source distribution {quote(archive.name)} cannot be unpacked: {error}", "Get it again."
        ) from error
    package, version = _distribution(tree)
    day, source = _uploaded(candidate)
    return RepositorySource("sdist", tree, digest, day, source, package=package, version=version, archive=archive)


def _folder(candidate: RepositoryCandidate, path: Path) -> RepositorySource:
    package, version = _distribution(path)
    day, source = _uploaded(candidate)
    return RepositorySource("folder", path, "", day, source, package=package, version=version)


def _uploaded(candidate: RepositoryCandidate) -> tuple[datetime.date | None, str]:
    stated = candidate.given.get("uploaded")
    if isinstance(stated, datetime.datetime):
        return stated.date(), "uploaded in the metadata file"
    if isinstance(stated, datetime.date):
        return stated, "uploaded in the metadata file"
    try:
        return datetime.date.fromisoformat(str(stated or "")[:10]), "uploaded in the metadata file"
    except ValueError:
        return None, "no metadata file says when it was uploaded"


def _distribution(tree: Path) -> tuple[str, str]:
    path = tree / "PKG-INFO"
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > 2**20:
            return "", ""
        head = path.read_bytes().decode(errors="replace").partition("\n\n")[0]
    except OSError:
        return "", ""
    name, version = _NAME.search(head), _HEAD_VERSION.search(head)
    return (name[1] if name else ""), (version[1] if version else "")


def project_of(tree: Path) -> Project:
    """The files of a tree on this disk as a project that is read and never run; links are left out."""
    files: dict[str, HistoryEntry] = {}
    for folder, names, found in os.walk(tree):
        names[:] = sorted(name for name in names if name not in (".git", "__pycache__"))
        for name in found:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                inner = path.relative_to(tree).as_posix()
                files[inner] = HistoryEntry("100644", inner, path.stat().st_size)
    return Project(files, lambda entry: (tree / entry.object).read_bytes())
