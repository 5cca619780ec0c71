"""A pull request as it was submitted, or as a person made it for reference: diff, commits, description, and its trees.

A submission's folder holds `submission.diff` (from the base commit to the files that count), `commits.json` (see
`model.pull_request.Commits`) and `description.md`. The reference lies in a task's `solution/` as `changes.diff` and
`description.md`. How either is told from the other is the reader's business: both are the same record.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repoassay.diffs import Changes, apply_patch, read_patch
from repoassay.tasks import TaskFolder, read_regular
from repoassay.types import Commits, TaskKind

__all__ = [
    "COMMITS",
    "DESCRIPTION_FILE",
    "DIFF",
    "PULL_DIFF",
    "PullRequest",
    "diff_name",
    "head_tree",
    "notes_on",
    "read_pull_request",
    "reference_pull_request",
]

DIFF = "changes.diff"
"""Name of an edit's diff, and of every reference's."""
PULL_DIFF = "submission.diff"
COMMITS = "commits.json"
DESCRIPTION_FILE = "description.md"
_MAX_DIFF = 256 * 2**20
_MAX_COMMITS = 64 * 2**20
_MAX_DESCRIPTION = 2**20


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A diff against the base commit, its commits, and its description; all of it hostile, none of it scrubbed."""

    diff: bytes
    description: str
    commits: Commits

    def changes(self, base: Path) -> Changes:
        """New content by path; an empty mapping where the diff is empty.

        Raises:
            PatchError: When the diff cannot be applied to `base`.
        """
        return apply_patch(read_patch(self.diff), base) if self.diff.strip() else Changes({})


def diff_name(kind: TaskKind) -> str:
    """Name of the diff in a submission's folder."""
    return PULL_DIFF if kind is TaskKind.PULL_REQUEST else DIFF


def read_pull_request(files: Path) -> PullRequest:
    """Read a submission's folder; what is missing or cannot be read is empty, and `commits.notes` says so."""
    notes: list[str] = []
    diff = _read(files / PULL_DIFF, _MAX_DIFF, notes)
    description = _read(files / DESCRIPTION_FILE, _MAX_DESCRIPTION, notes).decode("utf-8", "replace")
    text = _read(files / COMMITS, _MAX_COMMITS, notes)
    try:
        commits = Commits.model_validate_json(text) if text else Commits()
    except ValidationError:
        commits = Commits()
        notes.append(f"{COMMITS} does not say what it should.")
    return PullRequest(diff, description, commits.model_copy(update={"notes": (*commits.notes, *notes)}))


def reference_pull_request(folder: TaskFolder) -> PullRequest:
    """What a person made of a pull-request task.

    Raises:
        OSError: When the task has no reference.
    """
    diff = read_regular(folder.solution / DIFF, _MAX_DIFF)
    description = _read(folder.solution / DESCRIPTION_FILE, _MAX_DESCRIPTION, []).decode("utf-8", "replace")
    return PullRequest(diff, description, Commits())


def head_tree(pull: PullRequest, base: Path, into: Path) -> Path:
    """Write the tree that a pull request leads to into the empty folder `into`, without `.git`, and return it.

    Raises:
        PatchError: When the diff cannot be applied to `base`.
    """
    changes = pull.changes(base)
    shutil.copytree(base, into, symlinks=True, dirs_exist_ok=True, ignore=_no_git)
    for path in (into, *into.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    for name, edit in changes.edits.items():
        place = into / name
        if name in changes.folders:
            place.rmdir()
        elif edit is None:
            place.unlink(missing_ok=True)
        if edit is None:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)  # never through a link that the base may have there
        place.write_bytes(edit.content)
        place.chmod(0o755 if edit.executable else 0o644)
    return into


def notes_on(pull: PullRequest) -> list[str]:
    """What a verdict says of a pull request besides its tests, a sentence each."""
    notes = []
    if not pull.description.strip():
        notes.append("The pull request has no description.")
    if not pull.commits.commits:
        notes.append("Nothing was committed.")
    elif pull.commits.uncommitted:
        notes.append("The files at the end are not those of the last commit; the files were graded.")
    return [*notes, *pull.commits.notes]


def _no_git(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name.lower() == ".git"]


def _read(path: Path, most: int, notes: list[str]) -> bytes:
    try:
        return read_regular(path, most)
    except FileNotFoundError:
        return b""
    except OSError as error:
        notes.append(f"{path.name} cannot be read: {error.strerror or error}.")
        return b""
