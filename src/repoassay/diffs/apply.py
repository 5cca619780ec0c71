"""From a patch and a base folder to file edits; the base is only read, and only where the patch touches it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from repoassay.diffs.binary import MAX_DELTA_BYTES, apply_binary
from repoassay.diffs.locate import LineSearch, splice
from repoassay.diffs.model import ChangeKind, FileMode, FilePatch, Patch, PatchError
from repoassay.diffs.tree import Overlay
from repoassay.types import FileEdit

__all__ = ["EMPTY_FOLDER", "Changes", "apply_patch"]

EMPTY_FOLDER = ".repoassay-empty-folder"
"""A file that stands in a diff for the folder around it, where nothing is in that: git knows of files alone."""

MAX_NOTES = 50


@dataclass(frozen=True, slots=True)
class Changes:
    """What a patch makes of a tree.

    `edits` holds, by relative POSIX path, the new file or None for what is gone, and that first: files, and the folders
    that they leave empty, as in git. `folders` are those folders, also where a file takes their place. `notes` are
    sentences on whatever was not exactly as the patch states.
    """

    edits: Mapping[str, FileEdit | None]
    notes: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()

    def keep_folders(self) -> Changes:
        """The same, but empty folders are there, for files that no git kept.

        Emptied ones stay unless a file takes their place, and new ones are told by a slash at the end of their path.
        """
        replaced = {path for path in self.folders if self.edits[path] is not None}
        kept = {
            path.removesuffix(EMPTY_FOLDER) if path.endswith(f"/{EMPTY_FOLDER}") else path: edit
            for path, edit in self.edits.items()
            if path not in self.folders or any(f"{path}/".startswith(f"{top}/") for top in replaced)
        }
        return replace(self, edits=kept)


def apply_patch(patch: Patch, base: Path, *, fuzz: int = 0) -> Changes:
    """Apply a patch to the files of a folder, without writing anything.

    A patch whose every line ends in CR LF is first taken as it is; when it does not apply so, once more with plain
    line ends wherever a file has such, and a note says so.

    Args:
        patch: The patch.
        base: The folder; only read.
        fuzz: How many lines of context at either end of a hunk may be left out where it would not apply with them.

    Raises:
        PatchError: When any part does not apply exactly, or the tree would stay as it is.
        InfraFault: When the base cannot be read.
    """
    try:
        return _apply(patch, base, fuzz)
    except PatchError as exact:
        if not patch.crlf:
            raise
        try:
            changes = _apply(patch, base, fuzz, plain=True)
        except PatchError as plain:
            # The one that got further says more about what is wrong.
            raise max(plain, exact, key=lambda error: error.line or 0) from None
        note = "Every line of the patch ends in CR LF; it was applied with plain line ends."
        return replace(changes, notes=(note, *changes.notes))


def _apply(patch: Patch, base: Path, fuzz: int, *, plain: bool = False) -> Changes:
    with Overlay(base) as tree:
        notes: list[str] = []
        applier = _Applier(tree, notes, LineSearch(fuzz=fuzz), plain)
        for _, files in groupby(patch.files, key=lambda file: file.series):
            applier.apply(list(files))
        try:
            edits, folders = tree.edits()
        except PatchError as error:
            line = next((file.line for file in patch.files if error.path in (file.path, file.old_path)), None)
            raise PatchError(error.reason, error.path, line=line) from None
    if not edits:
        raise PatchError("the patch leaves every file as it is")
    if len(notes) > MAX_NOTES:
        notes = [*notes[:MAX_NOTES], f"{len(notes) - MAX_NOTES} more hunks were not at their stated lines."]
    return Changes(edits, tuple(notes), folders)


class _Applier:
    """Applies the diffs of one patch, one commit after another; `plain` tries hunks with plain line ends first."""

    def __init__(self, tree: Overlay, notes: list[str], search: LineSearch, plain: bool) -> None:
        self._tree = tree
        self._notes = notes
        self._search = search
        self._plain = plain
        self._delta_bytes = 0

    def apply(self, files: list[FilePatch]) -> None:
        """Apply one commit: renames and copies start from the files as they were before it."""
        sources: dict[str, FileEdit] = {}
        leaving: set[str] = set()
        for file in files:
            if file.kind in {ChangeKind.RENAME, ChangeKind.COPY}:
                with _Placed(file):
                    self._take_source(file, sources, leaving)
        for path in leaving:
            self._tree.write(path, None)
        for file in files:
            with _Placed(file):
                self._apply_file(file, sources)

    def _take_source(self, file: FilePatch, sources: dict[str, FileEdit], leaving: set[str]) -> None:
        source = file.old_path or ""
        if file.kind is ChangeKind.RENAME:
            if source in leaving:
                raise PatchError(f"{source!r} is renamed twice")
            leaving.add(source)
        sources[source] = self._existing(source)

    def _apply_file(self, file: FilePatch, sources: Mapping[str, FileEdit]) -> None:
        if file.kind is ChangeKind.CREATE:
            before = FileEdit(b"")
        elif file.kind in {ChangeKind.RENAME, ChangeKind.COPY}:
            before = sources[file.old_path or ""]
        elif file.may_create and self._tree.is_free(file.path):
            before = FileEdit(b"")
        else:
            before = self._existing(file.path, link=file.of_link)
        creates = file.kind in {ChangeKind.CREATE, ChangeKind.RENAME, ChangeKind.COPY}
        if creates and not self._tree.is_free(file.path):
            raise PatchError(f"the file cannot be made by a {file.kind}, since it exists")
        content = self._content(before.content, file)
        if file.kind is ChangeKind.DELETE:
            if content:
                raise PatchError("the file is to be deleted, but the patch leaves content in it")
            self._tree.write(file.path, None)
            return
        executable = before.executable if file.new_mode is None else file.new_mode is FileMode.EXECUTABLE
        self._tree.write(file.path, FileEdit(content, executable))

    def _existing(self, path: str, *, link: bool = False) -> FileEdit:
        found = self._tree.read(path, link=link)
        if found is None:
            raise PatchError(f"{path!r} does not exist")
        return found

    def _content(self, content: bytes, file: FilePatch) -> bytes:
        if file.binary is not None:
            if file.binary.delta:
                self._delta_bytes += file.binary.size
                if self._delta_bytes > MAX_DELTA_BYTES:
                    raise PatchError(f"the binary deltas have more than {MAX_DELTA_BYTES:,} bytes together")
            return apply_binary(content, file.binary)
        try:
            content, notes = splice(content, file.plain_hunks if self._plain else file.hunks, file.path, self._search)
        except PatchError as error:
            if not self._plain:
                raise
            try:  # a file of its own line ends beside others
                content, notes = splice(content, file.hunks, file.path, self._search)
            except PatchError:
                raise error from None
        self._notes += notes
        return content


class _Placed:
    """Adds to a refusal which file and line of the patch it is about."""

    def __init__(self, file: FilePatch) -> None:
        self._file = file

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, PatchError) and error.line is None:
            raise PatchError(error.reason, self._file.path, error.hunk, self._file.line) from None
