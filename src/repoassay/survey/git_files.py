"""What git makes of the files of a working tree: tracked ones, links it keeps, and paths it ignores. Runs no git."""

from __future__ import annotations

import fnmatch
import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.tasks import read_regular

__all__ = ["GitFiles", "is_stored_link"]

_LARGEST_INDEX = 64 * 2**20
_LARGEST_RULES = 2**20
_MOST_RULES = 2000
_LINK = 0o120000
_LONGEST_LINK = 1024


@dataclass(frozen=True, slots=True)
class _Rule:
    """A line of a `.gitignore` below `folder` ("" or with a slash at its end); `parts` are patterns of names."""

    folder: str
    parts: tuple[re.Pattern[str] | None, ...]
    folders_only: bool
    again: bool

    def matches(self, path: str, is_folder: bool) -> bool:
        if (self.folders_only and not is_folder) or not path.startswith(self.folder):
            return False
        names = path[len(self.folder) :].split("/")
        # Places of the path that the patterns so far can have reached; None stands for any number of folders.
        reached = {0}
        for part in self.parts:
            if part is None:
                reached = set(range(min(reached), len(names) + 1)) if reached else set()
            else:
                reached = {place + 1 for place in reached if place < len(names) and part.match(names[place])}
        return len(names) in reached


@dataclass(slots=True)
class GitFiles:
    """Of a folder with a `.git` folder in it: tracked paths with their modes, and what its `.gitignore` files say.

    A folder without one is no working tree: nothing in it is tracked or ignored.
    """

    root: Path
    modes: dict[str, int] = field(default_factory=dict)
    _rules: list[_Rule] = field(default_factory=list)
    _active: bool = False

    @classmethod
    def of(cls, root: Path) -> GitFiles:
        """Read the index; one that cannot be read has no tracked paths."""
        kept = _index_folder(root / ".git")
        active = kept is not None
        try:
            modes = _index(read_regular(kept / "index", _LARGEST_INDEX)) if kept is not None else {}
        except (OSError, ValueError, struct.error):
            modes = {}
        return cls(root, modes, [], active)

    def enter(self, folder: str) -> None:
        """Read the `.gitignore` of a folder ("" for the root, else with a slash at its end)."""
        if not self._active or len(self._rules) >= _MOST_RULES:
            return
        try:
            text = read_regular(self.root / folder / ".gitignore", _LARGEST_RULES).decode("utf-8", "replace")
        except OSError:
            return
        self._rules += filter(None, (_rule(line, folder) for line in text.split("\n")[:_MOST_RULES]))

    def leaves_out(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether a path is ignored and not tracked, or is a file that git keeps as a link."""
        if path in self.modes:
            return self.modes[path] == _LINK
        if not self._active or (is_folder and any(tracked.startswith(f"{path}/") for tracked in self.modes)):
            return False
        # Inside an ignored folder everything is ignored: it is entered for its tracked files alone.
        parents = [path[:at] for at, letter in enumerate(path) if letter == "/"]
        return any(self._ignored(parent, True) for parent in parents) or self._ignored(path, is_folder)

    def _ignored(self, path: str, is_folder: bool) -> bool:
        for rule in reversed(self._rules):
            if rule.matches(path, is_folder):
                return not rule.again
        return False


def _index_folder(place: Path) -> Path | None:
    """Where git keeps a working tree's index: its `.git` folder, or the folder that a `.git` file names."""
    try:
        if place.is_dir():
            return place
        line = read_regular(place, _LONGEST_LINK).decode()
    except (OSError, UnicodeDecodeError):
        return None
    return place.parent / line[8:].strip() if line.startswith("gitdir: ") and "\0" not in line else None


def _rule(line: str, folder: str) -> _Rule | None:
    line = re.sub(r"(?<!\\)[ \t\r]+$", "", line)
    again = line.startswith("!")
    text = re.sub(r"\\(.)", r"[\1]", line[again:])
    bare = text.rstrip("/")
    if not bare or line.startswith("#"):
        return None
    names = bare.lstrip("/").split("/")
    anchored = "/" in bare
    parts = [None if name == "**" else re.compile(fnmatch.translate(name.replace("[^", "[!"))) for name in names]
    return _Rule(folder, tuple(parts if anchored else [None, *parts]), text.endswith("/"), again)


def _index(data: bytes) -> dict[str, int]:
    """Path -> mode of an index of version 2 to 4.

    Raises:
        ValueError, struct.error: It is none, or ends early.
    """
    mark, version, count = struct.unpack_from(">4sLL", data)
    if mark != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index")
    found: dict[str, int] = {}
    at, name = 12, b""
    for _ in range(count):
        start = at
        (mode,) = struct.unpack_from(">L", data, at + 24)
        (flags,) = struct.unpack_from(">H", data, at + 60)
        at += 64 if version > 2 and flags & 0x4000 else 62
        kept = 0
        if version == 4:
            dropped, at = _number(data, at)
            kept = len(name) - dropped
        end = data.index(b"\0", at)
        name = name[: max(0, kept)] + data[at:end]
        at = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        found[name.decode("utf-8", "surrogateescape")] = mode & 0o170000
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 127)
        if value > 2**20:
            raise ValueError("no index")
    return value, at + 1


def is_stored_link(root: Path, path: str, size: int) -> bool:
    """Whether a file is a symbolic link that was stored as text: one line without end, which leads to another file."""
    if not 0 < size <= _LONGEST_LINK:
        return False
    try:
        text = read_regular(root / path, _LONGEST_LINK).decode()
    except (OSError, UnicodeDecodeError):
        return False
    if not re.fullmatch(r"[^\x00-\x1f/][^\x00-\x1f]*\.py", text):
        return False
    place = (root / path).parent / text
    return place.resolve().is_relative_to(root.resolve()) and place.is_file()
