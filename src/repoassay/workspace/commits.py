"""What an agent committed: read inside a sandbox of its own, with git's reading commands and none of its settings.

The agent's `.git` is hostile: of it cross HEAD, refs and objects alone, as regular files, and git meets them where
there is nothing to take: no network, no writable mount, no hook, no configuration but ours.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repoassay.sandbox import Command, ExportSpec, Mount, Sandbox, temporary_folder
from repoassay.text import block
from repoassay.types import Commit, Commits, Ended, FileEdit, Limits
from repoassay.workspace.changes import changes_between
from repoassay.workspace.git import run_git

__all__ = ["LeftCommits", "collect_git", "read_left"]

_SCRIPT = Path(__file__).with_name("read_commits.py")
_LIMITS = Limits(seconds=120, memory=2 * 2**30, disk=2 * 2**30, processes=64, output=32 * 2**20)
_MAX_TREE, _MAX_FILES = 2 * 2**30, 200_000
_MAX_GIT = 512 * 2**20
_NOT_READ = (
    "config", "config.worktree", "hooks", "index", "info", "logs", "modules", "worktrees", "lfs", "rr-cache", "common",
    "commondir", "gitdir", "shallow", "COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "description",
)  # fmt: skip


def collect_git(into: Path) -> ExportSpec:
    """What crosses of the agent's `.git`, to be read by `read_left`, which wants a folder for it of its own."""
    return ExportSpec("/workspace/repo/.git", into, max_bytes=_MAX_GIT, max_files=50_000, skip=_NOT_READ)


@dataclass(frozen=True, slots=True)
class LeftCommits:
    """What an agent left in its repository: the diff that counts, and its commits."""

    diff: bytes
    commits: Commits


def read_left(
    base: Path, tree: Path, git: Path, sandbox: Sandbox, cancel: threading.Event | None = None
) -> LeftCommits:
    """Take the diff and the commits of what an agent left.

    The working tree counts, committed or not. Where it is as it was given, and the branch that is checked out, or else
    the only branch with commits of its own, holds changes, that branch counts.

    Args:
        base: Checkout of the base commit.
        tree: Copy of the agent's working tree without `.git`.
        git: What was copied out of its `.git`.
        sandbox: Where git reads it.
        cancel: Set to end early.

    Raises:
        InfraFault: When our own git or the sandbox fails; never because of what the agent left.
    """
    diff = changes_between(base, tree)
    start = run_git(base, "rev-parse", "HEAD", env={"GIT_DIR": str(base / ".git")}).decode().strip()
    with temporary_folder("tip") as tip:
        report = _read(base, start, git, Path(tip), sandbox, cancel)
        commits = _commits(report, start)
        if not commits.tip:
            return LeftCommits(diff, _with(commits, uncommitted=bool(diff.strip())))
        if not report.get("wrote"):
            return LeftCommits(diff, _with(commits, uncommitted=True))
        committed = changes_between(base, Path(tip))
    if diff.strip() or not committed.strip():
        return LeftCommits(diff, _with(commits, uncommitted=diff != committed))
    note = "The working tree was as it was given; the files of the branch were taken."
    return LeftCommits(committed, _with(commits, taken="branch", notes=(*commits.notes, note)))


def _with(commits: Commits, **changes: object) -> Commits:
    return commits.model_copy(update=changes)


def _read(
    base: Path, start: str, git: Path, tip: Path, sandbox: Sandbox, cancel: threading.Event | None
) -> Mapping[str, Any]:
    job = {"base": start, "git": "/run/left", "given": "/run/base/.git/objects", "out": "/workspace/tip"}
    done = sandbox.run(
        Command(
            argv=(os.path.realpath(sys.executable), "-I", "-S", "-B", "/run/commits.py"),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
            cwd="/",
            stdin=json.dumps(job).encode(),
            mounts=(Mount(base, "/run/base"), Mount(git, "/run/left")),
            scratch=("/workspace/tip",),
            edits={"/run/commits.py": FileEdit(_SCRIPT.read_bytes())},
            limits=_LIMITS,
            collect=(ExportSpec("/workspace/tip", tip, _MAX_TREE, _MAX_FILES),),
        ),
        cancel,
    )
    if done.exit.ended is not Ended.EXITED or done.exit.code != 0:
        return {"failed": f"reading them ended as {done.exit.ended.value}"}
    try:
        document = json.loads(done.stdout)
    except (ValueError, RecursionError):
        return {"failed": "what was read is no JSON"}
    return document if isinstance(document, dict) else {"failed": "what was read is no object"}


def _commits(report: Mapping[str, Any], start: str) -> Commits:
    if "failed" in report:
        return Commits(base=start, notes=(f"The commits cannot be read: {block(str(report['failed']))}.",))
    try:
        return Commits(
            base=start,
            branch=block(str(report["branch"]))[:200],
            tip=report["tip"],
            commits=tuple(_commit(each) for each in report["commits"]),
            more=report["more"],
            notes=tuple(block(str(note)) for note in report["notes"][:20]),
        )
    except (LookupError, TypeError, ValidationError) as error:
        return Commits(base=start, notes=(f"The commits cannot be read: {type(error).__name__}.",))


def _commit(values: Mapping[str, Any]) -> Commit:
    """One commit, as the model takes it; a time that is none is left out."""
    fields = {key: _texts(value) for key, value in values.items()}
    try:
        return Commit.model_validate_json(json.dumps(fields))
    except ValidationError:
        return Commit.model_validate_json(json.dumps({**fields, "time": None}))


def _texts(value: Any) -> Any:
    if isinstance(value, str):
        return block(value)
    if isinstance(value, list):
        return [_texts(item) for item in value]
    return {key: _texts(item) for key, item in value.items()} if isinstance(value, dict) else value
