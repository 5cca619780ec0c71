"""The diff of a pull request made anew out of what an export holds: our own headers, and hunks that were read strictly.

So a patch that holds more than hunks (another file's header, mail, an escape sequence in a name) is refused by name,
and raters see no header that a stranger wrote.
"""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.diffs import FileDiff, PatchError, read, read_patch, safe_path
from repoassay.forges.json_fields import JsonFields
from repoassay.forges.pull import PullProblem

__all__ = ["MOST_DIFF", "diff_of_entries", "diff_of_text"]

MOST_DIFF = 16 * 2**20
"""Characters of a whole diff."""
_MOST_FILES = 50_000


@dataclass(frozen=True, slots=True)
class _ChangedPath:
    """What becomes of one file; `hunks` is empty for a binary file, a pure rename, or one the forge does not show."""

    old: str | None
    new: str | None
    hunks: str

    def __str__(self) -> str:
        old, new = self.old or self.new, self.new or self.old
        lines = [f"diff --git a/{old} b/{new}"]
        if self.old is None:
            lines.append("new file mode 100644")
        elif self.new is None:
            lines.append("deleted file mode 100644")
        elif self.old != self.new:
            lines += [f"rename from {self.old}", f"rename to {self.new}"]
        if self.hunks:
            lines.append("--- " + ("/dev/null" if self.old is None else f"a/{self.old}"))
            lines.append("+++ " + ("/dev/null" if self.new is None else f"b/{self.new}"))
            lines.append(self.hunks)
        elif self.old == self.new or None in (self.old, self.new):
            lines.append(f"Binary files a/{old} and b/{new} differ")
        return "\n".join(lines) + "\n"


def diff_of_entries(entries: list[JsonFields]) -> tuple[str, tuple[str, ...]]:
    """Return the diff and the paths of a list of changed files, as GitHub's and GitLab's APIs have it.

    Raises:
        PullProblem: Naming the field that is wrong.
    """
    found = []
    for entry in entries:
        path = _path(entry, "filename", "new_path", "path") or _path(entry, "old_path")
        if path is None:
            raise PullProblem(entry.place("filename"), "is missing.")
        before = _path(entry, "previous_filename", "old_path") or path
        status = entry.text("status", "change_type", most=40).lower()
        new = entry.flag("new_file") or status in {"added", "copied", "a"}
        gone = entry.flag("deleted_file") or status in {"removed", "deleted", "d"}
        field = "patch" if "patch" in entry else "diff"
        hunks = entry.text(field, most=MOST_DIFF)
        if hunks.startswith(("diff --git ", "--- ")):  # some exporters put the whole diff of the file here
            inner = read(hunks)
            hunks = _hunks(inner[0]) if len(inner) == 1 else hunks
        _check_hunks(hunks, entry.place(field))
        found.append(_ChangedPath(None if new else before, None if gone else path, hunks.rstrip("\n")))
    return _joined(found, entries[0].place("patch") if entries else "files")


def diff_of_text(text: str, place: str) -> tuple[str, tuple[str, ...]]:
    """Return the diff made anew, and its paths, from a whole unified diff.

    Raises:
        PullProblem: Naming the field, when there is no diff in it, or one of its files or hunks is not as it should be.
    """
    found = []
    for file in read(text, max_files=_MOST_FILES + 1):
        hunks = _hunks(file)
        old, new = (None if side is None else _checked(side, place) for side in (file.old, file.new))
        if old is None and new is None:
            raise PullProblem(place, "has a file without a name.")
        _check_hunks(hunks, place)
        found.append(_ChangedPath(old, new, hunks))
    if not found and text.strip():
        raise PullProblem(place, "holds no unified diff.")
    return _joined(found, place)


def _joined(found: list[_ChangedPath], place: str) -> tuple[str, tuple[str, ...]]:
    if len(found) > _MOST_FILES:
        raise PullProblem(place, f"changes more than {_MOST_FILES:,} files.")
    diff = "".join(str(each) for each in found)
    if len(diff) > MOST_DIFF:
        raise PullProblem(place, f"makes a diff of {len(diff):,} characters; at most {MOST_DIFF:,} are taken.")
    return diff, tuple(each.new or each.old or "" for each in found)


def _hunks(file: FileDiff) -> str:
    lines = []
    for row in file.rows:
        if row.sign == "\\":
            lines.append(f"\\ {row.text}")
        else:
            lines.append(row.text if row.sign == "@" else row.sign + row.text)
    return "\n".join(lines)


def _check_hunks(hunks: str, place: str) -> None:
    if not hunks:
        return
    try:
        read_patch(f"--- a/f\n+++ b/f\n{hunks}\n".encode("utf-8", "replace"))
    except PatchError as error:
        line = "" if error.line is None else f", line {max(1, error.line - 2)}"
        raise PullProblem(place, f"is no list of hunks{line}: {error.reason}.") from None


def _path(entry: JsonFields, *names: str) -> str | None:
    for name in names:
        if name in entry:
            return _checked(entry.text(name, most=2000), entry.place(name))
    return None


def _checked(path: str, place: str) -> str:
    try:
        return safe_path(path.encode("utf-8", "replace"), 0)
    except PatchError as error:
        raise PullProblem(place, f"is no path of a repository: {error.reason}.") from None
