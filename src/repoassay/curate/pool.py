"""The pool: a folder a repository, with its pinned tree and the evidence of each stage."""

from __future__ import annotations

import datetime
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.curate.evidence import read_toml
from repoassay.errors import BadInput
from repoassay.sandbox import Cache, remove_tree
from repoassay.tasks import digest_folder
from repoassay.text import printable

__all__ = ["COMPLETENESS", "SELECTION", "PooledRepository", "keep_tree", "open_pooled", "was_selected"]

SELECTION, COMPLETENESS = "selection.toml", "completeness.toml"


@dataclass(frozen=True, slots=True)
class PooledRepository:
    """A repository of the pool: its folder, and what selection wrote of it."""

    path: Path
    selection: dict[str, Any]

    @property
    def name(self) -> str:
        """Its name, which is its folder's."""
        return self.path.name

    @property
    def repositories(self) -> Path:
        """Folder of its tree, as `bundled:NAME` wants it."""
        return self.path / "repository"

    @property
    def tree(self) -> Path:
        """Its files as they were pinned."""
        return self.repositories / self.name

    @property
    def source(self) -> dict[str, Any]:
        """How it is pinned."""
        found = self.selection.get("source")
        return found if isinstance(found, dict) else {}

    @property
    def day(self) -> datetime.date | None:
        """Day of its commit or upload."""
        try:
            return datetime.date.fromisoformat(str(self.source.get("day", "")))
        except ValueError:
            return None

    @property
    def licence(self) -> str:
        """Its SPDX identifier, or unknown."""
        facts = self.selection.get("fact", [])
        found = [each.get("value") for each in facts if isinstance(each, dict) and each.get("name") == "licence"]
        return str(found[0]) if found and found[0] else "unknown"

    @property
    def archive(self) -> Path | None:
        """The source distribution, where it came from one."""
        name = self.source.get("archive")
        place = self.path / "sdist" / str(name)
        return place if name and "/" not in str(name) and place.is_file() else None

    def seed(self, cache: Cache) -> None:
        """Put its source distribution where tasks look for it, so that no index need be asked."""
        archive = self.archive
        if archive is not None:

            def build(part: Path) -> None:
                shutil.copyfile(archive, part / archive.name)

            cache.entry("sdists", str(self.source["pin"]), build)


def keep_tree(source: Path, folder: Path) -> str:
    """Copy a tree into the pool, without its history, links as links; returns its digest."""
    remove_tree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    ignore = shutil.ignore_patterns(".git", "__pycache__", "*.pyc")
    shutil.copytree(source, folder, symlinks=True, ignore=ignore)
    return digest_folder(folder)


def open_pooled(path: Path) -> PooledRepository:
    """Read a repository of the pool, and check that its tree is as it was pinned.

    Raises:
        BadInput: When it was never selected from, or its tree was changed.
    """
    place = path.resolve()
    selection = read_toml(place / SELECTION, "The evidence", "Run `repoassay curate select` first.")
    found = PooledRepository(place, selection)
    shown = printable(str(path), 300)
    if not found.tree.is_dir():
        raise BadInput(
            f"{shown} holds no tree of the repository.", "It was not selected, or remove it and select again."
        )
    if digest_folder(found.tree) != found.source.get("tree"):
        raise BadInput(f"The tree of {shown} is not the one that was selected.", "Remove it and select again.")
    return found


def was_selected(path: Path) -> bool:
    """Whether the evidence of a folder of the pool says that it was selected.

    Raises:
        BadInput: When there is no evidence.
    """
    return read_toml(path / SELECTION, "The evidence", "Run `repoassay curate select` first.").get("selected") is True
