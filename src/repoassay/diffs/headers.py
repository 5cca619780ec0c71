"""The header of one file in a Git diff: names, kind and mode, all of which must agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from repoassay.diffs.cursor import Lines
from repoassay.diffs.model import ChangeKind, FileMode, PatchError
from repoassay.diffs.names import safe_path, unquote

__all__ = ["GitHeader", "is_header_line", "read_git_header", "shown_name"]

MAX_HEADER_BYTES = 16_384

_KEYS = (
    b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ", b"copy from ", b"copy to ", b"rename from ",
    b"rename to ", b"similarity index ", b"dissimilarity index ", b"index ",
)  # fmt: skip
_INDEX = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: (\d{6}))?")
_PERCENT = re.compile(rb"\d{1,3}%")
_MODES = {b"100644": FileMode.REGULAR, b"100755": FileMode.EXECUTABLE}
_LINK = b"120000"
_NOT_FILES = {_LINK: "a symbolic link", b"160000": "a submodule", b"040000": "a folder"}
_PREFIXES = frozenset(b"abciwo12")  # a/ b/, and those of diff.mnemonicPrefix: index, worktree, commit, object, 1, 2
# The names of an absent file and of an empty one, under both hashes that Git knows.
_NOTHING = (
    b"0" * 64,
    b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)


@dataclass(frozen=True, slots=True)
class GitHeader:
    """A header up to, not including, the `---` line.

    `old_shown` and `new_shown` are the names with their prefixes, as `---` and `+++` must repeat them; `index` is what
    the index line says, empty without one. `of_link` says that what is deleted is a symbolic link: none
    is made or changed.
    """

    old_path: str
    new_path: str
    old_shown: bytes
    new_shown: bytes
    kind: ChangeKind
    mode: FileMode | None
    index: bytes
    line: int
    of_link: bool

    @property
    def promises_content(self) -> bool:
        """Whether the index line names two contents that differ and of which neither is absent or empty."""
        match = _INDEX.fullmatch(self.index)
        if match is None:
            return False
        old, new = match[1], match[2]
        return old != new and not all(any(name.startswith(side) for name in _NOTHING) for side in (old, new))


def is_header_line(text: bytes) -> bool:
    """Tell whether a line belongs into the header of a Git diff."""
    key = next((key for key in _KEYS if text.startswith(key)), b"")
    if key == b"index ":
        return _INDEX.fullmatch(text[len(key) :]) is not None
    if key.endswith(b"mode "):
        return re.fullmatch(rb"\d{6}", text[len(key) :]) is not None
    return bool(key)


def read_git_header(lines: Lines) -> GitHeader:
    """Read from `diff --git` on.

    Raises:
        PatchError: When names, kind or modes contradict one another, or a name or mode is refused.
    """
    start = lines.number
    names = (lines.text() or b"")[len(b"diff --git ") :]
    if len(names) > MAX_HEADER_BYTES:
        raise PatchError("the diff --git line is too long", line=start)
    lines.take()
    fields = _read_fields(lines)
    kind, moved = _kind(fields, start)
    old_shown, new_shown, old, new = _resolve(names, moved, start)
    old_path = safe_path(old, start)
    new_path = safe_path(new, start) if moved else old_path
    if moved and old == new:
        raise PatchError(f"the {kind} ends where it starts", old_path, line=start)
    of_link = fields.get(b"deleted file mode ") == _LINK
    mode = _mode(fields, kind, new_path, start)
    index = fields.get(b"index ", b"")
    return GitHeader(old_path, new_path, old_shown, new_shown, kind, mode, index, start, of_link)


def _read_fields(lines: Lines) -> dict[bytes, bytes]:
    fields: dict[bytes, bytes] = {}
    while is_header_line(text := lines.text() or b""):
        key = next(key for key in _KEYS if text.startswith(key))
        if key in fields:
            raise PatchError(f"the header says {key.decode().strip()!r} twice", line=lines.number)
        fields[key] = text[len(key) :]
        if b"similarity" in key and not _PERCENT.fullmatch(fields[key]):
            raise PatchError("the header has a similarity that is not a percentage", line=lines.number)
        if len(text) > MAX_HEADER_BYTES:
            raise PatchError("a header line is too long", line=lines.number)
        lines.take()
    return fields


def _kind(fields: dict[bytes, bytes], line: int) -> tuple[ChangeKind, tuple[bytes, bytes] | None]:
    found: list[tuple[ChangeKind, tuple[bytes, bytes] | None]] = []
    if b"new file mode " in fields:
        found.append((ChangeKind.CREATE, None))
    if b"deleted file mode " in fields:
        found.append((ChangeKind.DELETE, None))
    for kind, word in ((ChangeKind.RENAME, b"rename"), (ChangeKind.COPY, b"copy")):
        old, new = fields.get(word + b" from "), fields.get(word + b" to ")
        if old is not None and new is not None:
            found.append((kind, (_whole(old, line), _whole(new, line))))
        elif old is not None or new is not None:
            raise PatchError(f"the header has only one half of a {kind}", line=line)
    if len(found) > 1:
        raise PatchError(f"the header says both {found[0][0]} and {found[1][0]}", line=line)
    return found[0] if found else (ChangeKind.MODIFY, None)


def _whole(text: bytes, line: int) -> bytes:
    if not text.startswith(b'"'):
        return text
    name, rest = unquote(text, line)
    if rest:
        raise PatchError("text follows a quoted file name", line=line)
    return name


def _mode(fields: dict[bytes, bytes], kind: ChangeKind, path: str, line: int) -> FileMode | None:
    index = _INDEX.fullmatch(fields.get(b"index ", b""))
    stated = {key: value for key, value in fields.items() if key.endswith(b"mode ")}
    if index and index[3]:
        stated[b"index "] = index[3]
    for key, value in stated.items():
        if value not in _MODES and (key, value) != (b"deleted file mode ", _LINK):
            what = _NOT_FILES.get(value, "not that of a file")
            raise PatchError(f"the mode {value.decode()} is {what}, which is refused", path, line=line)
    if (b"old mode " in stated) != (b"new mode " in stated):
        raise PatchError("the header has only one half of a mode change", path, line=line)
    if kind in {ChangeKind.CREATE, ChangeKind.DELETE} and b"old mode " in stated:
        raise PatchError(f"the header says both {kind} and a mode change", path, line=line)
    new = stated.get(b"new file mode " if kind is ChangeKind.CREATE else b"new mode ")
    return None if new is None else _MODES[new]


def _resolve(names: bytes, moved: tuple[bytes, bytes] | None, line: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Return both names of the `diff --git` line as shown and without their prefixes."""
    for old, new in _splits(names, len(moved[0]) if moved else None, line):
        if (old, new) == moved or (not moved and old == new):
            return old, new, old, new
        if _prefixed(old, new):
            bare = old[2:], new[2:]
            if bare == moved or (not moved and bare[0] == bare[1]):
                return old, new, *bare
    where = "does not name the files of the rename or copy" if moved else "does not name one file twice"
    raise PatchError(f"the diff --git line {where}", line=line)


def _splits(names: bytes, moved: int | None, line: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the ways to read two names from one line; unquoted ones may hold spaces, so lengths decide."""
    if names.startswith(b'"'):
        old, rest = unquote(names, line)
        if rest.startswith(b" "):
            yield old, _whole(rest[1:], line)
        return
    for at in (len(names) // 2,) if moved is None else (moved, moved + 2):
        if names[at : at + 1] == b" ":
            yield names[:at], _whole(names[at + 1 :], line)


def _prefixed(old: bytes, new: bytes) -> bool:
    return old[1:2] == new[1:2] == b"/" and old[0] != new[0] and old[0] in _PREFIXES and new[0] in _PREFIXES


def shown_name(text: bytes, line: int) -> tuple[bytes, bytes]:
    """Split what follows `--- ` or `+++ ` into the name and whatever a tab sets off from it.

    Raises:
        PatchError: When the name is quoted badly, or text follows it without a tab.
    """
    if not text.startswith(b'"'):
        name, _, rest = text.partition(b"\t")
        return name, rest
    name, rest = unquote(text, line)
    if rest and not rest.startswith(b"\t"):
        raise PatchError("text follows a quoted file name", line=line)
    return name, rest[1:]
