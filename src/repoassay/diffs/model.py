"""What a patch is made of, and the one error with which it is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = [
    "MAX_FILES",
    "MAX_FILE_BYTES",
    "MAX_HUNKS",
    "MAX_TOTAL_BYTES",
    "Binary",
    "ChangeKind",
    "FileMode",
    "FilePatch",
    "Hunk",
    "Patch",
    "PatchError",
]

MAX_FILES = 10_000
MAX_FOLDERS = 20_000
"""Folders that files of a patch may lie in: each new one takes as much of a sandbox as a file."""
MAX_HUNKS = 100_000
MAX_FILE_BYTES = 64 * 2**20
MAX_TOTAL_BYTES = 256 * 2**20


class PatchError(Exception):
    """The patch is refused; as text, one sentence that says where and why.

    Args:
        reason: Why, without the place.
        path: The file concerned, as the patch names it.
        hunk: The hunk of that file, counted from 1.
        line: The line of the patch, counted from 1.
        empty: Whether the patch holds nothing but white space.
    """

    def __init__(
        self,
        reason: str,
        path: str | None = None,
        hunk: int | None = None,
        line: int | None = None,
        *,
        empty: bool = False,
    ) -> None:
        super().__init__(reason, path, hunk, line)
        self.reason = reason
        self.path = path
        self.hunk = hunk
        self.line = line
        self.empty = empty

    def __str__(self) -> str:
        place = [] if self.path is None else [repr(self.path)]
        if self.hunk is not None:
            place.append(f"hunk {self.hunk}")
        if self.line is not None:
            place.append(f"line {self.line} of the patch")
        return f"{', '.join(place)}: {self.reason}." if place else f"{self.reason[:1].upper()}{self.reason[1:]}."


class ChangeKind(StrEnum):
    """What happens to a file; `MODE` changes nothing but its executable bit."""

    MODIFY = "modify"
    CREATE = "create"
    DELETE = "delete"
    RENAME = "rename"
    COPY = "copy"
    MODE = "mode"


class FileMode(StrEnum):
    """What a file is afterwards: 100755 or 100644."""

    EXECUTABLE = "executable"
    REGULAR = "regular"


@dataclass(frozen=True, slots=True)
class Hunk:
    r"""One hunk: the lines it replaces and the lines it puts there, each side joined.

    A side whose last line carries `\ No newline at end of file` does not end in a newline. `leading` and `trailing`
    count the context lines at either end; `line` is where the hunk starts in the patch.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    old: bytes
    new: bytes
    leading: int
    trailing: int
    line: int

    @property
    def old_index(self) -> int:
        """The stated place as the number of base lines before it; a hunk without old lines goes after its line."""
        return self.old_start - 1 if self.old_count else self.old_start

    @property
    def new_index(self) -> int:
        """The stated place in the new file, likewise."""
        return self.new_start - 1 if self.new_count else self.new_start

    def without_context(self, first: int, last: int) -> Hunk:
        """The hunk without so many of its leading and trailing lines, which must be context."""
        lost = first + last

        def cut(side: bytes) -> bytes:
            lines = side.split(b"\n")
            ended = not lines[-1]  # split leaves an empty piece behind a final newline
            pieces = [line + b"\n" for line in lines[:-1]] + ([] if ended else [lines[-1]])
            return b"".join(pieces[first : len(pieces) - last])

        return Hunk(
            self.old_start + first, self.old_count - lost, self.new_start + first, self.new_count - lost,
            cut(self.old), cut(self.new), self.leading - first, self.trailing - last, self.line,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Binary:
    """The forward half of a Git binary patch.

    `packed` is the zlib stream, `size` what it must inflate to (bytes). A delta inflates to Git's delta code, anything
    else to the new content. The hashes are the full Git blob names before and after, in hexadecimal.
    """

    delta: bool
    size: int
    packed: bytes
    old_hash: str
    new_hash: str


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file.

    `old_path` is None for a created and `new_path` for a deleted file. `series` tells the commits of a mailbox apart:
    within one, renames and copies start from the files as they were before it. `may_create` is for plain diffs, which
    do not say whether a file without old lines was empty or absent. `of_link` is for a symbolic link that is deleted,
    whose content is where it leads to.
    """

    old_path: str | None
    new_path: str | None
    kind: ChangeKind
    new_mode: FileMode | None
    hunks: tuple[Hunk, ...]
    binary: Binary | None
    line: int
    series: int = 0
    may_create: bool = False
    of_link: bool = False

    @property
    def path(self) -> str:
        """The name under which the file is talked about."""
        return self.new_path or self.old_path or ""

    @property
    def plain_hunks(self) -> tuple[Hunk, ...]:
        """The hunks as if the patch's text had plain line ends."""
        return tuple(
            replace(hunk, old=hunk.old.replace(b"\r\n", b"\n"), new=hunk.new.replace(b"\r\n", b"\n"))
            for hunk in self.hunks
        )


@dataclass(frozen=True, slots=True)
class Patch:
    """A whole patch in its order; `crlf` when every line of its text ends in CR LF."""

    files: tuple[FilePatch, ...]
    crlf: bool = False
