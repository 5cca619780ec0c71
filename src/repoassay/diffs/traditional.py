"""The header of one file in a plain `diff -u`: two names with times, and what follows from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from repoassay.diffs.cursor import Lines
from repoassay.diffs.headers import shown_name
from repoassay.diffs.hunks import read_hunks
from repoassay.diffs.model import ChangeKind, FilePatch, Hunk, PatchError
from repoassay.diffs.names import safe_path

__all__ = ["read_plain_file"]

_TIME = re.compile(rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d+))?(?: ([+-]\d{4}))?")


@dataclass(frozen=True, slots=True)
class _Side:
    name: bytes
    absent: bool  # /dev/null, or the time with which diff -N marks a file that is not there


def read_plain_file(lines: Lines, already: int, series: int) -> FilePatch:
    """Read from `---` on, hunks included.

    Args:
        lines: The patch, at the `---` line, which `+++` follows.
        already: How many hunks the patch had before.
        series: The number of the commit.

    Raises:
        PatchError: When the names do not mean one file, or a hunk is refused.
    """
    start = lines.number
    old, new = _side(lines), _side(lines)
    path = safe_path(_path(old, new, start), start)
    hunks = read_hunks(lines, path, already)
    if not any(hunk.old != hunk.new for hunk in hunks):
        raise PatchError("the diff changes nothing", path, line=start)
    none_before, none_after = _only(hunks, "old"), _only(hunks, "new")
    for side, none in ((old, none_before), (new, none_after)):
        if side.name == b"/dev/null" and not none:
            raise PatchError("the diff has lines of a file that it says is not there", path, line=start)
    create, delete = old.absent and none_before, new.absent and none_after
    return FilePatch(
        old_path=None if create else path,
        new_path=None if delete else path,
        kind=ChangeKind.CREATE if create else ChangeKind.DELETE if delete else ChangeKind.MODIFY,
        new_mode=None,
        hunks=hunks,
        binary=None,
        line=start,
        series=series,
        may_create=none_before and not create,
    )


def _only(hunks: tuple[Hunk, ...], side: str) -> bool:
    """Tell whether the one hunk there is has nothing on that side, and so may be a whole file."""
    return len(hunks) == 1 and not getattr(hunks[0], f"{side}_start") and not getattr(hunks[0], side)


def _side(lines: Lines) -> _Side:
    name, time = shown_name((lines.text() or b"")[4:], lines.number)
    lines.take()
    return _Side(name, name == b"/dev/null" or _is_epoch(time))


def _is_epoch(time: bytes) -> bool:
    match = _TIME.fullmatch(time.strip())
    if match is None or (match[2] or b"").strip(b"0"):
        return False
    try:
        return datetime.fromisoformat(f"{match[1].decode()}{(match[3] or b'+0000').decode()}").timestamp() == 0
    except ValueError:
        return False


def _path(old: _Side, new: _Side, line: int) -> bytes:
    if old.name == b"/dev/null" or new.name == b"/dev/null":
        name, prefix = (old.name, b"a/") if new.name == b"/dev/null" else (new.name, b"b/")
        if name == b"/dev/null":
            raise PatchError("both sides of the diff are /dev/null", line=line)
        return name.removeprefix(prefix)
    if old.name in {new.name, new.name + b".orig"}:
        return new.name
    # diff -ruN old new: the first component differs, the rest is the path.
    old_rest, new_rest = old.name.partition(b"/")[2], new.name.partition(b"/")[2]
    if old_rest and old_rest == new_rest:
        # Left whole, so that an absolute name or one that climbs out is refused rather than shortened.
        return new_rest if old.name.partition(b"/")[0] not in {b"", b"..", b"."} else old.name
    raise PatchError("the names after '---' and '+++' do not mean one file", line=line)
