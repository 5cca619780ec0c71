"""What an agent changed in its repository, as a unified diff against the base commit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from repoassay.diffs import EMPTY_FOLDER, is_git_name
from repoassay.sandbox import is_kept_name, remove_tree, temporary_folder
from repoassay.workspace.git import run_git

__all__ = ["changes_between", "drop_environments", "links_of"]

_LITTER = """\
__pycache__/
*.pyc
.pytest_cache/
.mypy_cache/
.ruff_cache/
.hypothesis/
*.egg-info/
.venv/
.tox/
.nox/
node_modules/
.aider*
"""
"""Left by tools and never a change anybody would submit, whatever the repository's own ignore file says."""

_LINK = b"120000 "  # how git lists one
_MAX_CHANGED = 128 * 2**20
"""Bytes of new and changed files; a diff of more would be refused anyway and is not taken."""
_MAX_READ = 24 * 2**20
"""Likewise, that make no longer a diff than is read, whatever they are."""
_MAX_NEW = 10_000
"""New files, likewise: git takes minutes to add 100,000."""


def changes_between(base: Path, tree: Path, *, everything: bool = False) -> bytes:
    """Return the diff from the commit in `base` (a checkout) to the files in `tree` (a copy without `.git`).

    The copy is hostile: its attributes, ignore files and repositories inside it are data (the latter's `.git` is
    removed). Files the repository ignores, and what tools leave, virtual environments of any name among it, are left
    out unless `everything` counts; then a new folder with nothing in it is told by a file in it, `EMPTY_FOLDER`. Links
    of the base, and files whose names no copy keeps, count as unchanged where the copy has nothing in their place,
    because they do not cross out of a sandbox. Of too large a change only a sentence is returned, which is no diff.

    Raises:
        InfraFault: When git fails.
    """
    with temporary_folder("diff") as scratch:
        litter = Path(scratch, "litter")
        litter.write_text(_LITTER)
        objects = Path(scratch, "objects")
        objects.mkdir()
        env = {
            "GIT_DIR": str(base / ".git"),
            "GIT_WORK_TREE": str(tree),
            "GIT_INDEX_FILE": str(Path(scratch, "index")),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(base / ".git/objects"),
        }
        run_git(tree, "read-tree", "HEAD", env=env)
        _drop_repositories(tree, base, environments=not everything)
        if everything:
            _mark_empty_folders(tree, base)
        forced = ("--force",) if everything else ()
        excluding = ("-c", f"core.excludesFile={litter}")
        ignored = () if everything else ("--exclude-standard",)
        new = run_git(tree, *excluding, "ls-files", "-z", "--others", *ignored, env=env).count(b"\0")
        if new > _MAX_NEW:
            return f"There are {new} new files; at most {_MAX_NEW} are taken.\n".encode()
        run_git(tree, *excluding, "add", "--all", *forced, ".", env=env)
        _keep_uncrossed(tree, env)
        size = _changed_bytes(tree, env)
        if size > _MAX_CHANGED:
            return f"The changes come to {size} bytes; at most {_MAX_CHANGED} are taken.\n".encode()
        return run_git(
            tree, "diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff",
            "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "HEAD", env=env,
        )  # fmt: skip


def _drop_repositories(tree: Path, base: Path, *, environments: bool) -> None:
    # In any spelling, as git takes none of them up, and no patch may name them.
    for folder, folders, files in os.walk(tree):
        if environments and _is_environment(folders, files) and not (base / Path(folder).relative_to(tree)).exists():
            remove_tree(Path(folder))
            folders.clear()
            continue
        for name in [name for name in folders if is_git_name(name)]:
            folders.remove(name)
            remove_tree(Path(folder, name))
        for name in [name for name in files if is_git_name(name)]:
            Path(folder, name).unlink()


def _is_environment(folders: Sequence[str], files: Sequence[str]) -> bool:
    return "pyvenv.cfg" in files and {"bin", "lib"}.issubset(folders)  # and no example of such a file


def drop_environments(base: Path, tree: Path) -> tuple[str, ...]:
    """Remove what was installed below `tree`, if with it more is new than a diff may hold where everything counts.

    Returns the removed folders, relative to `tree`: virtual environments and `node_modules` that `base` has not.
    """
    count = size = 0
    found = dict[Path, None]()
    for folder, folders, files in os.walk(tree):
        place = Path(folder).relative_to(tree)
        if (place.name == "node_modules" or _is_environment(folders, files)) and not (base / place).exists():
            found |= {place: None} if found.keys().isdisjoint(place.parents) else {}
        for name in files:
            if not os.path.lexists(base / place / name):
                count, size = count + 1, size + Path(folder, name).lstat().st_size
    if count <= _MAX_NEW and size <= _MAX_READ:
        return ()
    for place in found:
        remove_tree(tree / place)
    return tuple(map(str, found))


def _mark_empty_folders(tree: Path, base: Path) -> None:
    for folder, folders, files in os.walk(tree):
        if not folders and not files and not (base / Path(folder).relative_to(tree)).is_dir():
            Path(folder, EMPTY_FOLDER).touch()


def _keep_uncrossed(tree: Path, env: Mapping[str, str]) -> None:
    kept = b""
    for name, entry in _entries(tree, env):
        crosses = is_kept_name(name) and not any(map(is_git_name, name.split("/"))) and not entry.startswith(_LINK)
        if not crosses and not _is_taken(tree / name, tree):
            kept += entry + b"\0"
    run_git(tree, "update-index", "--add", "-z", "--index-info", env=env, stdin=kept)


def links_of(base: Path) -> list[str]:
    """Symbolic links of the commit in `base`, by path."""
    return [name for name, entry in _entries(base, {"GIT_DIR": str(base / ".git")}) if entry.startswith(_LINK)]


def _entries(folder: Path, env: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    for entry in run_git(folder, "ls-tree", "-r", "-z", "--full-tree", "HEAD", env=env).split(b"\0")[:-1]:
        yield os.fsdecode(entry.partition(b"\t")[2]), entry


def _is_taken(place: Path, tree: Path) -> bool:
    """Whether something lies at a place, or a file where one of its folders was."""
    return os.path.lexists(place) or any(not up.is_dir() and os.path.lexists(up) for up in place.parents if up != tree)


def _changed_bytes(tree: Path, env: Mapping[str, str]) -> int:
    names = run_git(tree, "diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=AMT", "HEAD", env=env)
    return sum((tree / os.fsdecode(name)).lstat().st_size for name in names.split(b"\0") if name)
