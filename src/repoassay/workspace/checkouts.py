"""The repository of a task as one commit without a past: fetched once, kept read-only, checked before it is used."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox import Cache, scratch_beside, settle
from repoassay.tasks import TaskFolder, digest_folder
from repoassay.types import Repository
from repoassay.workspace.git import ATTRIBUTES, run_git
from repoassay.workspace.npm import fetch_npm
from repoassay.workspace.sources import fetch_commit, fetch_folders, fetch_sdist, repository_at, unpack
from repoassay.workspace.state_places import make_folder

__all__ = ["check_no_history", "checkout", "commit_tree"]

_FORMAT = "1"
"""Counted up when the same source would be laid out differently."""


def checkout(folder: TaskFolder, repositories: Path | None, cache: Cache) -> Path:
    """Return the read-only tree of the task's repository, with a `.git` that holds exactly one commit.

    Args:
        folder: The task.
        repositories: Where `bundled:NAME` repositories lie.
        cache: Where trees are kept by content.

    Raises:
        InfraFault: When the source cannot be had, or a history would be reachable.
    """
    repository = folder.task.repository
    kind, _, name = repository.source.partition(":")
    local: Path | None = None
    if kind == "bundled":
        if repositories is None:
            raise InfraFault(f"{folder.task.id} names a bundled repository, but its suite has none.")
        local = repositories / name
    elif kind == "folder":
        local = (folder.path / name).resolve()
    identity = digest_folder(local) if local else _identity(repository)
    state = folder.task.state
    folders = sorted({*state.places, *state.folders}) if state else []
    identity = "\0".join((identity, *folders))
    key = hashlib.sha256(f"{_FORMAT} {kind} {identity}".encode()).hexdigest()[:32]

    def build(part: Path) -> None:
        try:
            _fill(part, repository, local, cache)
        except InfraFault as error:
            if repository.release is None:
                raise
            remedy = f"{error.remedy} Or lay out its release instead: --repositories released.".strip()
            raise InfraFault(error.message, remedy) from error
        for name in folders:
            make_folder(part, name)
        commit_tree(part)
        check_no_history(part)
        settle(part)

    tree = cache.entry("checkouts", key, build)
    if (tree / ".git/objects/info/alternates").exists() or (tree / ".git/logs").exists():
        raise InfraFault(f"The checkout {tree} can reach more than its own commit.", "Delete it; it will be made anew.")
    return tree


def _identity(repository: Repository) -> str:
    subdirectory = f" {repository.subdirectory}" if repository.subdirectory else ""
    return f"{repository.source} {repository.sha256} {repository.revision}{subdirectory}"


def _fill(part: Path, repository: Repository, local: Path | None, cache: Cache) -> None:
    if local is not None:
        ignore = shutil.ignore_patterns(".git", "__pycache__", "*.pyc")
        try:
            shutil.copytree(local, part, symlinks=True, dirs_exist_ok=True, ignore=ignore)
        except OSError as error:  # among them what is neither file, folder nor link
            raise InfraFault(f"The repository {local} cannot be copied: {error}.") from error
    elif repository.source.startswith("git:"):
        assert repository.revision is not None
        url = repository_at(repository.source.removeprefix("git:"), cache)
        if repository.subdirectory is None:
            fetch_commit(url, repository.revision, part)
        else:
            _fill_part(url, repository.revision, repository.subdirectory, part)
    else:
        assert repository.sha256 is not None
        kind, _, place = repository.source.partition(":")
        name, _, version = place.partition("==")
        fetch = fetch_npm if kind == "npm" else fetch_sdist
        unpack(fetch(name, version, repository.sha256, cache), part)


def _fill_part(url: str, revision: str, subdirectory: str, part: Path) -> None:
    with scratch_beside(part) as place:
        fetch_folders(url, revision, (subdirectory,), place)
        inner = place / subdirectory
        if not inner.resolve().is_relative_to(place.resolve()):
            raise InfraFault(f"The folder {subdirectory} of {url} is a link that leads out of the repository.")
        for item in sorted(inner.iterdir()):
            item.rename(part / item.name)


def commit_tree(tree: Path, names: Sequence[str] | None = None) -> None:
    """Give a tree without `.git` one that holds one commit: of everything, or of what lies at `names`."""
    run_git(tree, "init", "--quiet", "--template=")
    info = tree / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(ATTRIBUTES)
    if names is None:
        run_git(tree, "add", "--all", "--force", ".")
    else:
        listed = info / "names"
        listed.write_bytes(b"".join(os.fsencode(name) + b"\0" for name in names))
        run_git(tree, "--literal-pathspecs", "add", "--force", f"--pathspec-from-file={listed}", "--pathspec-file-nul")
        listed.unlink()
    run_git(tree, "commit", "--quiet", "--allow-empty", "--message=Base of the task")


def check_no_history(tree: Path) -> None:
    """Raise `InfraFault` unless the tree's object store holds one commit and nothing leads anywhere else."""
    kinds = run_git(tree, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    refs = run_git(tree, "for-each-ref", "--format=%(refname)").split()
    git = tree / ".git"
    elsewhere = [name for name in ("objects/info/alternates", "logs", "modules", "worktrees") if (git / name).exists()]
    if kinds.count(b"commit") != 1 or b"tag" in kinds or len(refs) != 1 or elsewhere:
        raise InfraFault(
            f"The checkout {tree} can reach more than its own commit:"
            f" {kinds.count(b'commit')} commits, {len(refs)} refs, {elsewhere or 'nothing else'}."
        )
