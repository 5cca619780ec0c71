"""Changed files before and after a change, kept when a study is made: for context that expands, and for pictures."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from repoassay.diffs import FileDiff, Overlay, PatchError, apply_patch, read_patch
from repoassay.errors import InfraFault, RepoAssayError
from repoassay.records import RunFolder
from repoassay.review import FileVersions
from repoassay.sandbox import Cache
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.diff import parse_diff
from repoassay.server.review.outputs import opened_as
from repoassay.tasks import find_suite
from repoassay.workspace import checkout, run_git

__all__ = ["base_of", "file_versions"]

_MOST_TEXT = 2**20
_MOST_OPENED = 16 * 2**20
_MOST_TOGETHER = 128 * 2**20
"""Bytes of one change's files that are kept."""
_MARKS = ("linguist-generated", "linguist-vendored")


def base_of(run: RunFolder, task: str) -> Path | None:
    """Return the checkout of a task's repository before any change; None where this machine cannot have it."""
    try:
        suite = find_suite(run.plan.suite_folder, only=[glob.escape(task)])
        suite = suite.released() if run.plan.released else suite
        return checkout(suite.tasks[0], suite.repositories, Cache())
    except RepoAssayError:
        return None  # the page says that context does not expand


def file_versions(base: Path, diff: str, blobs: Blobs, *more: str) -> tuple[FileVersions, ...]:
    """Keep what changed files were, and what pictures, pages and notebooks among them became.

    Args:
        base: The repository before the change; only read, and no link in it is followed.
        diff: The change, which nobody trusts.
        blobs: Where files are kept.
        more: Further diffs that may be shown beside it; what their files became is not kept.
    """
    files = {file.path: file for text in (*more, diff) for file in parse_diff(text)}
    marked = _marked(base, list(files))
    became = dict(_opened_after(base, diff))
    found, left = [], _MOST_TOGETHER
    with Overlay(base) as tree:
        for path, file in files.items():
            before, after = _before(tree, file), became.get(path)
            left -= len(before or b"") + len(after or b"")
            if len(path) > 1024 or left < 0:
                continue
            found.append(
                FileVersions(
                    path=path,
                    before=None if before is None else blobs.put(before),
                    after=None if after is None else blobs.put(after),
                    generated=path in marked,
                )
            )
    return tuple(found)


def _before(tree: Overlay, file: FileDiff) -> bytes | None:
    """A file as it was, if it can be shown: text, or of a kind that a sandbox opens."""
    if file.old is None:
        return None
    # A path of the diff may try to leave the tree; what cannot be the name of a file in it is not looked for.
    if not all(part not in ("", ".", "..", ".git") and "\0" not in part for part in file.old.split("/")):
        return None
    with contextlib.suppress(PatchError, UnicodeEncodeError):
        kept = tree.read(file.old)
        if kept is not None and _fits(file.old, kept.content):
            return kept.content
    return None


def _fits(path: str, content: bytes) -> bool:
    if opened_as(path):
        return len(content) <= _MOST_OPENED
    return len(content) <= _MOST_TEXT and b"\0" not in content


def _opened_after(base: Path, diff: str) -> Iterator[tuple[str, bytes]]:
    """Give what files that a sandbox opens became, each by itself: one that does not apply spoils no other."""
    if not any(opened_as(file.path) for file in parse_diff(diff)):
        return
    try:
        patch = read_patch(diff.encode("utf-8", "surrogateescape"))
    except PatchError:
        return
    for path in dict.fromkeys(file.path for file in patch.files if opened_as(file.path)):
        with contextlib.suppress(PatchError):
            files = tuple(file for file in patch.files if file.path == path)  # two where a file replaces a link
            edit = apply_patch(replace(patch, files=files), base).edits.get(path)
            if edit is not None and len(edit.content) <= _MOST_OPENED:
                yield path, edit.content


def _marked(base: Path, paths: Sequence[str]) -> frozenset[str]:
    """Return those that the repository's own `.gitattributes` call generated or vendored.

    Those of the base are asked: a change must not hide its own files.
    """
    plain = [path for path in paths if "\0" not in path and not path.startswith("/") and ".." not in path.split("/")]
    if not plain:
        return frozenset()
    request = "".join(f"{path}\0" for path in plain).encode("utf-8", "surrogateescape")
    try:
        output = run_git(base, "check-attr", "-z", "--stdin", *_MARKS, stdin=request).decode("utf-8", "surrogateescape")
    except InfraFault:
        return frozenset()  # git takes one of the names for no path in the tree: nothing is folded away
    words = output.split("\0")
    told_of = zip(words[0::3], words[2::3], strict=False)
    return frozenset(path for path, value in told_of if value not in ("unspecified", "unset", "false"))
